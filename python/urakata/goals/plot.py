# SPDX-License-Identifier: BSD-3-Clause
"""The README's plot: every point of overlap-overall-worst, Urakata's time over the MPI library's by the message's
size."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from urakata.measure.plots import BLUE, VERMILION, begin, finish, set_grid

_PLACES = (
    ("4 hosts, 1gbit", "o", BLUE, "four hosts, 1 Gb/s, one rank each"),
    ("node, 2 ranks", "s", VERMILION, "one node, two ranks"),
)
_OPERATIONS = {"ibcast": "MPI_Ibcast", "iallgather": "MPI_Iallgather", "iallreduce": "MPI_Iallreduce"}
_UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20}
_TICKS = {8: "8", 1 << 10: "1 Ki", 64 << 10: "64 Ki", 1 << 20: "1 Mi", 4 << 20: "4 Mi"}


def _bytes(size: str) -> int:
    number, unit = size.split()
    return int(number) * _UNITS[unit]


def draw(ratios: Sequence[dict[str, Any]], path: Path) -> None:
    """Writes an SVG or PNG. `ratios`: the goal's, as its entry in the JSON file has them; there is at least one."""
    figure, (axes,) = begin(11.6, 3.8, columns=len(_OPERATIONS))
    points = [(*one["point"], one["ratio"]) for one in ratios]
    for one, (operation, title) in zip(axes, _OPERATIONS.items(), strict=True):
        one.axhline(1, color="#555555", linewidth=1)
        for place, marker, colour, label in _PLACES:
            line = sorted((_bytes(size), ratio) for at, what, size, ratio in points if (at, what) == (place, operation))
            one.plot([x for x, _ in line], [y for _, y in line], marker=marker, color=colour, label=label)
        one.set_xscale("log", base=2)
        one.set_xticks(list(_TICKS), list(_TICKS.values()))
        one.set_ylim(0, 1.1 * max(1.0, *(ratio for *_, ratio in points)))
        one.set_xlabel("message, bytes")
        one.set_title(title)
        set_grid(one, bare=())
    axes[0].set_ylabel("start + compute + wait:\nUrakata / Open MPI alone")
    axes[0].legend(loc="lower left")
    finish(figure, path)
