"""The paper's figures: time of a collective across a long link against its size, a line for each method."""

from __future__ import annotations

import re
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from urakata.sites_study.results import Key, Results
from urakata.study.scales import begin_axes, label_sizes, label_values

# Okabe and Ito's colours, which the colour-blind can tell apart; forced lanes and sockets are thin, by their number.
_STYLES = {"host": ("#E69F00", "^"), "links": ("#D55E00", "v"), "urakata": ("#009E73", "o")}


def _draw(results: Results, bed: str, operation: str, subtitle: str, path: Path) -> None:
    sizes = results.sizes(bed, operation)
    drawn, axes = plt.subplots(figsize=(7.2, 4.8), layout="constrained")
    for number, method in enumerate(results.methods(bed, operation)):
        times = {size: us for size in sizes if (us := results.us(Key(bed, operation, size, method))) is not None}
        values = [us / 1e3 for us in times.values()]
        if method in _STYLES:
            colour, marker = _STYLES[method]
            axes.plot(list(times), values, color=colour, marker=marker, label=method, markersize=5)
        else:
            grey = "#56B4E9" if method.startswith("sockets") else "#999999"
            line = ("--", ":", "-.", (0, (1, 3)))[number % 4]
            axes.plot(list(times), values, color=grey, linestyle=line, linewidth=1.2, label=method)
    rows = {size: results.rows.get(Key(bed, operation, size, "urakata")) for size in sizes}
    predicted = {size: row.predicted_us for size, row in rows.items() if row and row.predicted_us}
    if predicted:
        axes.plot(list(predicted), [us / 1e3 for us in predicted.values()], "x", color="#000000", label="predicted")
    label_sizes(axes, sizes, "bytes in all")
    axes.set_yscale("log")
    label_values(axes)
    axes.set_ylabel("to the last rank's end [ms]")
    axes.set_title(f"{operation}: {bed}\n{subtitle}", fontsize=10)
    begin_axes(axes)
    axes.legend(frameon=False, fontsize=9)
    drawn.savefig(path)
    plt.close(drawn)


def draw_all(results: Results, subtitle: str, folder: Path) -> list[str]:
    """Writes an SVG for each link and operation; their names."""
    names = []
    for bed in results.beds():
        for operation in results.operations(bed):
            name = f"{operation}-{re.sub(r'[^0-9a-z.]+', '-', bed.replace('%', 'pc'))}.svg"
            _draw(results, bed, operation, subtitle, folder / name)
            names.append(name)
    return names
