# SPDX-License-Identifier: BSD-3-Clause
"""urakata tune sites: the name that `urakata check --links` had in earlier releases."""

from __future__ import annotations

from typing import Annotated

import typer

from urakata import launcher
from urakata.commands.check_links import measure_links
from urakata.commands.job_options import (
    RANKS_NAMES,
    JobCommand,
    LauncherArgumentsOption,
    LinksFileOption,
    McaOption,
    MpiWithoutProgramOption,
    launcher_words,
)
from urakata.json_output import JsonFlag
from urakata.renamed import renamed


def sites(
    ranks: Annotated[
        int, typer.Option(*RANKS_NAMES, metavar="N", min=2, help="Ranks of the job; one on each node does.")
    ],
    mpi: MpiWithoutProgramOption = None,
    launcher_arguments: LauncherArgumentsOption = None,
    mca: McaOption = None,
    file: LinksFileOption = None,
    as_json: JsonFlag = False,
) -> None:
    """As urakata check --links."""
    chosen = launcher.find_mpi(mpi)
    measure_links(chosen, ranks, launcher_words(chosen, launcher_arguments, mca), file, as_json)


def register(app: typer.Typer) -> None:
    """Adds the hidden command tune sites."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
    group.command("sites", cls=JobCommand)(renamed(sites, "tune sites", "check --links"))

    @group.callback()
    def tune() -> None:
        """As urakata check --links."""

    app.add_typer(group, name="tune", hidden=True)
