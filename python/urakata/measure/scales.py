# SPDX-License-Identifier: BSD-3-Clause
"""Axes of figures: message sizes in powers of two, and values with plain numbers."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter, NullLocator


def _size_label(size: float, _position: object = None) -> str:
    """8, 64K, 4M: short enough for an axis."""
    for power, unit in ((20, "M"), (10, "K")):
        if size >= 2**power:
            return f"{size / 2**power:g}{unit}"
    return f"{size:g}"


def number_text(value: float, _position: object = None) -> str:
    """0.5, 20, 3000, 4e+06: a label of a logarithmic axis."""
    return f"{value:g}" if 1e-3 <= abs(value) < 1e5 else f"{value:.0e}"


def label_sizes(axes: Axes, sizes: Sequence[int], title: str = "message size [bytes]") -> None:
    """A logarithmic axis of powers of two, such as message sizes."""
    if not any(sizes):
        axes.set_xticks([1], ["no data"])
        return
    axes.set_xscale("log", base=2)
    few = sorted({max(size, 1) for size in sizes})
    low, high = math.floor(math.log2(few[0])), math.ceil(math.log2(few[-1]))
    # A step that divides 10 or 20 puts a mark on 1K and 1M.
    step = next(one for one in (1, 2, 5, 10) if (high - low) / one <= 9)
    axes.set_xticks(few if len(few) <= 8 else [2**power for power in range(low, high + 1) if power % step == 0])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(_size_label))
    axes.set_xlabel(title)


def label_values(axes: Axes) -> None:
    """Plain numbers on a logarithmic axis, at least two of them; few decades get 2 and 5 beside the 1."""
    low, high = axes.get_ylim()
    if high < 6 * low:
        middle = math.sqrt(low * high)
        low, high = middle / 2.5, middle * 2.5
        axes.set_ylim(low, high)
    axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0) if high < 300 * low else (1.0,)))
    axes.yaxis.set_major_formatter(FuncFormatter(number_text))
    axes.yaxis.set_minor_formatter(NullFormatter())
