# SPDX-License-Identifier: BSD-3-Clause
"""Tables on narrow terminals: "jacobi.c:34" is one word at 80 columns, at 40 and at 20."""

from __future__ import annotations

import io

import pytest
from rich import box
from rich.console import Console
from rich.table import Table

from urakata.tables import print_table

PLACE = "/home/user/solver/src/jacobi.c:34"


def printed(table: Table, width: int, last: str = "", prose: bool = False) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    print_table(console, table, last, prose)
    return console.file.getvalue().splitlines()  # type: ignore[attr-defined]


def calls(kind: box.Box | None) -> Table:
    table = Table("call", "calls", "mean", "call site", box=kind)
    table.add_row("MPI_Allreduce", "1000", "12.5 µs", PLACE)
    table.add_row("MPI_Barrier", "3", "1.25 ms", "a.c:7")
    return table


@pytest.mark.parametrize("width", [20, 40, 80, 200])
@pytest.mark.parametrize("kind", [None, box.SIMPLE])
def test_no_name_and_no_number_is_broken(width: int, kind: box.Box | None) -> None:
    for last in ("", "call site"):
        lines = printed(calls(kind), width, last)
        for words in (["MPI_Allreduce", "1000", "12.5 µs"], ["MPI_Barrier", "3", "1.25 ms"], [PLACE], ["a.c:7"]):
            assert any(all(word in line for word in words) for line in lines), lines


def test_the_last_column_goes_below_its_row_where_the_table_is_too_wide() -> None:
    """At 80 columns it fits; at 50 each call site is below its call."""
    assert any("MPI_Allreduce" in line and PLACE in line for line in printed(calls(None), 80, "call site"))
    lines = printed(calls(None), 50, "call site")
    assert [line.split()[0] for line in lines] == ["call", "MPI_Allreduce", PLACE, "MPI_Barrier", "a.c:7"]
    assert max(map(len, lines)) <= 50


def test_prose_wraps_beside_the_names_or_below_them() -> None:
    table = lambda: Table("option", "what it does", box=None, pad_edge=False)  # noqa: E731
    wide, narrow = table(), table()
    for one in (wide, narrow):
        one.add_row("URAKATA_CONNECTIONS", "connections for long messages " * 3)
    assert all(len(line) <= 60 for line in printed(wide, 60, "what it does", prose=True))
    assert printed(wide, 60, "what it does", prose=True)[1].startswith("URAKATA_CONNECTIONS  connections")
    lines = printed(narrow, 40, "what it does", prose=True)
    assert lines[1] == "URAKATA_CONNECTIONS" and all(line.startswith("    ") for line in lines[2:])
    assert max(map(len, lines)) <= 40
