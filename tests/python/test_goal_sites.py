# SPDX-License-Identifier: BSD-3-Clause
"""Goals of collectives between sites: what single connections are given, and what records say."""

from __future__ import annotations

import json
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from goal_cases import HOST, POLL, goal, job, samples

from urakata.goals import crossing, figures, flows, readers
from urakata.goals.definitions import Side
from urakata.goals.errors import MeasurementError

RECORD = {"operation": "scatter", "bytes": 8000, "remote_bytes": 4000, "ranks": 8, "us": 10_000.0}


def values(record: dict[str, Any], side: Side = POLL) -> dict[str, float]:
    link = {"delay_ms": 8, "link_mbit": 400, "flow_mbit": 25}
    ran = replace(job(side, "sites 4+4, 8 ms", "sites"), link=link)
    return {quantity: value for quantity, _, value in readers.READERS["sites"](ran, record)}


def test_the_ideal_is_one_delay_and_the_bytes_at_the_links_rate() -> None:
    assert values(RECORD)["over_ideal"] == pytest.approx(10_000 / (8000 + 32_000 / (400 * 1448 / 1500)))


def test_connections_are_measured_by_the_sum_of_their_rates() -> None:
    side = replace(POLL, flows={"rates_mbit": [100, 50]})
    assert values(RECORD | {"remote_bytes": 150_000}, side)["of_sum"] == pytest.approx(120 / (150 * 1448 / 1500))
    assert "of_sum" not in values(RECORD)


@pytest.mark.parametrize(
    ("operation", "least"),
    [("scatter", 4000), ("bcast", 8000), ("allgather", 8000), ("allreduce", 16000), ("alltoall", 2 * 16 * 1000)],
)
def test_bytes_are_measured_by_the_least_that_an_operation_needs(operation: str, least: int) -> None:
    record = RECORD | {"operation": operation, "crossed_bytes": 2.0 * least}
    assert values(record)["of_least_bytes"] == 2.0


def test_reports_say_what_was_predicted_and_what_crossed(tmp_path: Path) -> None:
    call = {"operation": "Scatter", "bytes": 1000, "why": "predicted: straight 9 ms, 1 lane 11 ms"}
    for rank, sent in ((0, 12_000), (1, 3)):
        report = {"rank": rank, "call_sites": [call], "sites": {"ways": [{"bytes": sent}, {"bytes": 0}]}}
        (tmp_path / f"rank-{rank}.json").write_text(json.dumps(report))
    record = RECORD | {"samples_us": [1.0, 2.0]}
    crossing.add_reports([record], tmp_path)
    assert record["predicted_us"] == 9000 and record["crossed_bytes"] == 12_003 / 3
    assert values(record)["model_error"] == pytest.approx(0.1)
    (tmp_path / "rank-1.json").write_text(json.dumps({"rank": 1, "call_sites": []}))
    with pytest.raises(MeasurementError, match="know of no sites"):
        crossing.add_reports([record], tmp_path)


class Links:
    """A link on which each connection brings a third of a MiB more each time that one looks."""

    def __init__(self, connections: int) -> None:
        self.commands: list[str] = []
        self.obeyed = threading.Event()
        self._looks = 0
        self._connections = connections

    def control(self, first: int, second: int, command: str) -> dict[str, Any]:
        assert (first, second) == (0, 1)
        if command != "stats":
            self.commands.append(command)
            self.obeyed.set()
            return {}
        self._looks += 1
        brought = self._looks * (1 << 20) // 3
        there = [
            {"from": f"a:{i}", "to": "b:1", "delivered_bytes": brought + self._looks * i}
            for i in range(self._connections)
        ]
        return {"directions": [{"flows": there}]}


def acted(links: Links, **flows_of_side: Any) -> list[str]:
    with flows.Watch(links, flows_of_side):
        assert links.obeyed.wait(60)
    return links.commands


def test_the_connection_that_has_brought_most_is_cut_and_restored() -> None:
    assert acted(Links(3), cut_after=2 << 20) == ["cut 0 a:2 b:1", "restore 0 a:2 b:1"]


def test_connections_get_their_rates_when_all_are_there() -> None:
    said = acted(Links(2), rates_mbit=[100, 25.5])
    assert said == ["flow-rate 0 a:0 b:1 100000000", "flow-rate 0 a:1 b:1 25500000"]


def test_nothing_done_is_no_measurement() -> None:
    with pytest.raises(MeasurementError, match="no connection was slowed"), flows.Watch(Links(2), {"rates_mbit": [1]}):
        pass


def test_a_suites_counts_are_points_of_their_own() -> None:
    record = {"threads": 6, "sockets": 18, "segments": 52_871}
    read = list(readers.READERS["suite"](job(HOST, "3 hosts, 1gbit", "suite"), record))
    assert ("threads", ("3 hosts, 1gbit", "whole job"), 6) in read and len(read) == 3


A, B, C = (("sites", "bcast", size) for size in ("1 MiB", "4 MiB", "16 MiB"))


def test_least_takes_the_worst_point() -> None:
    measured = samples("of_sum", ours={A: [0.9, 0.8, 0.85], B: [0.7, 0.95, 0.9]})
    assert figures.FIGURES["least"](goal("least", quantity="of_sum", side="ours"), measured).value == 0.85


def test_worst_median_takes_the_worse_side() -> None:
    measured = samples("model_error", one={A: [0.1], B: [0.9], C: [0.2]}, four={A: [0.3], B: [0.25], C: [0.0]})
    found = figures.FIGURES["worst-median"](
        goal("worst-median", quantity="model_error", side=["one", "four"]), measured
    )
    assert found.value == 0.25 and found.sides == {"one": 0.2, "four": 0.25}


def test_median_ratio_is_over_points_by_the_best_of_the_others() -> None:
    measured = samples(
        "us",
        ours={A: [10.0], B: [30.0], C: [20.0]},
        one={A: [10.0], B: [10.0], C: [40.0]},
        two={A: [8.0], B: [20.0], C: [10.0]},
    )
    asked = goal("median-ratio", quantity="us", over="ours", under=["one", "two"])
    assert figures.FIGURES["median-ratio"](asked, measured).value == 2.0
