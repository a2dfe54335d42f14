# SPDX-License-Identifier: BSD-3-Clause
"""The paper's figures: elapsed and lost time of a broadcast against its size, a line for each variant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from urakata.kernel_study.methods import ALGORITHMS, METHODS, PARTS, STEERING, Variant
from urakata.kernel_study.results import Results, key_of
from urakata.measure.plots import BLUE, GREEN, ORANGE, PURPLE, VERMILION, begin, discard, finish, set_grid
from urakata.measure.scales import label_sizes, label_values

_STYLES = {
    "explicit": (VERMILION, "s"),
    "blocked": ("#999999", "x"),
    "host": (ORANGE, "^"),
    "poll": (PURPLE, "v"),
    "thread": (BLUE, "D"),
    "kernel": (GREEN, "o"),
}
_WHAT = {"us": "from start to last end [µs]", "lost_us": "CPU time lost [µs]", "stolen_us": "taken from the relay [µs]"}


_LINES = {"none": "-", "rps": "--", "rfs": ":"}


def _label(variant: Variant) -> str:
    return METHODS[variant.method].title + ("" if variant.steering == "none" else f", {STEERING[variant.steering]}")


def _plot(
    axes: Axes, results: Results, part: str, points: list[tuple[str, int]], variant: Variant, quantity: str
) -> bool:
    values = {point[1]: results.median(key_of(part, point, variant), quantity) for point in points}
    found = {size: value for size, value in values.items() if value is not None and value > 0}
    if found:
        colour, marker = _STYLES[variant.method]
        style: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": _LINES[variant.steering]}
        axes.plot(list(found), list(found.values()), label=_label(variant), markersize=5, **style)
    return bool(found)


def _draw(
    results: Results, part: str, operation: str, algorithm: str, quantity: str, subtitle: str, path: Path
) -> bool:
    points = [point for point in results.points(part) if point[0] == operation]
    drawn, ((axes,),) = begin(6.4, 4.6)
    variants = [variant for variant in results.variants(part) if variant.algorithm == algorithm]
    shown = [_plot(axes, results, part, points, variant, quantity) for variant in variants]
    if any(shown):
        label_sizes(axes, [size for _, size in points])
        axes.set_yscale("log")
        label_values(axes)
        axes.set_ylabel(_WHAT[quantity])
        how = f", {ALGORITHMS[algorithm].title}" if algorithm else ""
        set_grid(axes)
        axes.legend(frameon=False, fontsize=9)
        finish(drawn, path, f"{PARTS[part].title}\n{operation}{how}; {subtitle}")
    else:
        discard(drawn)
    return any(shown)


def draw_all(results: Results, subtitle: str, folder: Path) -> list[str]:
    """Writes an SVG for each part, operation, algorithm (named where there are several) and quantity; their names."""
    names = []
    for part in PARTS:
        algorithms = list(dict.fromkeys(variant.algorithm for variant in results.variants(part)))
        for operation in dict.fromkeys(one for one, _ in results.points(part)):
            for algorithm in algorithms:
                what = f"{part}-{operation}" + (f"-{algorithm}" if len(algorithms) > 1 else "")
                for quantity in _WHAT:
                    path = folder / f"{what}-{quantity.removesuffix('_us')}.svg"
                    if _draw(results, part, operation, algorithm, quantity, subtitle, path):
                        names.append(path.name)
    return names
