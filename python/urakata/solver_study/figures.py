# SPDX-License-Identifier: BSD-3-Clause
"""The study's two figures: SpMV and CG against the number of parts, for each partition, by its three methods."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from urakata.measure.plots import (
    BLUE,
    GREEN,
    PURPLE,
    VERMILION,
    Drawing,
    begin,
    discard,
    finish,
    legend_below,
    set_grid,
)
from urakata.measure.scales import label_values
from urakata.measure.sides import TITLES, Side
from urakata.solver_study.results import PARTITIONS, Results
from urakata.solver_study.tables import urakata_mode

_Value = Callable[[Results, str, tuple[str, int]], float | None]


def _messages(measure: str) -> _Value:
    return lambda results, family, place: results.median(Side(family, "alone"), place, measure, "messages")


def _one_sided(measure: str) -> _Value:
    def value(results: Results, family: str, place: tuple[str, int]) -> float | None:
        found = results.synchronised(Side(family, "alone"), place, measure)
        return found[1] if found else None

    return value


def _neighbour(measure: str, mode: str) -> _Value:
    return lambda results, family, place: results.median(Side(family, mode), place, measure, "neighbour")


def _lines(measure: str, mode: str) -> list[tuple[str, str, str, _Value]]:
    third = "double-buffered" if mode == "space" else "neighbour, Urakata"
    lines = [
        ("Isend/Irecv/Waitall", BLUE, "s", _messages(measure)),
        ("one-sided, synchronised", VERMILION, "^", _one_sided(measure)),
        (third, GREEN, "o", _neighbour(measure, mode)),
    ]
    if measure == "cg":
        lines.append((f"{third}, pipelined CG", PURPLE, "D", _neighbour("pipelined", mode)))
    return lines


def _panel(axes: Axes, results: Results, family: str, partition: str, measure: str, cores: int) -> bool:
    places = [place for place in results.places() if place[0] == partition]
    drawn = False
    for title, colour, marker, value in _lines(measure, urakata_mode(results)):
        found = {place[1]: us for place in places if (us := value(results, family, place)) is not None}
        if found:
            axes.plot(list(found), list(found.values()), color=colour, marker=marker, markersize=5, label=title)
            drawn = True
    if not drawn:
        return False
    parts = [place[1] for place in places]
    axes.set_xscale("log", base=2)
    axes.set_xticks(parts, [str(one) for one in parts])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.set_yscale("log")
    label_values(axes)
    if parts[-1] > cores:
        axes.axvspan(max([cores, *(one for one in parts if one <= cores)]) * 1.1, parts[-1] * 1.15, color="#eeeeee")
        axes.set_title(f"{PARTITIONS[partition]} (grey: more parts than cores)", fontsize=10)
    else:
        axes.set_title(PARTITIONS[partition], fontsize=10)
    axes.set_xlabel("parts")
    set_grid(axes)
    return True


def _draw(results: Results, family: str, measure: str, title: str, axis: str, cores: int, path: Path) -> bool:
    partitions = [name for name in PARTITIONS if any(place[0] == name for place in results.places())]
    drawn, grid = begin(0.8 + 4.4 * len(partitions), 4.6, columns=len(partitions))
    shown = [
        _panel(axes, results, family, partition, measure, cores)
        for axes, partition in zip(grid[0], partitions, strict=True)
    ]
    if any(shown):
        grid[0][0].set_ylabel(axis)
        handles, labels = grid[0][shown.index(True)].get_legend_handles_labels()
        legend_below(drawn, handles, labels, len(labels), 9)
        finish(drawn, path, title, 11)
    else:
        discard(drawn)
    return any(shown)


def draw_all(results: Results, subtitle: str, cores: int, folder: Path) -> list[Drawing]:
    """Writes an SVG for each MPI library, and SpMV and CG."""
    drawings = []
    for family in results.families():
        for measure, what, axis in (("spmv", "SpMV", "µs a product"), ("cg", "CG", "µs an iteration")):
            title = f"{what}, {TITLES[family]}"
            path = folder / f"{measure}-{family}.svg"
            if _draw(results, family, measure, f"{title}\n{subtitle}", axis, cores, path):
                drawings.append(Drawing(title, path))
    return drawings
