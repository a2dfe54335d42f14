# SPDX-License-Identifier: BSD-3-Clause
"""Tables on a terminal of any width. Names and numbers are never broken or cut, since they are typed again."""

from __future__ import annotations

import io

from rich.console import Console, RenderableType
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

_LEAST_PROSE = 24
_INDENT = 4
_WIDEST = 10_000


def _lines(shown: RenderableType, like: Console, width: int) -> list[str]:
    """As a console of this width would show it, with the colours of `like`."""
    file = io.StringIO()
    Console(file=file, width=width, force_terminal=like.is_terminal, highlight=False).print(shown)
    return file.getvalue().splitlines()


def _width(table: Table, console: Console) -> int:
    """What the table takes where nothing but its prose wraps, and that at its least."""
    return Measurement.get(console, console.options.update(max_width=_WIDEST), table).minimum


def _below(text: RenderableType, like: Console) -> list[str]:
    """A cell on lines of its own; a word that is longer than these, such as a path, stays whole."""
    words = Text.from_markup(text) if isinstance(text, str) else text
    width = like.width - _INDENT
    if isinstance(words, Text):
        width = max(width, *(len(word) for word in words.plain.split()), 1)
    return [" " * _INDENT + line for line in _lines(words, like, width)]


def print_table(console: Console, table: Table, last: str = "", prose: bool = False) -> None:
    """Prints the table; where the console is too narrow for it, its last column (`last`: that one's heading) goes below
    each row. Only `prose` in that column is wrapped beside the others. Without `last` the table may be wider than the
    console."""
    for column in table.columns:
        if prose and column.header == last:
            column.min_width = _LEAST_PROSE
        else:
            column.no_wrap, column.overflow = True, "ignore"
            wide = console.options.update(max_width=_WIDEST)
            column.min_width = max(
                Measurement.get(console, wide, cell).maximum for cell in (column.header, *column.cells)
            )
    if not last or _width(table, console) <= console.width:
        lines = _lines(table, console, max(console.width, _width(table, console)))
    else:
        cells = list(table.columns[-1].cells)
        table.columns.pop()
        lines = _lines(table, console, max(console.width, _width(table, console)))
        foot = 1 if table.box and table.show_edge else 0
        head = len(lines) - len(cells) - foot
        rows = zip(lines[head:], cells, strict=False)
        both = [line for row, cell in rows for line in [row, *_below(cell, console)]]
        lines = [*lines[:head], *both, *lines[head + len(cells) :]]
    for line in lines:
        console.print(Text.from_ansi(line.rstrip()), highlight=False, soft_wrap=True)
