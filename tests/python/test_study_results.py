# SPDX-License-Identifier: BSD-3-Clause
"""The overlap study: measures on worked examples, results, and what is shown of them."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from study_records import made_up_record, made_up_results

from urakata.measure import text_table
from urakata.measure.estimate import Spread, spread
from urakata.overlap_study import measures, plots, tables
from urakata.overlap_study.configuration import Configuration
from urakata.overlap_study.page import write_study
from urakata.overlap_study.results import Results, Row, fastest, from_json


def test_hidden_by_hand() -> None:
    # 100 computing, 60 communicating: 160 one after the other hides nothing, 100 all, 130 half.
    assert measures.hidden(100, 60, 160) == 0.0
    assert measures.hidden(100, 60, 100) == 1.0
    assert measures.hidden(100, 60, 130) == pytest.approx(0.5)
    # The shorter part may be the computation; slower than one after the other is not below 0.
    assert measures.hidden(40, 60, 80) == pytest.approx(0.5)
    assert measures.hidden(100, 60, 300) == 0.0
    assert measures.hidden(0, 60, 60) == 0.0


def test_theft_by_hand() -> None:
    # 100 alone, 110 inside: a tenth was stolen.
    assert measures.theft(100, 110) == pytest.approx(0.1)
    assert measures.theft(100, 95) == pytest.approx(-0.05)


def test_limit_by_hand() -> None:
    # 100 computing, 60 communicating of which the core itself must work 20: not below 120.
    assert measures.limit(100, 60, 20) == 120
    # Long communication is the limit itself, and CPU time above all of it is a mistake of measuring.
    assert measures.limit(100, 300, 20) == 300
    assert measures.limit(100, 60, 500) == 160


def test_osu_calls_stolen_time_hidden_and_hidden_does_not() -> None:
    # Computation slowed from 100 to 160 by the communication of 60 inside: OSU sees 100 %, in truth nothing was gained.
    assert measures.osu_overlap(60, 160, 160) == 100.0
    assert measures.hidden(100, 60, 160) == 0.0
    assert measures.osu_overlap(60, 100, 160) == 0.0
    assert measures.osu_overlap(60, 100, 130) == pytest.approx(50.0)


def test_imb_divides_by_the_longer() -> None:
    # All 60 hidden behind 100: 60 % by IMB's code.
    assert measures.imb_overlap(60, 100, 100) == pytest.approx(60.0)
    assert measures.imb_overlap(100, 100, 100) == 100.0
    assert measures.imb_overlap(60, 100, 200) == 0.0


def test_geometric_mean_and_spread() -> None:
    assert measures.geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
    assert math.isnan(measures.geometric_mean([]))
    assert spread([1, 2, 3, 4, 5]) == Spread(3, 2, 4, 5)
    assert spread([7.0]) == Spread(7, 7, 7, 1)
    with pytest.raises(ValueError, match="no samples"):
        spread([])


def _row(engine: str) -> Row:
    row = made_up_results().row(next(one for one in made_up_results().configurations() if one.engine == engine), 65536)
    assert row is not None
    return row


def test_progress_thread_time_counts_as_the_cores_only_where_it_shares_them() -> None:
    # The caller needs 10 us of CPU, the progress thread 6.
    assert _row("none").tcpu == 10.0
    assert _row("spare").tcpu == 10.0
    assert _row("shared").tcpu == 16.0
    assert _row("async").tcpu == 10.0


def test_measures_of_a_row() -> None:
    # Tw 900, Tc 135.072, 80 % hidden; the computation takes 945 inside.
    measured = _row("shared").measured()
    assert measured["hidden"] == pytest.approx(0.8)
    assert measured["theft"] == pytest.approx(0.05)
    assert measured["limit"] == 916.0
    assert measured["t_over_limit"] == pytest.approx((900 + 0.2 * 135.072) / 916)


def test_ratio_to_the_hosts_own() -> None:
    results = made_up_results()
    shared = next(one for one in results.configurations() if one.engine == "shared")
    row = results.row(shared, 65536)
    assert row is not None
    assert results.ratio(row) == pytest.approx((900 + 0.2 * 135.072) / (900 + 135.072))


def test_samples_of_rounds_are_pooled_and_json_reads_back() -> None:
    one = Configuration("ibcast", "compute", 2, 1, "none")
    results = Results()
    results.add(one, made_up_record(8, 10, 10, 20, 10, round=0))
    results.add(one, made_up_record(8, 10, 10, 26, 10, round=1))
    assert results.rows[0].samples("overall") == [20, 20, 20, 26, 26, 26]
    assert results.rows[0].time("overall").median == 23
    text = json.dumps([row.as_json() for row in results.rows])
    assert [row.as_json() for row in from_json(json.loads(text)).rows] == json.loads(text)


def test_fastest() -> None:
    best = fastest(made_up_results().rows)
    assert best is not None
    assert best[0].engine == "spare"
    assert fastest([]) is None


def test_tables_show_ratio_and_wrong_results() -> None:
    results = made_up_results()
    table = tables.summary(results, "iallgather", "paper")
    shared = next(row for row in table.rows if row[0].startswith("2 x shared"))
    assert shared[1:3] == ["80 %", "5 %"]  # hidden, theft
    assert len(table.columns) == len(shared)
    none = next(row for row in table.rows if row[0].startswith("2 x none"))
    assert none[-2:] == ["1.00", "1.00"]
    slow = next(row for row in table.rows if row[0].startswith("2 x async"))
    assert slow[-1] == "50.00"
    one = Configuration("iallgather", "paper", 2, 4, "none")
    results.add(one, made_up_record(8, 10, 10, 20, 10, wrong_ranks=1))
    details = tables.details(results, "iallgather", "paper", 2)
    assert "WRONG" in details.rows[0][1]


def _rounds(*ratios: float) -> Results:
    """The MPI library's own takes 20 in every round, Urakata `ratios` times as long; both parts take 10."""
    results = Results()
    for number, ratio in enumerate(ratios):
        for engine, t in (("none", 20.0), ("shared", 20.0 * ratio)):
            one = Configuration("iallgather", "compute", 2, 1, engine)
            results.add(one, made_up_record(65536, 10, 10, t, 10, round=number))
    return results


@pytest.mark.parametrize(
    ("ratios", "verdict", "hidden"),
    [
        ((0.6, 0.7, 0.65), ["0.65", "0.57 to 0.74"], "70 % (60 to 80)"),
        ((0.9, 1.0, 0.95), ["0.95", "0.87 to 1.04: within noise"], "10 % (0 to 20)"),
        ((0.9,), ["0.90", "spread not known"], "20 %"),
        ((1.2, 1.1), ["1.00", "nothing is faster than the MPI library's own"], "0 % (0 to 0)"),
    ],
)
def test_what_rounds_do_not_agree_on_is_no_recommendation(
    ratios: tuple[float, ...], verdict: list[str], hidden: str
) -> None:
    results = _rounds(*ratios)
    (row,) = tables.choice(results).rows
    assert row[-2:] == verdict
    shared = next(row for row in tables.summary(results, "iallgather", "compute").rows if "shared" in row[0])
    assert shared[1] == hidden


@pytest.mark.parametrize(("us", "text"), [(0.3456, "0.346 µs"), (12.3, "12.3 µs"), (4321, "4.32 ms"), (2.5e6, "2.5 s")])
def test_times_have_units(us: float, text: str) -> None:
    assert text_table.time_text(us) == text


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    results = made_up_results(ranks=(2, 4))
    figures = plots.draw_all(results, "made up", tmp_path)
    names = {drawing.path.name for drawing in figures["iallgather", "paper"]}
    assert names == {
        f"{name}-iallgather-paper.png" for name in ("overlap", "computation", "communication", "overall", "limit")
    }
    document = {
        "date": "2026-01-01",
        "machine": {"name": "<box>", "cpu": "some", "host": "openmpi 5"},
        "settings": {"cores": 8, "repeats": 1},
        "warnings": ["oversubscribed: much"],
        "refused": [{"what": "spare", "reason": "no core"}],
        "skips": [],
        "failed": [],
        "setups": {},
    }
    write_study(document, results, figures, tmp_path / "index.html")
    page = (tmp_path / "index.html").read_text()
    assert page.count("data:image/png;base64,") == 5
    assert "&lt;box&gt;" in page and "<box>" not in page
    assert "no core" in page and "oversubscribed: much" in page
    assert "http" not in page and "<script" not in page
