# SPDX-License-Identifier: BSD-3-Clause
"""The figures that goals ask for: from a session's samples to one number.

Each takes what stands for all rounds at every point first, and only then compares sides or looks for the worst point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import fmean, geometric_mean, median
from typing import Any

from urakata.goals.definitions import Goal
from urakata.goals.errors import MeasurementError
from urakata.goals.outcome import Figure
from urakata.goals.samples import Point, Samples, quotient


def _points(goal: Goal, samples: Samples, side: str, quantity: str) -> list[Point]:
    """The points of a quantity that the goal speaks of: all, or those that contain every word of `only`."""
    only = set(goal.parameters.get("only", ()))
    found = [point for point in samples.points(side, quantity) if only <= set(point)]
    if not found:
        raise samples.missing(f"{goal.name}: side {side} has measured no {quantity}")
    return found


def _made(
    samples: Samples,
    figure: Callable[[Samples], float],
    measured: Sequence[str],
    sides: dict[str, float],
    unit: str,
    detail: dict[str, Any],
    broken: str = "",
    of_round: Callable[[Samples], float] | None = None,
) -> Figure:
    """`figure` of all rounds and of others drawn from them. Where there is a worst point, `figure` chooses it each time
    anew, so that value and spread are one estimator's. Beside it `of_round`, or `figure`, of each round that all sides
    of `measured` have completed."""
    by_round = samples.each_round(of_round or figure, *measured)
    return Figure(samples.estimate(figure), by_round, sides, unit, detail, broken)


def _mean(values: Iterable[float], what: str) -> float:
    """The geometric mean. MeasurementError where a value is zero or below, or there is none."""
    known = list(values)
    if not known or min(known) <= 0:
        raise MeasurementError(f"{what}: a value is not above 0, so there is no geometric mean")
    return geometric_mean(known)


def _ratio(samples: Samples, quantity: str, point: Point, over: str, unders: Sequence[str]) -> float:
    """At a point side `over` divided by the least of several sides."""
    under = min(unders, key=lambda side: samples.value(side, quantity, point))
    what = f"{quantity} of side {under} at {', '.join(point)}"
    return quotient(samples.value(over, quantity, point), samples.value(under, quantity, point), what)


def ratios(samples: Samples, points: list[Point], quantity: str, over: str, under: str) -> dict[Point, float]:
    """At each point side `over` divided by side `under`."""
    return {p: _ratio(samples, quantity, p, over, [under]) for p in points}


def _ratio_rows(by_point: dict[Point, float]) -> list[dict[str, Any]]:
    return [{"point": list(point), "ratio": ratio} for point, ratio in by_point.items()]


def _differing(goal: Goal, samples: Samples, *sides: str) -> str:
    """Which quantities of the goal's `same` are not the same on all sides and in all rounds; empty where none."""
    broken = []
    for quantity in goal.parameters.get("same", ()):
        for point in _points(goal, samples, sides[0], quantity):
            if len({value for side in sides for value in samples.series(side, quantity, point)}) > 1:
                broken.append(f"{quantity} differs at {', '.join(point)}")
    return "; ".join(broken)


def geometric_mean_of_ratios(goal: Goal, samples: Samples) -> Figure:
    """Geometric mean over all points of `over` / `under`.

    Not met either if the ratio is above `nowhere_above` at a point, where that is given, or a quantity of `same`
    differs between the sides.
    """
    quantity, over, under = (goal.parameters[key] for key in ("quantity", "over", "under"))
    points = _points(goal, samples, under, quantity)

    def figure(part: Samples) -> float:
        return _mean(ratios(part, points, quantity, over, under).values(), f"{quantity} of side {over}")

    by_point = ratios(samples, points, quantity, over, under)
    sides = {
        s: _mean((samples.value(s, quantity, p) for p in points), f"{quantity} of side {s}") for s in (under, over)
    }
    detail: dict[str, Any] = {"ratios": _ratio_rows(by_point), "raw": samples.by_point(quantity)}
    broken = ""
    if (most := goal.parameters.get("nowhere_above")) is not None:
        worst = max(points, key=by_point.__getitem__)
        detail |= {"worst_point": list(worst), "worst_ratio": by_point[worst]}
        if by_point[worst] > most:
            broken = f"{by_point[worst]:.2f} at {', '.join(worst)}, more than {most:g}"
    broken = "; ".join(filter(None, (broken, _differing(goal, samples, over, under))))
    unit = goal.parameters.get("sides_unit", "us")
    return _made(samples, figure, (over, under), sides, unit, detail, broken)


def worst_ratio(goal: Goal, samples: Samples) -> Figure:
    """The largest `over` / `under`, or / the least of several, of any point.

    Not met either if a quantity of `same` differs between the sides, or if the ratio of quantity `also` is above
    `also_at_most` at a point.
    """
    quantity, over, under = (goal.parameters[key] for key in ("quantity", "over", "under"))
    unders = [under] if isinstance(under, str) else under

    def ratio(part: Samples, point: Point) -> float:
        return _ratio(part, quantity, point, over, unders)

    points = _points(goal, samples, over, quantity)
    by_point = {point: ratio(samples, point) for point in points}
    worst = max(by_point, key=by_point.__getitem__)
    sides = {side: samples.value(side, quantity, worst) for side in (*unders, over)}
    broken = [_differing(goal, samples, over, *unders)]
    ordered = dict(sorted(by_point.items(), key=lambda item: -item[1]))
    detail = {"worst_point": list(worst), "ratios": _ratio_rows(ordered), "raw": samples.by_point(quantity)}
    if also := goal.parameters.get("also"):
        most = goal.parameters["also_at_most"]
        others = {
            p: max(ratios(samples, [p], also, over, s)[p] for s in unders) for p in _points(goal, samples, over, also)
        }
        detail |= {f"{also}_ratios": _ratio_rows(others), f"{also}_raw": samples.by_point(also)}
        broken += [
            f"{also} is {value:.2f} at {', '.join(p)}, more than {most:g}"
            for p, value in others.items()
            if value > most
        ]
    unit = goal.parameters.get("sides_unit", "us")
    return _made(
        samples,
        lambda part: max(ratio(part, point) for point in points),
        (over, *unders),
        sides,
        unit,
        detail,
        "; ".join(filter(None, broken)),
        of_round=lambda part: ratio(part, worst),
    )


def least_ratio(goal: Goal, samples: Samples) -> Figure:
    """The least ratio of any point: the least of several sides (`over`) / `under`."""
    quantity, overs, under = (goal.parameters[key] for key in ("quantity", "over", "under"))

    def ratio(part: Samples, point: Point) -> float:
        return min(_ratio(part, quantity, point, side, [under]) for side in overs)

    points = _points(goal, samples, under, quantity)
    by_point = {point: ratio(samples, point) for point in points}
    worst = min(by_point, key=by_point.__getitem__)
    sides = {side: samples.value(side, quantity, worst) for side in (*overs, under)}
    detail = {"worst_point": list(worst), "ratios": _ratio_rows(by_point), "raw": samples.by_point(quantity)}
    return _made(
        samples,
        lambda part: min(ratio(part, point) for point in points),
        (*overs, under),
        sides,
        "us",
        detail,
        of_round=lambda part: ratio(part, worst),
    )


def worst_side_ratio(goal: Goal, samples: Samples) -> Figure:
    """The largest of several sides (`over`) divided by the side `under`, at one point."""
    quantity, overs, under = (goal.parameters[key] for key in ("quantity", "over", "under"))
    (point,) = _points(goal, samples, under, quantity)

    def figure(part: Samples) -> float:
        return max(_ratio(part, quantity, point, over, [under]) for over in overs)

    sides = {side: samples.value(side, quantity, point) for side in (under, *overs)}
    detail = {"raw": samples.by_point(quantity)}
    return _made(samples, figure, (under, *overs), sides, "us", detail)


def largest(goal: Goal, samples: Samples) -> Figure:
    """The largest value of `quantity` at any point of `side`, times `scale`; `beside` is shown with it.

    Not met if any quantity of `none` is above zero, or any of `some` is zero, at a point of the side.
    """
    quantity, side, scale = (
        goal.parameters["quantity"],
        goal.parameters["side"],
        float(goal.parameters.get("scale", 1.0)),
    )
    points = _points(goal, samples, side, quantity)

    def of(part: Samples, which: str, what: str) -> float:
        return scale * max(part.value(which, what, p) for p in points)

    sides = {side: of(samples, side, quantity)}
    if beside := goal.parameters.get("beside"):
        sides = {beside: of(samples, beside, goal.parameters.get("beside_quantity", quantity)), **sides}
    raw = samples.by_point(quantity)
    broken = []
    for other in goal.parameters.get("none", ()):
        raw += samples.by_point(other)
        most = max(max(samples.series(side, other, p)) for p in _points(goal, samples, side, other))
        if most > 0:
            broken.append(f"{other}: {most:g} instead of none")
    for other in goal.parameters.get("some", ()):
        raw += samples.by_point(other)
        if min(min(samples.series(side, other, p)) for p in _points(goal, samples, side, other)) == 0:
            broken.append(f"no {other} at all")
    return _made(
        samples, lambda part: of(part, side, quantity), (side,), sides, goal.unit, {"raw": raw}, "; ".join(broken)
    )


def least(goal: Goal, samples: Samples) -> Figure:
    """The least value of `quantity` at any point of `side`."""
    quantity, side = goal.parameters["quantity"], goal.parameters["side"]
    points = _points(goal, samples, side, quantity)

    def of(part: Samples) -> float:
        return min(part.value(side, quantity, p) for p in points)

    return _made(samples, of, (side,), {side: of(samples)}, goal.unit, {"raw": samples.by_point(quantity)})


def worst_median(goal: Goal, samples: Samples) -> Figure:
    """The largest of several sides' medians (`side`) of `quantity` over all points."""
    quantity, sides = goal.parameters["quantity"], goal.parameters["side"]

    def of(part: Samples, side: str) -> float:
        return median(part.value(side, quantity, p) for p in _points(goal, samples, side, quantity))

    def figure(part: Samples) -> float:
        return max(of(part, side) for side in sides)

    each = {side: of(samples, side) for side in sides}
    detail = {"raw": samples.by_point(quantity)}
    return _made(samples, figure, sides, each, goal.unit, detail)


def median_ratio(goal: Goal, samples: Samples) -> Figure:
    """The median over all points of `over` / `under`, or / the least of several."""
    quantity, over, under = (goal.parameters[key] for key in ("quantity", "over", "under"))
    unders = [under] if isinstance(under, str) else under
    points = _points(goal, samples, over, quantity)

    def by_point(part: Samples) -> dict[Point, float]:
        return {p: _ratio(part, quantity, p, over, unders) for p in points}

    def figure(part: Samples) -> float:
        return median(by_point(part).values())

    sides = {side: median(samples.value(side, quantity, p) for p in points) for side in (*unders, over)}
    detail = {"ratios": _ratio_rows(by_point(samples)), "raw": samples.by_point(quantity)}
    return _made(samples, figure, (over, *unders), sides, "us", detail)


def excess(goal: Goal, samples: Samples) -> Figure:
    """`quantity` of `over` less that, or `under_quantity`, of `under`, each at its largest point, times `scale`."""
    over, under, quantity, scale = (goal.parameters[key] for key in ("over", "under", "quantity", "scale"))
    of_under = goal.parameters.get("under_quantity", quantity)
    points = _points(goal, samples, over, quantity)
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
    return _made(samples, figure, (over, under), sides, unit, detail)


def bypass_excess(goal: Goal, samples: Samples) -> Figure:
    """How many nanoseconds `over` is slower than `under`, at the worst size and call; not met either if the ping-pong
    is slower by more than `percent`, where that is given, at the median over sizes."""
    over, under = (goal.parameters[key] for key in ("over", "under"))
    percent = goal.parameters.get("percent", math.inf)
    quantities = ("pingpong_ns", "call_ns")
    points = [(q, p) for q in quantities for p in _points(goal, samples, under, q)]

    def excess(part: Samples) -> dict[tuple[str, Point], float]:
        return {(q, p): part.value(over, q, p) - part.value(under, q, p) for q, p in points}

    def slower(part: Samples) -> float:
        sizes = _points(goal, samples, under, "pingpong_ns")
        return 100.0 * (median(list(ratios(part, sizes, "pingpong_ns", over, under).values())) - 1.0)

    by_point = excess(samples)
    quantity, worst = max(points, key=by_point.__getitem__)
    detail = {
        "worst_point": list(worst),
        "slower_percent": slower(samples),
        "slower_percent_samples": samples.each_round(slower, over, under),
        "excess": [{"point": list(p), "ns": ns} for (_, p), ns in by_point.items()],
        "raw": [row for q in quantities for row in samples.by_point(q)],
    }
    broken = f"ping-pong is {slower(samples):.1f} % slower, more than {percent} %" if slower(samples) > percent else ""
    sides = {side: samples.value(side, quantity, worst) for side in (under, over)}
    return _made(
        samples,
        lambda part: max(excess(part).values()),
        (over, under),
        sides,
        "ns",
        detail,
        broken,
        of_round=lambda part: excess(part)[quantity, worst],
    )


def difference(goal: Goal, samples: Samples) -> Figure:
    """How far the mean of `quantity` of `side` over its points is off that at the point with the word `off`."""
    quantity, side, word = (goal.parameters[key] for key in ("quantity", "side", "off"))
    points = _points(goal, samples, side, quantity)

    def apart(part: Samples) -> float:
        at = [part.value(side, quantity, point) for point in points if word in point]
        others = [part.value(side, quantity, point) for point in points if word not in point]
        if not at or not others:
            raise samples.missing(f"{goal.name}: {quantity} is missing with {word}, or without")
        return abs(fmean(others) - fmean(at))

    sides = {" ".join(point[1:]): samples.value(side, quantity, point) for point in points}
    detail = {"raw": samples.by_point(quantity)}
    return _made(samples, apart, (side,), sides, goal.unit, detail)


def overlap_measure(goal: Goal, samples: Samples) -> Figure:
    """`measure` (hidden or theft) of each operation at the median over its sizes, of the worst operation.

    The operation `floor`, where one is named, is judged by nothing: it stands beside the sides. With `of_floor` the
    figure is the part of what it has, on side `beside` in the same run.
    """
    measure = goal.parameters["measure"]
    worst = min if goal.direction == "at least" else max
    side, beside = goal.parameters["side"], goal.parameters["beside"]
    floor = goal.parameters.get("floor")
    points = _points(goal, samples, side, measure)
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
    return _made(samples, of_side, (side, beside) if floor else (side,), sides, goal.unit, detail)


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
