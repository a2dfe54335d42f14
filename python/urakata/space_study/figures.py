# SPDX-License-Identifier: BSD-3-Clause
"""What the study's figures have in common: a colour for each MPI library, and a hollow dashed line for the MPI library
alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from urakata.measure.plots import BLACK, BLUE, GREEN, VERMILION, Drawing, begin, finish, legend_below, set_grid
from urakata.measure.scales import label_sizes, label_values
from urakata.measure.sides import Side
from urakata.space_study.results import Results

DPI = 140
_COLOURS = {"openmpi": BLUE, "mpich": VERMILION, "impi": GREEN}
_MARKERS = {"openmpi": "o", "mpich": "s", "impi": "^"}
_GREY = "#666666"


def colour_of(family: str) -> str:
    """Of an MPI library."""
    return _COLOURS[family]


def style(side: Side) -> dict[str, Any]:
    """Of a side's line."""
    colour = colour_of(side.family)
    return {
        "color": colour,
        "marker": _MARKERS[side.family],
        "linestyle": "-" if side.space else (0, (4, 2)),
        "markerfacecolor": colour if side.space else "white",
        "linewidth": 1.8 if side.space else 1.3,
        "markersize": 4.5,
        "label": side.title,
    }


def begin_panel(width: float, height: float) -> tuple[Figure, Axes]:
    """An empty figure in inches."""
    drawn, ((axes,),) = begin(width, height)
    set_grid(axes)
    return drawn, axes


def finish_panel(drawn: Figure, axes: Axes, title: str, subtitle: str, path: Path) -> None:
    """Legend below with two lines, so that an MPI library has a column; writes the PNG."""
    handles, labels = axes.get_legend_handles_labels()
    legend_below(drawn, handles, labels, (len(labels) + 1) // 2, 9)
    finish(drawn, path, f"{title}\n{subtitle}", 11, DPI)


@dataclass(frozen=True)
class Floor:
    """A grey line: what the hardware needs, or can do at most. `value` of a message size; None where it has none."""

    title: str
    value: Callable[[Results, int], float | None]
    dash: Any = (0, (1, 1))


@dataclass(frozen=True)
class Curves:
    """A quantity of all sides against the message size, or another number, from `least` to `most`."""

    name: str
    title: str
    axis: str
    quantity: str
    floors: Sequence[Floor] = ()
    least: int = 1
    most: int = 1 << 62
    across: str = "message size [bytes]"

    def draw(self, results: Results, subtitle: str, path: Path) -> bool:
        """Writes the PNG. Bands run from the least to the most of the rounds. False where nothing was measured."""
        sizes = [size for size in results.points(self.quantity) if self.least <= size <= self.most]
        if not sizes:
            return False
        drawn, axes = begin_panel(8.5, 5.2)
        for side in results.sides(self.quantity):
            known = results.known(side, self.quantity, sizes)
            axes.plot(list(known), [one.value for one in known.values()], **style(side))
            low, high = [one.low for one in known.values()], [one.high for one in known.values()]
            axes.fill_between(list(known), low, high, color=colour_of(side.family), alpha=0.12, linewidth=0)
        for floor in self.floors:
            values = {size: value for size in sizes if (value := floor.value(results, size)) is not None}
            if values:
                axes.plot(list(values), list(values.values()), color=_GREY, linestyle=floor.dash, label=floor.title)
        axes.set_yscale("log")
        label_sizes(axes, sizes, self.across)
        label_values(axes)
        axes.set_ylabel(self.axis)
        finish_panel(drawn, axes, self.title, subtitle, path)
        return True


def draw_curves(curves: Iterable[Curves], results: Results, subtitle: str, folder: Path) -> list[Drawing]:
    """Those for which something was measured, each as NAME.png in the folder."""
    named = [(one, folder / f"{one.name}.png") for one in curves]
    return [Drawing(one.title, path) for one, path in named if one.draw(results, subtitle, path)]


def draw_ratios(results: Results, quantity: str, title: str, subtitle: str, path: Path) -> bool:
    """A line for each MPI library: in a space over alone, against the message size. False where nothing was
    measured."""
    families = results.families(quantity)
    if not families:
        return False
    drawn, axes = begin_panel(8.5, 4.4)
    axes.axhline(1.0, color=BLACK, linewidth=1.0)
    for family in families:
        ratios = {size: ratio for size, ratio in results.ratios(family, quantity).items() if size > 0}
        axes.plot(list(ratios), list(ratios.values()), **style(Side(family, "space")))
    axes.set_yscale("log")
    label_sizes(axes, [size for size in results.points(quantity) if size > 0])
    label_values(axes)
    axes.set_ylabel("in a space / alone")
    finish_panel(drawn, axes, title, subtitle, path)
    return True
