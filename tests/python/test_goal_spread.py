# SPDX-License-Identifier: BSD-3-Clause
"""Figures of goals on samples that nobody chose: the value lies within its spread, and a zero is a line."""

from __future__ import annotations

import random
from collections.abc import Iterable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from goal_cases import HOST, A, B, goal, job, samples
from typer.testing import CliRunner

from urakata.goals import command, measure
from urakata.goals.definitions import Goal, load
from urakata.goals.errors import MeasurementError
from urakata.goals.figures import FIGURES
from urakata.goals.outcome import Figure, Outcome
from urakata.goals.samples import OVER_ROUNDS, TOGETHER, Point, Samples
from urakata.goals.session import take
from urakata.measure.estimate import Estimate

PARAMETERS: dict[str, dict[str, Any]] = {
    "geometric-mean-of-ratios": {"quantity": "us", "over": "poll", "under": "host", "nowhere_above": 1.0},
    "worst-ratio": {"quantity": "us", "over": "poll", "under": ["host", "space"], "also": "us", "also_at_most": 1.0},
    "least-ratio": {"quantity": "us", "over": ["poll", "space"], "under": "host"},
    "worst-side-ratio": {"quantity": "us", "over": ["poll", "space"], "under": "host", "only": ["8 B"]},
    "largest": {"quantity": "us", "side": "poll", "beside": "host", "scale": 2.0},
    "least": {"quantity": "us", "side": "poll"},
    "worst-median": {"quantity": "us", "side": ["poll", "space"]},
    "median-ratio": {"quantity": "us", "over": "poll", "under": ["host", "space"]},
    "excess": {"quantity": "us", "over": "poll", "under": "host", "scale": 1.0},
    "bypass-excess": {"over": "poll", "under": "host", "percent": 5.0},
    "difference": {"quantity": "us", "side": "poll", "off": "8 B"},
    "overlap-measure": {"measure": "us", "side": "poll", "beside": "host", "floor": "isend", "of_floor": True},
}
POINTS = (A, B, ("node", "iallgather", "1 MiB"), ("node", "isend", "1 MiB"))
QUANTITIES = ("us", "pingpong_ns", "call_ns", "pure", "compute_alone", "compute", "overall")


ROWS = load(Path(__file__).resolve().parents[2] / "bench" / "goals.toml")


def drawn(
    seed: int,
    over_rounds: str,
    sides: Iterable[str] = ("host", "poll", "space"),
    quantities: Iterable[str] = QUANTITIES,
    points: Iterable[Point] = POINTS,
    unread: float = 0.0,
    most: int = 7,
) -> Samples:
    """Sides of which none is faster, in two to `most` rounds; now and then one of ten times the time. The part `unread`
    of the values is missing, but of each series one is there."""
    draw = random.Random(seed)
    filled = Samples(over_rounds=over_rounds)
    rounds = draw.randint(2, most)
    for side, quantity, point in product(sides, quantities, points):
        for number in range(rounds):
            outlier = 10 if draw.random() < 0.1 else 1
            value = draw.lognormvariate(0, 0.3) * outlier
            if number == 0 or draw.random() >= unread:
                filled.add(side, quantity, point, value)
    return filled


def figure(name: str, measured: Samples) -> Figure:
    return FIGURES[name](goal(name, **PARAMETERS[name]), measured)


def test_every_figure_is_here() -> None:
    assert PARAMETERS.keys() == FIGURES.keys()


@pytest.mark.parametrize("over_rounds", [*OVER_ROUNDS, TOGETHER])
@pytest.mark.parametrize("name", FIGURES)
def test_the_value_lies_within_its_spread(name: str, over_rounds: str) -> None:
    for seed, unread in product(range(8), (0.0,) if over_rounds == TOGETHER else (0.0, 0.2)):
        found = figure(name, drawn(seed, over_rounds, unread=unread)).estimate
        assert found.low <= found.value <= found.high
        assert found.low < found.high or over_rounds != "median", "the spread is none although rounds differ"


@pytest.mark.parametrize("over_rounds", OVER_ROUNDS)
@pytest.mark.parametrize("name", FIGURES)
def test_both_ends_are_what_the_figure_gives_of_some_rounds(
    monkeypatch: pytest.MonkeyPatch, name: str, over_rounds: str
) -> None:
    """Of three rounds at most, so that all that may be drawn can be tried."""
    for seed in range(4):
        measured = drawn(seed, over_rounds, most=3)
        found = figure(name, measured).estimate
        rounds = max(map(len, measured.values.values()))
        with monkeypatch.context() as patched:
            patched.setattr(Samples, "estimate", lambda part, of: Estimate(of(part), of(part), of(part)))
            drawings = product(range(rounds), repeat=rounds)
            possible = {figure(name, measured.only(numbers)).value for numbers in drawings}
        assert {found.low, found.value, found.high} <= possible


def in_row(row: Goal) -> list[Point]:
    """Points that the row speaks of."""
    only, floor, off = (row.parameters.get(key) for key in ("only", "floor", "off"))
    rest = tuple(only or ())
    if row.figure == "worst-side-ratio":
        return [("node", "ibcast", *rest)]
    points = [("node", "ibcast", *rest, "a"), ("node", "iallgather", *rest, off or "b")]
    return [*points, ("node", floor, *rest)] if floor else points


@pytest.mark.parametrize("name", ROWS.goals)
def test_the_value_of_each_row_lies_within_its_spread(name: str) -> None:
    row = ROWS.goals[name]
    session = ROWS.sessions[row.session]
    named = [
        row.parameters.get(key, ()) for key in ("quantity", "beside_quantity", "under_quantity", "also", "measure")
    ]
    lists = [row.parameters.get(key, ()) for key in ("none", "some", "same")]
    of_bypass = ("pingpong_ns", "call_ns") if row.figure == "bypass-excess" else ()
    quantities = {*of_bypass, *filter(None, named), *(one for some in lists for one in some)}
    over_rounds = TOGETHER if session.together else session.over_rounds
    for seed, unread in enumerate((0.0, 0.0) if session.together else (0.0, 0.2)):
        sides = [side.name for side in session.sides]
        measured = drawn(seed, over_rounds, sides, sorted(quantities), in_row(row), unread)
        found = FIGURES[row.figure](row, measured)
        assert found.estimate.low <= found.value <= found.estimate.high
        shown = Outcome(row, found).as_json({})
        assert shown["value"] == found.value and shown["spread"] == [found.estimate.low, found.estimate.high]


def test_a_quantity_of_other_goals_costs_no_rounds() -> None:
    """Five rounds of times, and one of bytes, which this figure does not ask for: the spread is that of five."""
    measured = samples("us", poll={A: [1, 2, 3, 4, 5]})
    alone = FIGURES["largest"](goal("f", quantity="us", side="poll"), measured).estimate
    measured.add("poll", "bytes", A, 8)
    assert FIGURES["largest"](goal("f", quantity="us", side="poll"), measured).estimate == alone
    assert alone.low < alone.value == 3 < alone.high


def test_the_worst_of_rounds_drawn_again_may_be_at_another_point() -> None:
    """At A all rounds say 2. At B they say 1, 9 and 1: B's median is below A's, but not if the 9 comes twice."""
    measured = samples("us", host={A: [1, 1, 1], B: [1, 1, 1]}, poll={A: [2, 2, 2], B: [1, 9, 1]})
    found = FIGURES["worst-ratio"](goal("f", quantity="us", over="poll", under="host"), measured)
    assert (found.estimate.low, found.value, found.estimate.high) == (2, 2, 9)
    assert found.detail["worst_point"] == list(A)


def test_rounds_that_peak_at_other_points_do_not_leave_the_value_outside() -> None:
    """The largest of medians is 1, and each round by itself has a 10 somewhere: "1 (10 to 10)" it was."""
    measured = samples("us", poll={A: [10, 1, 1], B: [1, 10, 1], POINTS[2]: [1, 1, 10]})
    found = FIGURES["largest"](goal("f", quantity="us", side="poll"), measured)
    assert found.value == 1 and found.samples == [10, 10, 10] and found.estimate.low == 1


@pytest.mark.parametrize("name", FIGURES)
@pytest.mark.parametrize("zero", ["host", "poll", "space"])
def test_a_zero_of_one_side_is_a_figure_or_a_line(name: str, zero: str) -> None:
    measured = drawn(1, "median")
    for (side, _, _), series in measured.values.items():
        if side == zero:
            series[:] = [0.0] * len(series)
    try:
        assert figure(name, measured).estimate.low >= 0 or name in ("excess", "bypass-excess")
    except MeasurementError as error:
        assert "0" in str(error)


@pytest.mark.parametrize("name", FIGURES)
def test_a_side_or_a_point_that_is_missing_is_a_line(name: str) -> None:
    for missing in ("host", "poll", "space"):
        for points in (POINTS, POINTS[:1]):
            measured = drawn(1, "median")
            for side, quantity, point in list(measured.values):
                if side == missing and point in points:
                    del measured.values[side, quantity, point]
            try:
                figure(name, measured)
            except MeasurementError as error:
                assert "measured no" in str(error) or "missing" in str(error) or "there is no" in str(error)


def test_a_zero_costs_its_goal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    zeros, fine = samples("us", host={A: [0, 0]}, poll={A: [1, 1]}), samples("us", host={A: [1, 1]}, poll={A: [1, 1]})
    monkeypatch.setattr(
        command,
        "measure_goals",
        lambda found, wanted, notice: measure.measure_goals(
            found, wanted, notice, lambda session, _: zeros if session.name == "nbc-poll" else fine
        ),
    )
    monkeypatch.setattr(command, "describe_build", lambda: {"build_type": "", "flags": ""})
    done = CliRunner().invoke(command.build_app(), ["nbc-poll-geomean", "nbc-hosts-geomean"])
    assert done.exit_code == 1 and not isinstance(done.exception, ZeroDivisionError)
    assert "nbc-poll-geomean: us of side host at node, ibcast, 8 B is 0, so nothing can be a ratio of it" in done.output
    assert "1.00..1.00" in next(line for line in done.output.splitlines() if line.startswith("nbc-hosts-geomean"))


def test_a_record_that_cannot_be_read_costs_the_goals_that_need_it() -> None:
    """The reader has a value of the first record, and divides by a zero of the second."""

    def read(_job: object, record: dict[str, Any]) -> Any:
        yield "us", A, 1 / record["ns"]

    measured = Samples()
    for record in ({"ns": 2}, {"ns": 0}, {}):
        take(measured, job(HOST), record, read)
    assert measured.series("host", "us", A) == [0.5]
    assert measured.unread == [
        "nbc, side host: cannot read {'ns': 0}: division by zero",
        "nbc, side host: cannot read {}: it has no 'ns'",
    ]
    with pytest.raises(MeasurementError, match="measured no us at node, ibcast, 4 KiB; nbc, side host: cannot read"):
        measured.series("host", "us", B)
