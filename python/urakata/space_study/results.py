# SPDX-License-Identifier: BSD-3-Clause
"""What the jobs have measured: for each side, quantity and point a median for each round."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from urakata.launcher import FAMILIES
from urakata.measure.estimate import Estimate, median, median_and_range
from urakata.measure.sides import Side, both_of
from urakata.measure.text_table import TextTable, cell

Point = int | str
"""What a quantity was measured at: bytes, ranks, or the name of a pattern."""


@dataclass(frozen=True)
class Value:
    """One round's figure."""

    quantity: str
    point: Point
    value: float


@dataclass
class Results:
    """Values in the order in which they came."""

    values: dict[tuple[Side, str, Point], list[float]] = field(default_factory=dict)

    def add(self, side: Side, one: Value) -> None:
        """Takes a round's value."""
        self.values.setdefault((side, one.quantity, one.point), []).append(one.value)

    def sides(self, quantity: str) -> list[Side]:
        """Those that have measured it: an MPI library alone before the same in a space."""
        return sorted(
            {side for side, name, _ in self.values if name == quantity},
            key=lambda side: (FAMILIES.index(side.family), side.space),
        )

    def families(self, quantity: str) -> list[str]:
        """Hosts that have measured it both alone and in a space."""
        here = self.sides(quantity)
        return [side.family for side in here if not side.space and Side(side.family, "space") in here]

    def points(self, quantity: str) -> list[Any]:
        """All points of any side; numbers rise."""
        found = dict.fromkeys(point for _, name, point in self.values if name == quantity)
        numbers = sorted(point for point in found if isinstance(point, int))
        return [*numbers, *(point for point in found if isinstance(point, str))]

    def median(self, side: Side, quantity: str, point: Point) -> float | None:
        """Median over the rounds; None where it was not measured."""
        return median(self.values.get((side, quantity, point)))

    def both(self, family: str, quantity: str, point: Point) -> list[float | None]:
        """The medians of an MPI library alone, and in a space."""
        return [self.median(side, quantity, point) for side in both_of([family])]

    def known(self, side: Side, quantity: str, points: Iterable[Point]) -> dict[Any, Estimate]:
        """At each of the points that were measured: the median, and from the least to the most of the rounds."""
        found = ((point, self.values.get((side, quantity, point))) for point in points)
        return {point: median_and_range(series) for point, series in found if series}

    def floor(self, quantity: str, point: Point) -> float | None:
        """A quantity that no MPI has a part in: the median over all sides and rounds."""
        found = [value for (_, q, p), series in self.values.items() if (q, p) == (quantity, point) for value in series]
        return median(found)

    def ratios(self, family: str, quantity: str) -> dict[Any, float]:
        """At each point that both have: in a space over alone."""
        found = {}
        for point in self.points(quantity):
            alone, within = self.both(family, quantity, point)
            if alone and within:
                found[point] = within / alone
        return found

    def as_json(self) -> list[dict[str, Any]]:
        """One row for each side, quantity and point."""
        return [
            {"family": side.family, "space": side.space, "quantity": quantity, "point": point, "rounds": series}
            for (side, quantity, point), series in self.values.items()
        ]


def side_table(results: Results, quantity: str, title: str, column: str, name: Callable[[Any], str]) -> TextTable:
    """A row for each point, by its `name`, a column for each side."""
    sides = results.sides(quantity)
    rows = [
        [name(point), *(cell(results.median(side, quantity, point)) for side in sides)]
        for point in results.points(quantity)
    ]
    return TextTable(title, [column, *(side.name for side in sides)], rows)


def from_json(rows: Iterable[Mapping[str, Any]]) -> Results:
    """Rows as Results.as_json wrote them."""
    results = Results()
    for row in rows:
        side = Side(row["family"], "space" if row["space"] else "alone")
        results.values[side, row["quantity"], row["point"]] = list(row["rounds"])
    return results
