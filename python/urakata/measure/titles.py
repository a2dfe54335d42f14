# SPDX-License-Identifier: BSD-3-Clause
"""Titles of figures, in as many lines as they need: a name of a processor or a program may be of any length."""

from __future__ import annotations

from matplotlib.figure import Figure

_PART = 0.96  # of the figure's width


def _width(figure: Figure, line: str, size: float) -> float:
    """In parts of the figure's width."""
    drawn = figure.text(0, 0, line, fontsize=size)
    width = drawn.get_window_extent().width
    drawn.remove()
    return float(width / figure.bbox.width)


def fitted(figure: Figure, text: str, size: float) -> str:
    """The text with further lines where one would be cut at the figure's sides; broken at blanks, or anywhere within
    a word that is longer than a line."""
    lines: list[str] = []
    for line in text.split("\n"):
        rest = ""
        for word in line.split(" "):
            longer = f"{rest} {word}" if rest else word
            if rest and _width(figure, longer, size) > _PART:
                lines.append(rest)
                longer = word
            while len(longer) > 1 and _width(figure, longer, size) > _PART:
                fits = next(end for end in range(len(longer) - 1, 0, -1) if _width(figure, longer[:end], size) <= _PART)
                lines.append(longer[:fits])
                longer = longer[fits:]
            rest = longer
        lines.append(rest)
    return "\n".join(lines)


def set_title(figure: Figure, text: str, size: float) -> None:
    """Above all panels."""
    figure.suptitle(fitted(figure, text, size), fontsize=size)
