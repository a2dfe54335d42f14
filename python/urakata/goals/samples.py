# SPDX-License-Identifier: BSD-3-Clause
"""What the jobs of a session have measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from urakata.goals.errors import MeasurementError
from urakata.measure.estimate import Estimate, drawn_again

OVER_ROUNDS: dict[str, Callable[[list[float]], float]] = {"median": median, "least": min, "most": max}
"""What may stand for a series of rounds. The least time (the most of a rate) where what jobs see of the machine changes
from round to round, as cores of a virtual machine that are now near each other, now far: it compares like with like."""

TOGETHER = "together"
"""What stands for series that were taken beside each other, those of the first side and its own: `beside`."""

Point = tuple[str, ...]
"""What was measured, such as ("node, 2 ranks", "ibcast", "8 B")."""


def quotient(over: float, under: float, what: str) -> float:
    """MeasurementError where nothing is a ratio of `under`; `what` says what that is."""
    if under == 0:
        raise MeasurementError(f"{what} is 0, so nothing can be a ratio of it")
    return over / under


def beside(values: Sequence[float], first: Sequence[float]) -> float:
    """The median of `first`, times the median of what each value is of the first's beside it.

    So two series compare as their values beside each other do, also where the machine changes from one to the next.
    MeasurementError where the first has a zero.
    """
    what = "a value of the first side"
    return median(first) * median([quotient(value, other, what) for value, other in zip(values, first, strict=True)])


@dataclass
class Samples:
    """Values by side, quantity and point: one for each round. `over_rounds` of them stands for them all."""

    values: dict[tuple[str, str, Point], list[float]] = field(default_factory=dict)
    over_rounds: str = "median"
    unread: list[str] = field(default_factory=list)  # why records gave no value

    def missing(self, what: str) -> MeasurementError:
        """The error for what was not measured."""
        return MeasurementError(f"{what}; {self.unread[0]}" if self.unread else what)

    def add(self, side: str, quantity: str, point: Point, value: float) -> None:
        """Adds the value of the next round."""
        self.values.setdefault((side, quantity, point), []).append(value)

    def points(self, side: str, quantity: str) -> list[Point]:
        """The points measured, in the order in which they first came."""
        return [point for (s, q, point) in self.values if (s, q) == (side, quantity)]

    def series(self, side: str, quantity: str, point: Point) -> list[float]:
        """One value a round. MeasurementError where the side has none."""
        try:
            return self.values[side, quantity, point]
        except KeyError:
            raise self.missing(f"side {side} has measured no {quantity} at {', '.join(point)}") from None

    def value(self, side: str, quantity: str, point: Point) -> float:
        """What stands for all rounds."""
        if self.over_rounds == TOGETHER:
            first = next(series for (_, q, p), series in self.values.items() if (q, p) == (quantity, point))
            return beside(self.series(side, quantity, point), first)
        return OVER_ROUNDS[self.over_rounds](self.series(side, quantity, point))

    def rounds(self, side: str) -> int:
        """Rounds that the side has completed."""
        return min((len(series) for (s, _, _), series in self.values.items() if s == side), default=0)

    def only(self, numbers: Sequence[int]) -> Samples:
        """The values of these rounds alone, of a round as often as it is named; of a series what it has of them."""
        found = {key: [series[i] for i in numbers if i < len(series)] for key, series in self.values.items()}
        return Samples({key: series for key, series in found.items() if series}, self.over_rounds)

    def _of(self, figure: Callable[[Samples], float], numbers: Sequence[int]) -> float | None:
        try:
            return figure(self.only(numbers))
        except MeasurementError:
            return None

    def _completed(self, sides: Sequence[str]) -> int:
        return min(self.rounds(side) for side in sides)

    def each_round(self, figure: Callable[[Samples], float], *sides: str) -> list[float]:
        """`figure` of every round that all `sides` have completed, and that has one by itself."""
        found = (self._of(figure, [number]) for number in range(self._completed(sides)))
        return [one for one in found if one is not None]

    def estimate(self, figure: Callable[[Samples], float]) -> Estimate:
        """`figure` of all rounds, and between what it would lie if others had come. Raises what `figure` raises.

        Rounds are drawn from all that any series has, so that the value is `figure` of a draw, too: the one in which
        each round comes once. Draws that leave a series of the figure empty do not count."""
        value = figure(self)
        rounds = max(map(len, self.values.values()), default=0)
        return drawn_again(lambda numbers: self._of(figure, numbers), rounds) or Estimate(value, value, value)

    def by_point(self, quantity: str) -> list[dict[str, Any]]:
        """For JSON: each point with each side's value and samples."""
        rows: dict[Point, dict[str, Any]] = {}
        for (side, q, point), series in self.values.items():
            if q == quantity:
                row = rows.setdefault(point, {"point": list(point), "quantity": quantity, "sides": {}})
                row["sides"][side] = {self.over_rounds: self.value(side, q, point), "samples": series}
        return list(rows.values())
