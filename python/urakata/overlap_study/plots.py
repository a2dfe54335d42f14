# SPDX-License-Identifier: BSD-3-Clause
"""The study's figures: a time or measure against the message size, a panel for each p_node, a line for each engine."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes

from urakata.measure.plots import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PURPLE,
    VERMILION,
    Drawing,
    begin,
    finish,
    legend_below,
    set_grid,
)
from urakata.measure.scales import label_sizes, label_values
from urakata.overlap_study.configuration import Configuration
from urakata.overlap_study.results import Results, Row

_STYLES = {
    "none": (BLACK, "o", "-"),
    "poll": (BLUE, "s", "--"),
    "spare": (GREEN, "^", "-"),
    "shared": (VERMILION, "D", "-"),
    "async": (PURPLE, "v", ":"),
    "async-spare": (ORANGE, "P", ":"),
}
_EXTRA_DASHES = ["-", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)), (0, (7, 2))]


@dataclass(frozen=True)
class Figure:
    """One kind of figure. `value` gives median and quartiles of a row."""

    name: str
    title: str
    axis: str
    value: Callable[[Row], tuple[float, float, float]]
    logarithmic: bool = True


def _time(name: str) -> Callable[[Row], tuple[float, float, float]]:
    def value(row: Row) -> tuple[float, float, float]:
        spread = row.time(name)
        return spread.median, spread.low, spread.high

    return value


def _measure(name: str, factor: float = 1.0) -> Callable[[Row], tuple[float, float, float]]:
    def value(row: Row) -> tuple[float, float, float]:
        one = factor * row.measured()[name]
        return one, one, one

    return value


FIGURES = (
    Figure(
        "overlap", "Overlap: share of the shorter part that is hidden", "hidden [%]", _measure("hidden", 100), False
    ),
    Figure("computation", "Computation time while communication runs", "compute [µs]", _time("compute")),
    Figure("communication", "Communication time alone: start and wait", "pure communication [µs]", _time("pure")),
    Figure("overall", "Overall time: start, compute, wait", "overall [µs]", _time("overall")),
    Figure("limit", "Overall time over the best possible", "T / limit", _measure("t_over_limit")),
)


def _names(configurations: list[Configuration]) -> dict[Configuration, str]:
    """Legend names, the same in all panels: the number of threads is left out where it follows from p_node."""
    short = {one: one.label.rsplit(", ", 1)[0] for one in configurations}
    unique = len({(one.ranks_per_node, name) for one, name in short.items()}) == len(configurations)
    return short if unique else {one: one.label for one in configurations}


def _style(configuration: Configuration, names: dict[Configuration, str]) -> dict[str, Any]:
    """Colour and marker say the engine; dash and filling which algorithm or number of threads."""
    colour, marker, dash = _STYLES[configuration.engine]
    variants = list(dict.fromkeys(name for one, name in names.items() if one.engine == configuration.engine))
    place = variants.index(names[configuration])
    return {
        "color": colour,
        "marker": marker,
        "linestyle": dash if place == 0 else _EXTRA_DASHES[place % len(_EXTRA_DASHES)],
        "markerfacecolor": colour if place == 0 else "white",
    }


def _draw(
    axes: Axes, figure: Figure, results: Results, here: list[Configuration], names: dict[Configuration, str]
) -> None:
    for configuration in here:
        rows = results.of(configuration)
        points = [figure.value(row) for row in rows]
        sizes = [max(row.bytes, 1) for row in rows]
        style = _style(configuration, names)
        axes.plot(
            sizes, [point[0] for point in points], label=names[configuration], linewidth=1.6, markersize=4.5, **style
        )
        axes.fill_between(
            sizes, [p[1] for p in points], [p[2] for p in points], color=style["color"], alpha=0.12, linewidth=0
        )


def _panel_title(here: list[Configuration]) -> str:
    ranks, threads = here[0].ranks_per_node, sorted({one.threads for one in here})
    counts = f"{threads[0]}" if len(threads) == 1 else f"{threads[0]} to {threads[-1]}"
    return f"{ranks} rank{'s' if ranks > 1 else ''} a node, {counts} thread{'s' if threads[-1] > 1 else ''} each"


def draw(figure: Figure, results: Results, operation: str, kind: str, subtitle: str, path: Path) -> None:
    """Writes one figure as PNG: a panel for each p_node, two in a line, with a common scale and one legend below."""
    configurations = results.of_panel(operation, kind)
    names = _names(configurations)
    nodes = sorted({one.ranks_per_node for one in configurations})
    columns = min(2, len(nodes))
    lines = math.ceil(len(nodes) / columns)
    drawn, grid = begin(7.5 if columns == 1 else 10.5, 1.2 + 3.6 * lines, columns, lines)
    panels = list(grid.flat)
    for spare in panels[len(nodes) :]:
        spare.set_visible(False)
    for ranks, axes in zip(nodes, panels, strict=False):
        here = [one for one in configurations if one.ranks_per_node == ranks]
        _draw(axes, figure, results, here, names)
        label_sizes(axes, [row.bytes for one in here for row in results.of(one)])
        if figure.logarithmic:
            axes.set_yscale("log")
        else:
            axes.set_ylim(-4, 104)
        set_grid(axes)
        axes.set_title(_panel_title(here), fontsize=11)
        if axes in grid[:, 0]:
            axes.set_ylabel(figure.axis)
    if figure.logarithmic:
        for axes in grid[:, 0]:
            label_values(axes)
    found: dict[str, Any] = {}
    for axes in panels[: len(nodes)]:
        handles, labels = axes.get_legend_handles_labels()
        found |= {label: handle for label, handle in zip(labels, handles, strict=True) if label not in found}
    order = list(dict.fromkeys(names.values()))
    legend_below(drawn, [found[line] for line in order], order, min(3, len(order)))
    finish(drawn, path, f"{figure.title}\nMPI_{operation.capitalize()}, {subtitle}", 12, dpi=140)


def draw_all(results: Results, subtitle: str, folder: Path) -> dict[tuple[str, str], list[Drawing]]:
    """All figures of all operations and kinds of computation; FIGURE-OPERATION-KIND.png in `folder`."""
    written: dict[tuple[str, str], list[Drawing]] = {}
    for operation, kind in results.panels():
        for figure in FIGURES:
            path = folder / f"{figure.name}-{operation}-{kind}.png"
            draw(figure, results, operation, kind, f"computation: {kind}; {subtitle}", path)
            written.setdefault((operation, kind), []).append(Drawing(figure.title, path))
    return written
