"""The paper's figures: elapsed and lost time of a broadcast against its size, a line for each method."""

from __future__ import annotations

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from urakata.kernel_study.methods import METHODS, PARTS
from urakata.kernel_study.results import Key, Results
from urakata.study.scales import begin_axes, label_sizes, label_values

# Okabe and Ito's colours, which the colour-blind can tell apart.
_STYLES = {
    "explicit": ("#D55E00", "s"),
    "blocked": ("#999999", "x"),
    "host": ("#E69F00", "^"),
    "poll": ("#CC79A7", "v"),
    "thread": ("#0072B2", "D"),
    "kernel": ("#009E73", "o"),
}
_WHAT = {"us": "from start to last end [µs]", "lost_us": "CPU time lost [µs]", "stolen_us": "taken from the relay [µs]"}


def _draw(results: Results, part: str, operation: str, quantity: str, subtitle: str, path: Path) -> bool:
    sizes = [size for one, size in results.points(part) if one == operation]
    drawn, axes = plt.subplots(figsize=(6.4, 4.6), layout="constrained")
    shown = False
    for method in results.methods(part):
        values = {size: results.median(Key(part, operation, size, method), quantity) for size in sizes}
        found = {size: value for size, value in values.items() if value is not None and value > 0}
        if found:
            colour, marker = _STYLES[method]
            axes.plot(
                list(found),
                list(found.values()),
                color=colour,
                marker=marker,
                label=METHODS[method].title,
                markersize=5,
            )
            shown = True
    if shown:
        label_sizes(axes, sizes)
        axes.set_yscale("log")
        label_values(axes)
        axes.set_ylabel(_WHAT[quantity])
        axes.set_title(f"{PARTS[part].title}\n{operation}; {subtitle}", fontsize=10)
        begin_axes(axes)
        axes.legend(frameon=False, fontsize=9)
        drawn.savefig(path)
    plt.close(drawn)
    return shown


def draw_all(results: Results, subtitle: str, folder: Path) -> list[str]:
    """Writes an SVG for each part, operation and quantity; their names."""
    names = []
    for part in PARTS:
        for operation in dict.fromkeys(one for one, _ in results.points(part)):
            for quantity in _WHAT:
                path = folder / f"{part}-{operation}-{quantity.removesuffix('_us')}.svg"
                if _draw(results, part, operation, quantity, subtitle, path):
                    names.append(path.name)
    return names
