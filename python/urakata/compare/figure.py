# SPDX-License-Identifier: BSD-3-Clause
"""The comparison's figure: each round's ratio to the MPI library's time, with median and interval of each side."""

from __future__ import annotations

from pathlib import Path

from urakata.compare.side import Side
from urakata.compare.trials import Session
from urakata.measure.plots import BLUE, GREEN, begin, finish, set_grid


def draw(session: Session, chosen: Side, title: str, path: Path) -> bool:
    """Writes an SVG or PNG; False, and no file, where no side could be compared."""
    shown = session.compared()
    if not shown:
        return False
    figure, ((axes,),) = begin(8, 2.1 + 0.5 * len(shown))
    axes.axvline(1, color="#555555", linewidth=1)
    for place, trials in enumerate(shown):
        colour = GREEN if trials.side == chosen else BLUE
        known = session.ratio(trials)
        ratios = session.ratios(trials)
        axes.plot([known.low, known.high], [place, place], color=colour, linewidth=7, alpha=0.25, solid_capstyle="butt")
        axes.plot(ratios, [place] * len(ratios), "o", color=colour, markersize=4, alpha=0.7)
        axes.plot([known.median], [place], "|", color=colour, markersize=18, markeredgewidth=2.5)
    axes.set_yticks(range(len(shown)), [one.side.title for one in shown])
    axes.set_ylim(len(shown) - 0.4, -0.6)
    time = "time after MPI_Init" if session.inside else "time of the whole job"
    axes.set_xlabel(
        f"{time} over the MPI library's in the same round\n(line: the MPI library alone; left of it is faster)"
    )
    set_grid(axes, "x", ("top", "right", "left"))
    finish(figure, path, title, 11)
    return True
