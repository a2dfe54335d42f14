# SPDX-License-Identifier: BSD-3-Clause
"""Values and between what they lie: quantiles from tables, and that no value is outside of its own bracket."""

from __future__ import annotations

import random
import statistics

import pytest

from urakata.compare.interval import interval
from urakata.measure.estimate import Estimate, drawn_again, mean_ratio, median_and_range, spread, student_quantile
from urakata.report.whole import RankShare, Whole


@pytest.mark.parametrize(
    ("freedom", "coverage", "t"),
    [(1, 0.95, 12.706), (2, 0.95, 4.303), (3, 0.99, 5.841), (4, 0.99, 4.604), (10, 0.9, 1.812), (30, 0.95, 2.042)],
)
def test_students_quantiles_are_those_of_tables(freedom: int, coverage: float, t: float) -> None:
    assert student_quantile(coverage, freedom) == pytest.approx(t, abs=6e-4)


def test_a_mean_ratio_by_hand() -> None:
    """0.5 and 2: the mean of the logarithms is 0, their error ln 2, and t of one degree with 5 % outside 6.314."""
    found = mean_ratio([0.5, 2.0])
    assert found and found.value == pytest.approx(1) and found.high == pytest.approx(2**6.314, rel=1e-3)
    assert found.low == pytest.approx(1 / found.high)
    assert mean_ratio([0.5]) is None and mean_ratio([0.0, 1.0]) is None
    stricter = mean_ratio([0.5, 2.0], chosen_among=10)
    assert stricter and stricter.high > found.high


def test_as_text() -> None:
    assert Estimate(0.85, 0.8, 0.9).text(lambda value: f"{value:.2f}") == "0.85 (0.80 to 0.90)"


def test_no_value_is_outside_of_its_bracket() -> None:
    draw = random.Random(1)
    for _ in range(200):
        values = [draw.lognormvariate(0, 1) for _ in range(draw.randint(1, 9))]
        whole = drawn_again(lambda numbers, of=values: statistics.fmean(of[i] for i in numbers), len(values))
        quartiles, known = spread(values), interval(values)
        assert whole and whole.low <= whole.value <= whole.high
        assert quartiles.low <= quartiles.median <= quartiles.high
        assert known.low <= known.median <= known.high
        for one in filter(None, (median_and_range(values), mean_ratio(values, draw.randint(1, 9)))):
            assert one.low <= one.value <= one.high


def test_a_reports_share_in_mpi_lies_between_those_of_the_ranks() -> None:
    draw = random.Random(2)
    for _ in range(100):
        runs = [draw.randint(0, 1000) for _ in range(draw.randint(1, 9))]
        ranks = [RankShare(i, "node", "finished", run, draw.randint(0, run), 1) for i, run in enumerate(runs)]
        whole = Whole("./app", len(ranks), ranks, [])
        assert min(rank.share for rank in ranks) <= whole.share <= max(rank.share for rank in ranks)
