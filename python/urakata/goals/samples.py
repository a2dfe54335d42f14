"""What the jobs of a session have measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

OVER_ROUNDS: dict[str, Callable[[list[float]], float]] = {"median": median, "least": min, "most": max}
"""What may stand for a series of rounds. The least time (the most of a rate) where what jobs see of the machine changes
from round to round, as cores of a virtual machine that are now near each other, now far: it compares like with like."""

TOGETHER = "together"
"""What stands for series that were taken beside each other, those of the first side and its own: `beside`."""

Point = tuple[str, ...]
"""What was measured, such as ("node, 2 ranks", "ibcast", "8 B")."""


def beside(values: Sequence[float], first: Sequence[float]) -> float:
    """The median of `first`, times the median of what each value is of the first's beside it.

    So two series compare as their values beside each other do, also where the machine changes from one to the next.
    """
    return median(first) * median([value / other for value, other in zip(values, first, strict=True)])


@dataclass
class Samples:
    """Values by side, quantity and point: one for each round. `over_rounds` of them stands for them all."""

    values: dict[tuple[str, str, Point], list[float]] = field(default_factory=dict)
    over_rounds: str = "median"

    def add(self, side: str, quantity: str, point: Point, value: float) -> None:
        """Adds the value of the next round."""
        self.values.setdefault((side, quantity, point), []).append(value)

    def points(self, side: str, quantity: str) -> list[Point]:
        """The points measured, in the order in which they first came."""
        return [point for (s, q, point) in self.values if (s, q) == (side, quantity)]

    def series(self, side: str, quantity: str, point: Point) -> list[float]:
        """One value a round."""
        return self.values[side, quantity, point]

    def value(self, side: str, quantity: str, point: Point) -> float:
        """What stands for all rounds."""
        if self.over_rounds == TOGETHER:
            first = next(series for (_, q, p), series in self.values.items() if (q, p) == (quantity, point))
            return beside(self.series(side, quantity, point), first)
        return OVER_ROUNDS[self.over_rounds](self.series(side, quantity, point))

    def rounds(self, side: str) -> int:
        """Rounds that the side has completed."""
        return min((len(series) for (s, _, _), series in self.values.items() if s == side), default=0)

    def round(self, number: int) -> Samples:
        """The values of one round alone."""
        return Samples({key: [series[number]] for key, series in self.values.items() if number < len(series)})

    def each_round(self, figure: Callable[[Samples], float], *sides: str) -> list[float]:
        """`figure` of every round that all `sides` have completed."""
        return [figure(self.round(i)) for i in range(min(self.rounds(side) for side in sides))]

    def by_point(self, quantity: str) -> list[dict[str, Any]]:
        """For JSON: each point with each side's value and samples."""
        rows: dict[Point, dict[str, Any]] = {}
        for (side, q, point), series in self.values.items():
            if q == quantity:
                row = rows.setdefault(point, {"point": list(point), "quantity": quantity, "sides": {}})
                row["sides"][side] = {self.over_rounds: self.value(side, q, point), "samples": series}
        return list(rows.values())
