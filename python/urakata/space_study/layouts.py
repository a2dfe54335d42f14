# SPDX-License-Identifier: BSD-3-Clause
"""Messages of derived datatypes between two ranks: halo patterns of known programs, and a sweep (bench/layout)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.ticker import FuncFormatter, NullFormatter

from urakata.measure.plots import BLACK, Drawing, begin, finish
from urakata.measure.scales import number_text
from urakata.measure.sides import TITLES
from urakata.measure.text_table import TextTable, ratio
from urakata.sizes import size_text
from urakata.space_study.figures import DPI, begin_panel, colour_of, finish_panel
from urakata.space_study.part import Part, Run
from urakata.space_study.results import Results, Value, side_table

PATTERN, SWEEP = "pattern", "sweep"

_QUICK = ["--blocks", "8,64", "--gaps", "2,16", "--sizes", "1K,64K"]


def _runs(quick: bool) -> list[Run]:
    return [Run(2, _QUICK if quick else [])]


def _read(record: dict[str, Any]) -> Iterator[Value]:
    if record["pattern"] == "sweep":
        yield Value(SWEEP, f"{record['block']} {record['stride']} {record['bytes']}", record["us"])
    else:
        yield Value(PATTERN, record["pattern"], record["us"])


def _row_and_column(point: str) -> tuple[tuple[int, int], int]:
    """Of a point of the sweep: block with stride, and the size of the message."""
    block, stride, size = map(int, point.split())
    return (block, stride), size


def _draw_patterns(results: Results, subtitle: str, path: Path) -> None:
    families = results.families(PATTERN)
    patterns = results.points(PATTERN)
    drawn, axes = begin_panel(8.5, 1.8 + 0.42 * len(patterns))
    width = 0.8 / len(families)
    for number, family in enumerate(families):
        ratios = results.ratios(family, PATTERN)
        here = [(place, ratios[pattern]) for place, pattern in enumerate(patterns) if pattern in ratios]
        axes.barh(
            [place + (number - (len(families) - 1) / 2) * width for place, _ in here],
            [one - 1 for _, one in here],
            left=1,
            height=width,
            color=colour_of(family),
            label=f"{TITLES[family]} in a space",
        )
    axes.axvline(1.0, color=BLACK, linewidth=1.0)
    axes.set_xscale("log")
    low, high = axes.get_xlim()
    axes.set_xlim(min(low, 0.4), max(high, 1.25))
    axes.xaxis.set_major_formatter(FuncFormatter(number_text))
    axes.xaxis.set_minor_formatter(FuncFormatter(lambda value, _: number_text(value) if _is_round(value) else ""))
    axes.set_yticks(range(len(patterns)), patterns)
    axes.invert_yaxis()
    axes.set_xlabel("time of a message in a space / alone (left of 1 is faster)")
    finish_panel(drawn, axes, "Halo patterns of known programs", subtitle, path)


def _is_round(value: float) -> bool:
    return value / 10 ** math.floor(math.log10(value)) in (2.0, 5.0)


def _draw_sweep(results: Results, subtitle: str, path: Path) -> None:
    """A panel for each MPI library: blocks with strides down, sizes across, the ratio as number and colour."""
    families = results.families(SWEEP)
    points = [_row_and_column(point) for point in results.points(SWEEP)]
    rows, columns = sorted({row for row, _ in points}), sorted({column for _, column in points})
    width = 2.2 + (0.75 * len(columns) + 0.6) * len(families)
    drawn, grid = begin(width, 2.0 + 0.36 * len(rows), columns=len(families))
    colours = ScalarMappable(Normalize(-2, 2), "PuOr_r")
    for family, axes in zip(families, grid[0], strict=True):
        cells = [[math.nan] * len(columns) for _ in rows]
        for point, one in results.ratios(family, SWEEP).items():
            row, column = _row_and_column(point)
            cells[rows.index(row)][columns.index(column)] = one
        logarithms = [[math.log2(cell) for cell in line] for line in cells]
        axes.imshow(logarithms, cmap=colours.cmap, norm=colours.norm, aspect="auto")
        for down, line in enumerate(cells):
            for across, cell in enumerate(line):
                if not math.isnan(cell):
                    colour = "white" if abs(math.log2(cell)) > 1.3 else "black"
                    axes.text(across, down, f"{cell:.2f}", ha="center", va="center", fontsize=8, color=colour)
        axes.set_xticks(range(len(columns)), [size_text(size) for size in columns])
        axes.set_yticks(range(len(rows)), [f"{size_text(block)} every {size_text(stride)}" for block, stride in rows])
        axes.set_title(TITLES[family], fontsize=11)
        axes.set_xlabel("payload")
    bar = drawn.colorbar(colours, ax=list(grid[0]), ticks=[-2, -1, 0, 1, 2])
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{2.0**value:g}"))
    bar.ax.yaxis.set_minor_formatter(NullFormatter())
    finish(drawn, path, f"Blocks at a stride: time of a message in a space / alone\n{subtitle}", 11, DPI)


def _draw(results: Results, subtitle: str, folder: Path) -> list[Drawing]:
    drawings = []
    for quantity, name, title, draw in (
        (PATTERN, "patterns", "Halo patterns", _draw_patterns),
        (SWEEP, "sweep", "Sweep over block, stride and size", _draw_sweep),
    ):
        if results.families(quantity):
            path = folder / f"layout-{name}.png"
            draw(results, subtitle, path)
            drawings.append(Drawing(title, path))
    return drawings


def _summary(results: Results) -> TextTable:
    rows = []
    for family in results.families(PATTERN):
        cells = [TITLES[family]]
        for quantity in (PATTERN, SWEEP):
            ratios = results.ratios(family, quantity)
            if not ratios:
                cells += ["-", "-"]
                continue
            worst = max(ratios, key=lambda point: ratios[point])
            cells += [ratio(geometric_mean(ratios.values())), f"{ratio(ratios[worst])} at {_point_text(worst)}"]
        rows.append(cells)
    return TextTable(
        "Derived datatypes in a space over the MPI library alone",
        ["MPI library", "patterns", "worst pattern", "sweep", "worst of the sweep"],
        rows,
        "Time of a message: geometric mean of the ratios, and the worst point.",
    )


def _point_text(point: str) -> str:
    if " " not in point:
        return point
    (block, stride), size = _row_and_column(point)
    return f"{size_text(block)} every {size_text(stride)}, {size_text(size)}"


def _tables(results: Results) -> list[TextTable]:
    if not results.families(PATTERN):
        return []
    details = ((PATTERN, "Halo patterns"), (SWEEP, "Blocks at a stride"))
    return [_summary(results), *(side_table(results, *one, "layout", _point_text) for one in details)]


LAYOUTS = Part(
    name="layouts",
    title="Derived datatypes",
    program="layout",
    runs=_runs,
    read=_read,
    tables=_tables,
    draw=_draw,
    text="Two ranks send elements of a derived datatype to and fro, in place: the halos of known programs, and blocks "
    "of bytes at a stride. The sender has just written them and the receiver reads them, as in a program; counted is "
    "the time from the call of MPI_Send to the return of the MPI_Recv that already waits: the median trip.",
)
