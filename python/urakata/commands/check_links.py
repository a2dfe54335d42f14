# SPDX-License-Identifier: BSD-3-Clause
"""urakata check --links: measures what the links between sites carry, once, and keeps it for all jobs."""

from __future__ import annotations

import sys
from pathlib import Path

import typer
from rich.console import Console

from urakata import launcher, paths
from urakata.json_output import write_json

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def measure_links(mpi: launcher.Mpi, ranks: int, arguments: list[str], file: Path | None, as_json: bool) -> None:
    """By a job of so many ranks; `arguments` are the launcher's. Without `file`: kept where all jobs read it.

    Exit code 1 where all ranks are at one site. Raises NotFoundError where the job or the file fails."""
    from urakata import site_links

    target = (file or site_links.users_file()).absolute()

    try:
        tomllib.loads(target.read_text(encoding="utf-8") if target.exists() else "")
        target.parent.mkdir(parents=True, exist_ok=True)
        found = site_links.ask(
            site_links.of_mpi(mpi, ranks, arguments),
            launcher.libraries(mpi),
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
