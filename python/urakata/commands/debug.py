"""urakata debug: gdb on one rank of a space."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from urakata import __file__ as package
from urakata.paths import NotFoundError

_EPILOG = """
[bold]Examples[/bold]

  urakata debug 4711

  urakata debug 4711 -- -batch -ex backtrace      one look, while the job goes on

The pids are those of the ranks themselves: ps shows them under the program's name, below urakata-keeper.
"""


def debug(
    pid: Annotated[int, typer.Argument(help="Process of the rank.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[-- OPTIONS OF gdb]", show_default=False)] = None,
) -> None:
    """Start gdb on one rank of a space, with the symbols of that rank only."""
    gdb = shutil.which("gdb")
    if gdb is None:
        raise NotFoundError("gdb is not installed; urakata debug needs one with Python (Debian's package gdb)")
    script = Path(package).with_name("gdb_rank.py")
    os.execv(gdb, [gdb, "-p", str(pid), "-x", str(script), *(arguments or [])])


def register(app: typer.Typer) -> None:
    """Adds the command debug."""
    app.command("debug", epilog=_EPILOG)(debug)
