# SPDX-License-Identifier: BSD-3-Clause
"""urakata schedule: shows, proves and draws schedules."""

from __future__ import annotations

import subprocess
from typing import Annotated

import typer

from urakata import paths


def schedule(
    arguments: Annotated[
        list[str] | None, typer.Argument(metavar="show|check|draw [FILE] [OPTION]...", show_default=False)
    ] = None,
) -> None:
    """Show, check or draw schedules, from a file or of an algorithm ([dim]urakata schedule --help[/dim] lists all)."""
    done = subprocess.run([str(paths.program("urakata-schedule")), *(arguments or ["--help"])], check=False)
    raise typer.Exit(done.returncode)


def register(app: typer.Typer) -> None:
    # Options are urakata-schedule's own, its --help included.
    settings = {"ignore_unknown_options": True, "help_option_names": []}
    app.command(context_settings=settings)(schedule)
