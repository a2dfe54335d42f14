# SPDX-License-Identifier: BSD-3-Clause
"""urakata bench space."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from urakata import launcher, paths
from urakata.commands.bench.document import begin_document, conclude, make_folder, show_again, show_document
from urakata.commands.bench.options import DryRun, Earlier, PagesFolder, Timeout, listed
from urakata.commands.bench.progress import with_progress
from urakata.json_output import JsonFile

if TYPE_CHECKING:
    from urakata.space_study.session import Place

EXAMPLES = """
[bold]Examples[/bold]

  urakata bench space --quick
      # a first look, in about a minute

  urakata bench space
      # the study, on every MPI library that is installed

  urakata bench space --mpi openmpi,mpich --repeats 5

  urakata bench space --json space.json
      # numbers only: no tables, figures or page

  urakata bench space --from urakata-space
      # tables and figures anew from an earlier run

Exit code: 0 all was measured; 1 a job failed; 2 it cannot be measured, or a value is not valid.
"""


def _present(document: dict[str, Any], output: Path, console: Console) -> list[str]:
    from urakata.space_study.page import write_study
    from urakata.space_study.parts import PARTS
    from urakata.space_study.results import from_json

    results = from_json(document["rows"])
    parts = list(PARTS.values())
    show_document(document, [table for part in parts for table in part.tables(results)], console)
    if not results.values:
        return []
    rounds = document["settings"]["repeats"]
    subtitle = f"{document['machine']['cpu']}, {rounds} round{'s' if rounds > 1 else ''}"
    drawings = {part.name: part.draw(results, subtitle, output) for part in parts}
    write_study(document, results, drawings, parts, output / "index.html")
    return ["index.html", f"{sum(map(len, drawings.values()))} figures"]


def _installed() -> list[launcher.Mpi]:
    """The MPI libraries that are found here, of all families."""
    found = []
    for family in launcher.FAMILIES:
        with suppress(paths.NotFoundError):
            found.append(launcher.find_mpi(family))
    return found


def _place(wanted: list[str] | None, programs: list[str], timeout: float) -> Place:
    """The hosts that are wanted, or all that are here, with the programs built for each."""
    from urakata.measure.program import find_program
    from urakata.space_study.session import Place

    found = [launcher.find_mpi(name) for name in wanted] if wanted else _installed()
    if not found:
        raise paths.NotFoundError("no MPI library was found. In the source tree, run ./dev setup; or name one: --host")
    hosts = {mpi.family: mpi for mpi in found}
    built = {(name, family): find_program(mpi, name=name) for name in programs for family, mpi in hosts.items()}
    return Place(hosts, built, timeout)


def space(
    part: Annotated[
        str | None,
        typer.Option(
            "--part", help="Parts of the study, a list: messages, layouts, memory, starting.  [dim]default: all[/dim]"
        ),
    ] = None,
    mpi: Annotated[
        str | None,
        typer.Option(
            "--mpi",
            "--host",
            metavar="MPI",
            help="openmpi, mpich, impi, or folders of MPIs, a list.  [dim]default: all that are found[/dim]",
        ),
    ] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Rounds over all sides.  [dim]default: 5, quick 2[/dim]")
    ] = None,
    timeout: Timeout = 120.0,
    output: PagesFolder = Path("urakata-space"),
    only_json: JsonFile = None,
    again: Earlier = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and rounds.")] = False,
    dry_run: DryRun = False,
) -> None:
    """What the ranks of a node gain from one address space: each MPI library alone and with --space, beside the
    floor."""
    from urakata.measure.machine import describe_machine
    from urakata.measure.sides import both_of
    from urakata.space_study.parts import PARTS
    from urakata.space_study.session import command, jobs_of, run_session

    console = Console()
    parts = [PARTS[name] for name in listed(part, "--part", list(PARTS))] if part is not None else list(PARTS.values())
    if again:
        show_again("space", again, output, _present)
        return
    if launcher.usable_cores() < 2:
        raise paths.NotFoundError("two ranks need two cores, and here is only one that may be used")
    place = _place(listed(mpi, "--mpi") if mpi is not None else None, [one.program for one in parts], timeout)
    jobs = jobs_of(parts, both_of(place.hosts), quick)
    if dry_run:
        for job in jobs:
            console.print(f"{job.label}\n  [dim]{' '.join(command(job, place))}[/dim]", highlight=False, soft_wrap=True)
        return
    if not only_json:
        make_folder(output)
    rounds = repeats or (2 if quick else 5)
    machine = describe_machine(*place.hosts.values())
    session = with_progress(rounds * len(jobs), lambda progress: run_session(jobs, place, rounds, progress))
    document = {
        **begin_document("space"),
        "machine": machine.as_json(),
        "settings": {"repeats": rounds, "parts": ", ".join(one.name for one in parts), "quick": quick},
        "warnings": machine.warnings(),
        "failed": [vars(one) for one in session.failed],
        "rows": session.results.as_json(),
    }
    conclude("space", document, output, only_json, _present)
