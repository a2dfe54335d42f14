# SPDX-License-Identifier: BSD-3-Clause
"""Figures, from an empty one to its file. Nothing is shown on a screen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from urakata.measure.titles import set_title

# Okabe and Ito's colours, which the colour-blind can tell apart.
BLACK, BLUE, GREEN = "#000000", "#0072B2", "#009E73"
ORANGE, PURPLE, VERMILION = "#E69F00", "#CC79A7", "#D55E00"


@dataclass(frozen=True)
class Drawing:
    """A figure that was drawn."""

    title: str
    path: Path


def begin(width: float, height: float, columns: int = 1, rows: int = 1, sharey: bool = True) -> tuple[Figure, Any]:
    """An empty figure in inches, and its axes as an array of rows."""
    return plt.subplots(rows, columns, figsize=(width, height), sharey=sharey, squeeze=False, layout="constrained")


def set_grid(axes: Axes, axis: Literal["both", "x", "y"] = "both", bare: tuple[str, ...] = ("top", "right")) -> None:
    """A light grid behind the curves, and no frame at the sides named."""
    axes.grid(True, which="major", axis=axis, color="#d0d0d0", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in bare:
        axes.spines[side].set_visible(False)


def legend_below(figure: Figure, handles: Any, labels: Any, columns: int, size: float | None = None) -> None:
    """One legend for all panels."""
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False, fontsize=size)


def discard(figure: Figure) -> None:
    """To be called instead of finish where there is nothing to show."""
    plt.close(figure)


def finish(figure: Figure, path: Path, title: str = "", size: float = 10, dpi: float | None = None) -> None:
    """Writes the file by its ending, with a title above all panels, in as many lines as it needs."""
    if title:
        set_title(figure, title, size)
    figure.savefig(path, dpi=dpi)
    plt.close(figure)
