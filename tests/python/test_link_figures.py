# SPDX-License-Identifier: BSD-3-Clause
"""What `urakata hosts check` makes of measurements of long links, on made-up ones."""

from __future__ import annotations

import json
import random
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest
import typer

from urakata.commands.hosts import check
from urakata.hosts import LinkSettings, Sites, measure_sites
from urakata.hosts.measure_sites import LinkFigures

SET = LinkSettings(delay_us=8000, rate=400_000_000, flow_rate=25_000_000)
# As set: 16 ms there and back, 25 Mbit/s one flow, 16 of them the link's 400.
GOOD = LinkFigures(
    first=0, second=1, set_to=SET, back_delay_us=8000, round_trip_us=16_100, one_flow=24.9e6, many_flows=398e6, flows=16
)


def lossy(lost: int, runs: dict[int, int], loss: float = 0.01, datagrams: int = 10_000) -> LinkFigures:
    return replace(GOOD, set_to=replace(SET, loss=loss), datagrams=datagrams, lost=lost, loss_runs=runs)


def test_a_link_as_it_was_set_has_no_faults() -> None:
    assert GOOD.faults() == [] and GOOD.too_slow() == ""
    assert lossy(100, {1: 100}).faults() == []


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"round_trip_us": 17_400.0}, "the round trip is 17.40 ms instead of 16 ms"),
        ({"round_trip_us": 15_900.0}, "the round trip is 15.90 ms instead of 16 ms"),
        ({"one_flow": 24.1e6}, "one flow got 24.1 instead of 25 Mbit/s"),
        ({"many_flows": 420e6}, "many flows got 420.0 instead of 400 Mbit/s"),
        ({"flows": 8}, "many flows got 398.0 instead of 200 Mbit/s"),
        ({"datagrams": 1000, "lost": 1, "loss_runs": {1: 1}}, "1 of 1000 datagrams were lost instead of about 0"),
    ],
)
def test_what_is_not_as_it_was_set_is_a_fault(changes: dict[str, Any], fault: str) -> None:
    assert replace(GOOD, **changes).faults() == [fault]


def test_rates_are_not_judged_where_there_is_loss_or_no_rate() -> None:
    assert replace(lossy(100, {1: 100}), one_flow=5e6, many_flows=60e6).faults() == []
    unlimited = replace(GOOD, set_to=LinkSettings(delay_us=8000), one_flow=1e9, many_flows=2e9)
    assert unlimited.expected_one is None and unlimited.expected_many is None and unlimited.faults() == []


def test_too_many_and_too_few_losses_are_a_fault() -> None:
    assert lossy(139, {1: 139}).faults() == []  # 100 and 4 times its root, 40
    assert lossy(141, {1: 141}).faults() == ["141 of 10000 datagrams were lost instead of about 100"]
    assert lossy(59, {1: 59}).faults() == ["59 of 10000 datagrams were lost instead of about 100"]


@pytest.mark.parametrize(
    ("figures", "fault"),
    [
        # One in a hundred is lost by itself: of 100 losses one comes right after another, give or take.
        (lossy(100, {1: 96, 2: 2}), ""),
        (lossy(100, {1: 90, 5: 2}), "8 of 100 losses came right after another instead of about 1"),
        (lossy(100, {44: 1, 56: 1}), "98 of 100 losses came right after another instead of about 1"),
        # One in two: half of them do, and a link that loses every other one loses none so.
        (lossy(500, {1: 125, 2: 65, 3: 35, 4: 35}, 0.5, 1000), ""),
        (lossy(500, {1: 500}, 0.5, 1000), "0 of 500 losses came right after another instead of about 250"),
        # The receiver dropped 40 in a row for itself.
        (lossy(100, {1: 98, 42: 1}), ""),
    ],
)
def test_losses_in_a_row_are_judged(figures: LinkFigures, fault: str) -> None:
    assert figures.faults() == ([fault] if fault else [])


@pytest.mark.parametrize("loss", [0.0005, 0.001, 0.01, 0.1, 0.5])
def test_losses_by_chance_are_no_fault(loss: float) -> None:
    drawn = random.Random(22)
    for _ in range(100):
        came = [
            i for i in range(10_001) if i == 10_000 or drawn.random() >= loss
        ]  # something comes after the last loss
        gaps = Counter(after - before - 1 for before, after in zip([-1, *came], came, strict=False))
        del gaps[0]
        figures = lossy(sum(length * count for length, count in gaps.items()), dict(gaps), loss)
        assert figures.faults() == []


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"late_share": 0.009, "waited_share": 0.09}, ""),
        ({"late_share": 0.02}, "2 % of the packets came more than a tenth of the delay too late"),
        ({"waited_share": 0.25}, "the link waited for a processor 25 % of the time"),
    ],
)
def test_a_machine_that_is_too_slow_is_told(changes: dict[str, Any], why: str) -> None:
    assert replace(GOOD, **changes).too_slow() == why


class Made:
    """Stands for hosts, of which nothing is asked but to begin and end."""

    sites = Sites([1, 1])

    def __enter__(self) -> Made:
        return self

    def __exit__(self, *_: object) -> None:
        pass


@pytest.mark.parametrize(
    ("links", "said"),
    [
        ([GOOD, GOOD], ""),
        ([GOOD, replace(GOOD, first=1, second=0, one_flow=1e7)], "from site 1 to site 0 one flow got 10.0 instead of"),
        ([replace(GOOD, one_flow=1e7, waited_share=0.5)], "too slow for what was asked: the link waited"),
    ],
)
def test_the_exit_code_is_of_what_was_found(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], links: list[LinkFigures], said: str
) -> None:
    monkeypatch.setattr(measure_sites, "measure_sites", lambda *_: links)
    if not said:
        check._check_sites(Made(), 1.0, as_json=True)  # type: ignore[arg-type]
    else:
        with pytest.raises(typer.Exit) as ended:
            check._check_sites(Made(), 1.0, as_json=True)  # type: ignore[arg-type]
        assert ended.value.exit_code == 1
    out, told = capsys.readouterr()
    assert said in told
    assert [bool(link["faults"]) for link in json.loads(out)] == [bool(link.faults()) for link in links]
