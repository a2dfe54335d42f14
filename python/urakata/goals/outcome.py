# SPDX-License-Identifier: BSD-3-Clause
"""What measuring a goal gave, and how its figure is made of a session's samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from urakata.goals.definitions import Goal
from urakata.goals.samples import Point, Samples
from urakata.measure.estimate import Estimate


@dataclass(frozen=True)
class Figure:
    """A goal's number: what a figure function makes of a session's samples."""

    estimate: Estimate
    """The number, and between what it lies."""
    samples: list[float]
    """The same number from each round alone; where it is that of a worst point, at the point that is worst of all."""
    sides: dict[str, float]
    """What each side shows, for the table."""
    sides_unit: str
    """Unit of `sides`."""
    detail: dict[str, Any] = field(default_factory=dict)
    broken: str = ""
    """Why the goal is not met although the value is within the target; empty when nothing else counts."""

    @property
    def value(self) -> float:
        return self.estimate.value


@dataclass(frozen=True)
class Outcome:
    """A goal with its figure, or with the reason why there is none."""

    goal: Goal
    figure: Figure | None
    reason: str = ""
    failed: bool = False
    """Whether measuring failed, rather than being impossible here."""

    @property
    def met(self) -> bool | None:
        """Whether the target is met; None when it was not measured."""
        if self.figure is None:
            return None
        return self.goal.met_by(self.figure.value) and not self.figure.broken

    def as_json(self, machine: dict[str, Any]) -> dict[str, Any]:
        """The goal's entry of the JSON file."""
        detail: dict[str, Any] = {
            "compares": self.goal.compares,
            "direction": self.goal.direction,
            "binding": self.goal.binding,
            "session": self.goal.session,
            "machine": machine,
        }
        if self.goal.bound:
            detail["bound"] = self.goal.bound
        if self.figure is None:
            detail["not_measured"] = self.reason
        else:
            detail["sides"] = self.figure.sides
            detail["sides_unit"] = self.figure.sides_unit
            detail.update(self.figure.detail)
            if self.figure.broken:
                detail["broken"] = self.figure.broken
        return {
            "value": self.figure.value if self.figure else None,
            "unit": self.goal.unit,
            "target": self.goal.target,
            "met": self.met,
            "spread": [self.figure.estimate.low, self.figure.estimate.high] if self.figure else [],
            "samples": self.figure.samples if self.figure else [],
            "detail": detail,
        }


def points_of(goal: Goal, samples: Samples, side: str, quantity: str) -> list[Point]:
    """The points of a quantity that the goal speaks of: all, or those that contain every word of `only`."""
    only = set(goal.parameters.get("only", ()))
    found = [point for point in samples.points(side, quantity) if only <= set(point)]
    if not found:
        raise samples.missing(f"{goal.name}: side {side} has measured no {quantity}")
    return found


def made(
    samples: Samples,
    figure: Callable[[Samples], float],
    measured: Sequence[str],
    sides: dict[str, float],
    unit: str,
    detail: dict[str, Any],
    broken: str = "",
    *,
    of_round: Callable[[Samples], float] | None = None,
) -> Figure:
    """`figure` of all rounds and of others drawn from them. Where there is a worst point, `figure` chooses it each time
    anew, so that value and spread are one estimator's. Beside it `of_round`, or `figure`, of each round that all sides
    of `measured` have completed."""
    by_round = samples.each_round(of_round or figure, *measured)
    return Figure(samples.estimate(figure), by_round, sides, unit, detail, broken)
