# SPDX-License-Identifier: BSD-3-Clause
"""urakata debug: gdb on one rank of a space."""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path
from typing import Annotated

import typer

from urakata import __file__ as package
from urakata import typed
from urakata.paths import NotFoundError

_EPILOG = """
[bold]Examples[/bold]

  urakata debug 4711

  urakata debug 4711 -- -batch -ex backtrace
      # one look, while the job goes on

The pids are those of the ranks themselves: ps shows them under the program's name, below urakata-spaced.

Exit code: gdb's; 2 there is no gdb, or no such rank, or it is not yours.
"""

_SPACE_DAEMON = "urakata-spaced"


def _program(pid: int) -> str:
    """The name of the file that the process runs: for every rank in a space the space daemon's."""
    return Path(os.readlink(f"/proc/{pid}/exe")).name.removesuffix(" (deleted)")


def _status(pid: int) -> dict[str, str]:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return {name: value.strip() for name, _, value in (line.partition(":") for line in lines)}


def _is_rank(pid: int) -> bool:
    """Whether it is a rank in a space: the space daemon started it, and it shows the daemon's program as its own."""
    return _program(pid) == _SPACE_DAEMON == _program(int(_status(pid)["PPid"]))


def _ranks() -> list[str]:
    """The ranks in spaces of this machine that may be looked at: "4711 (app)"."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if _is_rank(pid := int(entry.name)):
                found.append(f"{pid} ({_status(pid)['Name']})")
    return sorted(found)


def _check(pid: int) -> None:
    """Raises NotFoundError where the process is no rank that this user may look at."""
    try:
        is_rank = _is_rank(pid)
    except PermissionError as error:
        owner = Path(f"/proc/{pid}").stat().st_uid
        why = f"belongs to user {owner}: only that user and root may look into it"
        if owner == os.geteuid():
            why = "may not be looked into: the system does not permit it"
        raise NotFoundError(f"process {pid} {why}. {_advice()}") from error
    except OSError as error:
        raise NotFoundError(f"there is no process {pid}. {_advice()}") from error
    if not is_rank:
        name = _status(pid)["Name"]
        raise NotFoundError(f"process {pid} ({name}) is no rank of a space: a rank's pid is needed. {_advice()}")


def _advice() -> str:
    if ranks := _ranks():
        return f"Pids of ranks in spaces here: {', '.join(ranks)}"
    return f"No rank lives in a space here ({typed.command()} run --space); for any other program, gdb -p PID serves"


def debug(
    pid: Annotated[int, typer.Argument(help="Pid of the rank's process, not the rank's number.")],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="[-- OPTIONS OF gdb]", show_default=False)] = None,
) -> None:
    """Start gdb on one rank of a space, with the symbols of that rank only."""
    gdb = shutil.which("gdb")
    if gdb is None:
        raise NotFoundError("gdb is not installed; urakata debug needs one with Python (Debian's package gdb)")
    _check(pid)
    script = Path(package).with_name("gdb_rank.py")
    os.execv(gdb, [gdb, "-p", str(pid), "-x", str(script), *(arguments or [])])


def register(app: typer.Typer) -> None:
    """Adds the command debug."""
    app.command("debug", epilog=_EPILOG)(debug)
