# SPDX-License-Identifier: BSD-3-Clause
"""Times of collectives across long links against their sizes: a line for each method, as in the paper, and what a
site leader that computes costs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import matplotlib

from urakata.measure.plots import BLACK, BLUE, GREEN, ORANGE, VERMILION, begin, finish, set_grid
from urakata.measure.scales import label_sizes, label_values
from urakata.sites_study.methods import FORCED
from urakata.sites_study.results import Key, Results

# Forced lanes and sockets are thin, more are darker.
Colour = tuple[float, float, float, float]
_ENGINES = {"poll": (BLUE, "o"), "thread": (VERMILION, "s")}
_STYLES = {"host": (ORANGE, "^"), "links": (VERMILION, "v"), "urakata": (GREEN, "o")}


def _shades(methods: Sequence[str], kinds: tuple[str, ...], colours: str) -> dict[str, Colour]:
    """A shade for each method of these kinds, from light to dark."""
    alike = [method for method in methods if method.startswith(kinds)]
    return {method: matplotlib.colormaps[colours](0.4 + 0.5 * i / len(alike)) for i, method in enumerate(alike)}


def _draw(results: Results, bed: str, operation: str, subtitle: str, path: Path) -> None:
    sizes = results.sizes(bed, operation)
    drawn, ((axes,),) = begin(8.8, 4.8)
    methods = results.methods(bed, operation)
    shades = {**_shades(methods, ("sockets ",), "Blues"), **_shades(methods, FORCED, "Greys")}
    for number, method in enumerate(methods):
        times = {size: us for size in sizes if (us := results.us(Key(bed, operation, size, method))) is not None}
        values = [us / 1e3 for us in times.values()]
        if method in _STYLES:
            colour, marker = _STYLES[method]
            axes.plot(list(times), values, color=colour, marker=marker, label=method, markersize=5)
        else:
            line = ("--", ":", "-.", (0, (1, 3)))[number % 4]
            axes.plot(list(times), values, color=shades[method], linestyle=line, linewidth=1.2, label=method)
    rows = {size: results.rows.get(Key(bed, operation, size, "urakata")) for size in sizes}
    predicted = {size: row.predicted_us for size, row in rows.items() if row and row.predicted_us}
    if predicted:
        axes.plot(list(predicted), [us / 1e3 for us in predicted.values()], "x", color=BLACK, label="predicted")
    label_sizes(axes, sizes, "bytes in all")
    axes.set_yscale("log")
    label_values(axes)
    axes.set_ylabel("to the last rank's end [ms]")
    set_grid(axes)
    axes.legend(frameon=False, fontsize=9, loc="center left", bbox_to_anchor=(1, 0.5))
    finish(drawn, path, f"{operation}: {bed}\n{subtitle}")


def _draw_relayed(results: Results, bed: str, operation: str, subtitle: str, path: Path) -> None:
    """Left: until the last of the others has it, while the site leader waits and while it computes. Right: its loss."""
    drawn, ((times, losses),) = begin(10.4, 4.4, columns=2, sharey=False)
    all_sizes: set[int] = set()
    for engine, (colour, marker) in _ENGINES.items():
        rows = {
            key.bytes: row.medians()
            for key, row in results.relayed.items()
            if (key.bed, key.operation, key.method) == (bed, operation, engine)
        }
        sizes = sorted(rows)
        all_sizes.update(sizes)
        for name, line, state in (("idle_us", "--", "waits"), ("us", "-", "computes")):
            values = [rows[size][name] / 1e3 for size in sizes]
            times.plot(sizes, values, line, color=colour, marker=marker, markersize=5, label=f"{engine}, it {state}")
        lost = [rows[size]["lost_us"] / 1e3 for size in sizes]
        losses.plot(sizes, lost, color=colour, marker=marker, markersize=5, label=engine)
    for axes in (times, losses):
        label_sizes(axes, sorted(all_sizes), "bytes in all")
        set_grid(axes)
        axes.legend(frameon=False, fontsize=9)
    times.set_yscale("log")
    label_values(times)
    times.set_ylabel("to the last of the other ranks [ms]")
    losses.set_ylabel("computing time lost by the site leader [ms]")
    finish(drawn, path, f"{operation} while a site leader computes: {bed}\n{subtitle}")


def _file_name(operation: str, bed: str) -> str:
    return f"{operation}-{re.sub(r'[^0-9a-z.]+', '-', bed.replace('%', 'pc'))}.svg"


def draw_all(results: Results, subtitle: str, folder: Path) -> list[str]:
    """Writes an SVG for each link and operation; their names."""
    names = []
    for bed in results.beds():
        for operation in results.operations(bed):
            names.append(_file_name(operation, bed))
            _draw(results, bed, operation, subtitle, folder / names[-1])
    for bed, operation in dict.fromkeys((key.bed, key.operation) for key in results.relayed):
        names.append(_file_name(f"leader-{operation}", bed))
        _draw_relayed(results, bed, operation, subtitle, folder / names[-1])
    return names
