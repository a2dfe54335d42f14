# SPDX-License-Identifier: BSD-3-Clause
"""Lines of the report on a terminal."""

from __future__ import annotations

import textwrap

from rich.console import Console
from rich.markup import escape

_LEAST_WIDTH = 40


def show_line(console: Console, text: str, style: str = "") -> None:
    """A line that the terminal may break, but not we: so it can be searched and copied."""
    console.print(escape(text), highlight=False, soft_wrap=True, style=style)


def show_sentence(console: Console, text: str, indent: str = "", style: str = "") -> None:
    """Broken between words: no name, no line number is cut."""
    width = max(_LEAST_WIDTH, console.width)
    for line in textwrap.wrap(text, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False):
        show_line(console, line, style)
