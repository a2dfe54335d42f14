# SPDX-License-Identifier: BSD-3-Clause
"""The figures that goals ask for: from a session's samples to one number.

Each takes what stands for all rounds at every point first, and only then compares sides or looks for the worst point.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import fmean, median

from urakata.goals.definitions import Goal
from urakata.goals.outcome import Figure, made, points_of
from urakata.goals.ratios import (
    bypass_excess,
    geometric_mean_of_ratios,
    least_ratio,
    median_ratio,
    worst_ratio,
    worst_side_ratio,
)
from urakata.goals.samples import Samples, quotient


def largest(goal: Goal, samples: Samples) -> Figure:
    """The largest value of `quantity` at any point of `side`, times `scale`; `beside` is shown with it.

    Not met if any quantity of `none` is above zero, or any of `some` is zero, at a point of the side.
    """
    quantity, side, scale = (
        goal.parameters["quantity"],
        goal.parameters["side"],
        float(goal.parameters.get("scale", 1.0)),
    )
    points = points_of(goal, samples, side, quantity)

    def of(part: Samples, which: str, what: str) -> float:
        return scale * max(part.value(which, what, p) for p in points)

    sides = {side: of(samples, side, quantity)}
    if beside := goal.parameters.get("beside"):
        sides = {beside: of(samples, beside, goal.parameters.get("beside_quantity", quantity)), **sides}
    raw = samples.by_point(quantity)
    broken = []
    for other in goal.parameters.get("none", ()):
        raw += samples.by_point(other)
        most = max(max(samples.series(side, other, p)) for p in points_of(goal, samples, side, other))
        if most > 0:
            broken.append(f"{other}: {most:g} instead of none")
    for other in goal.parameters.get("some", ()):
        raw += samples.by_point(other)
        if min(min(samples.series(side, other, p)) for p in points_of(goal, samples, side, other)) == 0:
            broken.append(f"no {other} at all")
    return made(
        samples, lambda part: of(part, side, quantity), (side,), sides, goal.unit, {"raw": raw}, "; ".join(broken)
    )


def least(goal: Goal, samples: Samples) -> Figure:
    """The least value of `quantity` at any point of `side`."""
    quantity, side = goal.parameters["quantity"], goal.parameters["side"]
    points = points_of(goal, samples, side, quantity)

    def of(part: Samples) -> float:
        return min(part.value(side, quantity, p) for p in points)

    return made(samples, of, (side,), {side: of(samples)}, goal.unit, {"raw": samples.by_point(quantity)})


def worst_median(goal: Goal, samples: Samples) -> Figure:
    """The largest of several sides' medians (`side`) of `quantity` over all points."""
    quantity, sides = goal.parameters["quantity"], goal.parameters["side"]

    def of(part: Samples, side: str) -> float:
        return median(part.value(side, quantity, p) for p in points_of(goal, samples, side, quantity))

    def figure(part: Samples) -> float:
        return max(of(part, side) for side in sides)

    each = {side: of(samples, side) for side in sides}
    detail = {"raw": samples.by_point(quantity)}
    return made(samples, figure, sides, each, goal.unit, detail)


def excess(goal: Goal, samples: Samples) -> Figure:
    """`quantity` of `over` less that, or `under_quantity`, of `under`, each at its largest point, times `scale`."""
    over, under, quantity, scale = (goal.parameters[key] for key in ("over", "under", "quantity", "scale"))
    of_under = goal.parameters.get("under_quantity", quantity)
    points = points_of(goal, samples, over, quantity)
    under_points = samples.points(under, of_under)
    if not under_points:
        raise samples.missing(f"{goal.name}: side {under} has measured no {of_under}")

    def most(part: Samples, side: str) -> float:
        if side == over:
            return max(part.value(over, quantity, p) for p in points)
        return max(part.value(under, of_under, p) for p in under_points)

    def figure(part: Samples) -> float:
        return float(scale) * (most(part, over) - most(part, under))

    sides = {side: most(samples, side) for side in (under, over)}
    detail = {"raw": [row for q in dict.fromkeys((quantity, of_under)) for row in samples.by_point(q)]}
    unit = goal.parameters.get("sides_unit", goal.unit)
    return made(samples, figure, (over, under), sides, unit, detail)


def difference(goal: Goal, samples: Samples) -> Figure:
    """How far the mean of `quantity` of `side` over its points is off that at the point with the word `off`."""
    quantity, side, word = (goal.parameters[key] for key in ("quantity", "side", "off"))
    points = points_of(goal, samples, side, quantity)

    def apart(part: Samples) -> float:
        at = [part.value(side, quantity, point) for point in points if word in point]
        others = [part.value(side, quantity, point) for point in points if word not in point]
        if not at or not others:
            raise samples.missing(f"{goal.name}: {quantity} is missing with {word}, or without")
        return abs(fmean(others) - fmean(at))

    sides = {" ".join(point[1:]): samples.value(side, quantity, point) for point in points}
    detail = {"raw": samples.by_point(quantity)}
    return made(samples, apart, (side,), sides, goal.unit, detail)


def overlap_measure(goal: Goal, samples: Samples) -> Figure:
    """`measure` (hidden or theft) of each operation at the median over its sizes, of the worst operation.

    The operation `floor`, where one is named, is judged by nothing: it stands beside the sides. With `of_floor` the
    figure is the part of what it has, on side `beside` in the same run.
    """
    measure = goal.parameters["measure"]
    worst = min if goal.direction == "at least" else max
    side, beside = goal.parameters["side"], goal.parameters["beside"]
    floor = goal.parameters.get("floor")
    points = points_of(goal, samples, side, measure)
    operations = [o for o in dict.fromkeys(point[1] for point in points) if o != floor]
    floor_points = [p for p in points if p[1] == floor]
    if not operations or (floor and not floor_points):
        raise samples.missing(f"{goal.name}: no {measure} of {floor if operations else 'any operation'}")

    def by_operation(part: Samples, which: str) -> dict[str, float]:
        return {o: median([part.value(which, measure, p) for p in points if p[1] == o]) for o in operations}

    def figure(part: Samples, which: str) -> float:
        return worst(by_operation(part, which).values())

    def at_floor(part: Samples) -> float:
        return median([part.value(beside, measure, p) for p in floor_points])

    def of_side(part: Samples) -> float:
        of_floor = goal.parameters.get("of_floor")
        return quotient(figure(part, side), at_floor(part) if of_floor else 1.0, f"{measure} of {floor}")

    sides = {s: figure(samples, s) for s in (beside, side)}
    if floor:
        sides[floor] = at_floor(samples)
    detail = {
        "by_operation": {s: by_operation(samples, s) for s in (beside, side)},
        "by_point": [{"point": list(p), **{s: samples.value(s, measure, p) for s in (beside, side)}} for p in points],
        "raw": [row for q in (measure, "pure", "compute_alone", "compute", "overall") for row in samples.by_point(q)],
    }
    return made(samples, of_side, (side, beside) if floor else (side,), sides, goal.unit, detail)


FIGURES: dict[str, Callable[[Goal, Samples], Figure]] = {
    "geometric-mean-of-ratios": geometric_mean_of_ratios,
    "worst-ratio": worst_ratio,
    "least-ratio": least_ratio,
    "worst-side-ratio": worst_side_ratio,
    "largest": largest,
    "least": least,
    "worst-median": worst_median,
    "median-ratio": median_ratio,
    "excess": excess,
    "bypass-excess": bypass_excess,
    "difference": difference,
    "overlap-measure": overlap_measure,
}
