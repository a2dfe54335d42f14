# SPDX-License-Identifier: BSD-3-Clause
"""Figures of one side over, or less, another."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from statistics import geometric_mean, median
from typing import Any

from urakata.goals.definitions import Goal
from urakata.goals.errors import MeasurementError
from urakata.goals.outcome import Figure, made, points_of
from urakata.goals.samples import Point, Samples, quotient


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
        for point in points_of(goal, samples, sides[0], quantity):
            if len({value for side in sides for value in samples.series(side, quantity, point)}) > 1:
                broken.append(f"{quantity} differs at {', '.join(point)}")
    return "; ".join(broken)


def _unders(goal: Goal) -> list[str]:
    """The side or sides that are divided by."""
    under = goal.parameters["under"]
    return [under] if isinstance(under, str) else under


def _of_extreme(
    samples: Samples,
    extreme: Callable[[Iterable[float]], float],
    at: Callable[[Samples, Any], float],
    points: Sequence[Any],
    worst: Any,
    *rest: Any,
) -> Figure:
    """The largest or least value of any point; of single rounds that of the point that is worst of all."""
    return made(
        samples, lambda part: extreme(at(part, p) for p in points), *rest, of_round=lambda part: at(part, worst)
    )


def geometric_mean_of_ratios(goal: Goal, samples: Samples) -> Figure:
    """Geometric mean over all points of `over` / `under`.

    Not met either if the ratio is above `nowhere_above` at a point, where that is given, or a quantity of `same`
    differs between the sides.
    """
    quantity, over, under = (goal.parameters[key] for key in ("quantity", "over", "under"))
    points = points_of(goal, samples, under, quantity)

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
    return made(samples, figure, (over, under), sides, unit, detail, broken)


def worst_ratio(goal: Goal, samples: Samples) -> Figure:
    """The largest `over` / `under`, or / the least of several, of any point.

    Not met either if a quantity of `same` differs between the sides, or if the ratio of quantity `also` is above
    `also_at_most` at a point.
    """
    quantity, over, unders = goal.parameters["quantity"], goal.parameters["over"], _unders(goal)

    def ratio(part: Samples, point: Point) -> float:
        return _ratio(part, quantity, point, over, unders)

    points = points_of(goal, samples, over, quantity)
    by_point = {point: ratio(samples, point) for point in points}
    worst = max(by_point, key=by_point.__getitem__)
    sides = {side: samples.value(side, quantity, worst) for side in (*unders, over)}
    broken = [_differing(goal, samples, over, *unders)]
    ordered = dict(sorted(by_point.items(), key=lambda item: -item[1]))
    detail = {"worst_point": list(worst), "ratios": _ratio_rows(ordered), "raw": samples.by_point(quantity)}
    if also := goal.parameters.get("also"):
        most = goal.parameters["also_at_most"]
        others = {
            p: max(ratios(samples, [p], also, over, s)[p] for s in unders) for p in points_of(goal, samples, over, also)
        }
        detail |= {f"{also}_ratios": _ratio_rows(others), f"{also}_raw": samples.by_point(also)}
        broken += [
            f"{also} is {value:.2f} at {', '.join(p)}, more than {most:g}"
            for p, value in others.items()
            if value > most
        ]
    unit = goal.parameters.get("sides_unit", "us")
    why = "; ".join(filter(None, broken))
    return _of_extreme(samples, max, ratio, points, worst, (over, *unders), sides, unit, detail, why)


def least_ratio(goal: Goal, samples: Samples) -> Figure:
    """The least ratio of any point: the least of several sides (`over`) / `under`."""
    quantity, overs, under = (goal.parameters[key] for key in ("quantity", "over", "under"))

    def ratio(part: Samples, point: Point) -> float:
        return min(_ratio(part, quantity, point, side, [under]) for side in overs)

    points = points_of(goal, samples, under, quantity)
    by_point = {point: ratio(samples, point) for point in points}
    worst = min(by_point, key=by_point.__getitem__)
    sides = {side: samples.value(side, quantity, worst) for side in (*overs, under)}
    detail = {"worst_point": list(worst), "ratios": _ratio_rows(by_point), "raw": samples.by_point(quantity)}
    return _of_extreme(samples, min, ratio, points, worst, (*overs, under), sides, "us", detail)


def worst_side_ratio(goal: Goal, samples: Samples) -> Figure:
    """The largest of several sides (`over`) divided by the side `under`, at one point."""
    quantity, overs, under = (goal.parameters[key] for key in ("quantity", "over", "under"))
    (point,) = points_of(goal, samples, under, quantity)

    def figure(part: Samples) -> float:
        return max(_ratio(part, quantity, point, over, [under]) for over in overs)

    sides = {side: samples.value(side, quantity, point) for side in (under, *overs)}
    detail = {"raw": samples.by_point(quantity)}
    return made(samples, figure, (under, *overs), sides, "us", detail)


def median_ratio(goal: Goal, samples: Samples) -> Figure:
    """The median over all points of `over` / `under`, or / the least of several."""
    quantity, over, unders = goal.parameters["quantity"], goal.parameters["over"], _unders(goal)
    points = points_of(goal, samples, over, quantity)

    def by_point(part: Samples) -> dict[Point, float]:
        return {p: _ratio(part, quantity, p, over, unders) for p in points}

    def figure(part: Samples) -> float:
        return median(by_point(part).values())

    sides = {side: median(samples.value(side, quantity, p) for p in points) for side in (*unders, over)}
    detail = {"ratios": _ratio_rows(by_point(samples)), "raw": samples.by_point(quantity)}
    return made(samples, figure, (over, *unders), sides, "us", detail)


def bypass_excess(goal: Goal, samples: Samples) -> Figure:
    """How many nanoseconds `over` is slower than `under`, at the worst size and call; not met either if the ping-pong
    is slower by more than `percent`, where that is given, at the median over sizes."""
    over, under = (goal.parameters[key] for key in ("over", "under"))
    percent = goal.parameters.get("percent", math.inf)
    quantities = ("pingpong_ns", "call_ns")
    points = [(q, p) for q in quantities for p in points_of(goal, samples, under, q)]

    def excess(part: Samples, at: tuple[str, Point]) -> float:
        return part.value(over, *at) - part.value(under, *at)

    def slower(part: Samples) -> float:
        sizes = points_of(goal, samples, under, "pingpong_ns")
        return 100.0 * (median(list(ratios(part, sizes, "pingpong_ns", over, under).values())) - 1.0)

    by_point = {at: excess(samples, at) for at in points}
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
    at_worst = (quantity, worst)
    return _of_extreme(samples, max, excess, points, at_worst, (over, under), sides, "ns", detail, broken)
