# SPDX-License-Identifier: BSD-3-Clause
"""Tables of text, which the terminal and the page show alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table

from urakata.tables import print_table


@dataclass(frozen=True)
class TextTable:
    """A table of text. The first column and those of `textual` are names, the others are numbers."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    note: str = ""
    textual: tuple[str, ...] = ()


def time_text(us: float) -> str:
    """Three digits with a unit."""
    if us >= 1e6:
        return f"{us / 1e6:.3g} s"
    if us >= 1e3:
        return f"{us / 1e3:.3g} ms"
    return f"{us:.3g} µs"


def cell(value: float | None, form: Callable[[float], str] = time_text) -> str:
    """A number by `form`, or that it was not measured."""
    return "-" if value is None else form(value)


def percent(part: float) -> str:
    """A part of 1."""
    return f"{100 * part:.0f} %"


def ratio(value: float) -> str:
    """With two decimals."""
    return f"{value:.2f}"


def ratio_cell(over: float | None, under: float | None) -> str:
    """One by the other, or that one of them was not measured."""
    return ratio(over / under) if over and under else "-"


def show(tables: Iterable[TextTable], console: Console) -> None:
    """Prints them."""
    for one in tables:
        table = Table(title=one.title, title_justify="left", title_style="bold", header_style="bold", caption=one.note)
        table.box, table.padding = box.SIMPLE, (0, 1, 0, 0)  # no lines that a narrow terminal would break
        table.caption_justify = "left"
        for number, column in enumerate(one.columns):
            table.add_column(column, justify="left" if number == 0 or column in one.textual else "right")
        for row in one.rows:
            table.add_row(*row)
        print_table(console, table)
        console.print()
