# SPDX-License-Identifier: BSD-3-Clause
"""Figures of goals on samples that nobody chose: the value lies within its spread, and a zero is a line."""

from __future__ import annotations

import random
from typing import Any

import pytest
from goal_cases import HOST, A, B, goal, job, samples
from typer.testing import CliRunner

from urakata.goals import command, measure
from urakata.goals.errors import MeasurementError
from urakata.goals.figures import FIGURES
from urakata.goals.outcome import Figure
from urakata.goals.samples import OVER_ROUNDS, TOGETHER, Samples
from urakata.goals.session import take

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


def drawn(seed: int, over_rounds: str) -> Samples:
    """Three sides, of which none is faster, in two to seven rounds; now and then one of ten times the time."""
    draw = random.Random(seed)
    filled = Samples(over_rounds=over_rounds)
    rounds = draw.randint(2, 7)
    for side in ("host", "poll", "space"):
        for quantity in QUANTITIES:
            for point in POINTS:
                for _ in range(rounds):
                    outlier = 10 if draw.random() < 0.1 else 1
                    filled.add(side, quantity, point, draw.lognormvariate(0, 0.3) * outlier)
    return filled


def figure(name: str, measured: Samples) -> Figure:
    return FIGURES[name](goal(name, **PARAMETERS[name]), measured)


def test_every_figure_is_here() -> None:
    assert PARAMETERS.keys() == FIGURES.keys()


@pytest.mark.parametrize("over_rounds", [*OVER_ROUNDS, TOGETHER])
@pytest.mark.parametrize("name", FIGURES)
def test_the_value_lies_within_its_spread(name: str, over_rounds: str) -> None:
    for seed in range(8):
        found = figure(name, drawn(seed, over_rounds)).estimate
        assert found.low <= found.value <= found.high
        assert found.low < found.high or over_rounds != "median", "the spread is none although rounds differ"


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
