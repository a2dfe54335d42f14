# SPDX-License-Identifier: BSD-3-Clause
"""urakata info: the name that `urakata check --options` had in earlier releases."""

from __future__ import annotations

from typing import Annotated

import typer

from urakata.commands.check_options import show_options
from urakata.json_output import JsonFlag
from urakata.renamed import renamed


def info(
    arguments: Annotated[list[str] | None, typer.Argument(metavar="OPTION OF urakata-exec")] = None,
    expert: Annotated[bool, typer.Option("--expert")] = False,
    as_json: JsonFlag = False,
) -> None:
    """As urakata check --options."""
    show_options(arguments or [], as_json, expert)


def register(app: typer.Typer) -> None:
    """Adds the hidden command info."""
    settings = {"ignore_unknown_options": True}
    app.command("info", hidden=True, context_settings=settings)(renamed(info, "info", "check --options"))
