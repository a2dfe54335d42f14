# SPDX-License-Identifier: BSD-3-Clause
"""urakata tune: measures what Urakata's choices reckon with, once, and keeps it for all jobs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from urakata import launcher, paths
from urakata.commands.job_options import (
    RANKS_NAMES,
    JobCommand,
    LauncherArgumentsOption,
    McaOption,
    MpiWithoutProgramOption,
    launcher_words,
)
from urakata.json_output import JsonFlag, write_json

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

_GROUP_EXAMPLES = """
[bold]Examples[/bold]

  urakata tune sites -n 8
      # what the links between the sites of these 8 ranks carry
"""

_EXAMPLES = """
[bold]Examples[/bold]

  urakata tune sites -n 8 --launcher-argument=--hostfile \\
      --launcher-argument=nodes.txt

  urakata tune sites -n 8 --file links.toml
      # and later: urakata run --set LINK_RATES=links.toml -n 8 -- ./app

In a job of your own, which fills an empty file: [bold]srun -N 8 urakata-exec --link-rates links.toml -- ./app[/bold]

Exit code: 0; 1 where all ranks are at one site, and there is nothing to measure; 2 where the job cannot be started.
"""


def sites(
    ranks: Annotated[
        int, typer.Option(*RANKS_NAMES, metavar="N", min=2, help="Ranks of the job; one on each node does.")
    ],
    host: MpiWithoutProgramOption = None,
    launcher_arguments: LauncherArgumentsOption = None,
    mca: McaOption = None,
    file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where it is kept.  [dim]default: the file that all jobs read[/dim]"),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Measure what the links between sites carry, and keep it: jobs read it and need not measure when they start."""
    from urakata import site_links

    chosen = launcher.find_host(host)
    target = (file or site_links.users_file()).absolute()

    try:
        tomllib.loads(target.read_text(encoding="utf-8") if target.exists() else "")
        target.parent.mkdir(parents=True, exist_ok=True)
        found = site_links.ask(
            site_links.of_host(chosen, ranks, launcher_words(chosen, launcher_arguments, mca)),
            launcher.libraries(chosen),
            target.parent,
        )
        if found.entries:
            site_links.keep(target, found.entries)
    except tomllib.TOMLDecodeError as error:
        raise paths.NotFoundError(f"{target}: {error}; mend the file, or remove it") from error
    except OSError as error:
        raise paths.NotFoundError(f"{target}: {error.strerror}") from error
    links = (found.sites or {}).get("links", [])
    if as_json:
        write_json({"file": str(target), "sites": (found.sites or {}).get("found"), "links": links})
    else:
        console = Console(highlight=False, soft_wrap=True)
        console.print(
            (found.sites or {}).get("found", f"all {ranks} ranks are at one site: there is no link to measure")
        )
        for link in links:
            console.print(site_links.described(link))
        if found.entries:
            console.print(f"kept in {target}")
    if not found.entries:
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Adds the commands of tune."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
    group.command("sites", cls=JobCommand, epilog=_EXAMPLES)(sites)

    @group.callback(epilog=_GROUP_EXAMPLES)
    def tune() -> None:
        """Measure what choices reckon with, once, and keep it for all jobs."""

    app.add_typer(group, name="tune")
