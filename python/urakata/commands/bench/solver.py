# SPDX-License-Identifier: BSD-3-Clause
"""urakata bench solver."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from urakata import launcher, paths
from urakata.commands.bench.document import begin_document, conclude, make_folder, show_again, show_document
from urakata.commands.bench.options import DryRun, Earlier, LinkRate, Timeout, listed, numbers, open_hosts
from urakata.commands.bench.progress import with_progress
from urakata.json_output import JsonFile

if TYPE_CHECKING:
    from urakata.measure.session import Refused
    from urakata.solver_study.results import Results
    from urakata.solver_study.session import Place

WAYS = ("messages", "persistent", "neighbour", "put-fence", "put-pscw", "put-flush", "put-notify", "sockets")
_DEFAULT_WAYS = ",".join(way for way in WAYS if way != "sockets")
_COUNTED = (4, 8, 16, 32, 64, 100)

EXAMPLES = """
[bold]Examples[/bold]

  urakata bench solver --quick
      # a first look, in about a minute

  urakata bench solver
      # the study: 100^3 rows, blocks of rows and METIS

  urakata bench solver --parts 4,16,64,100
      # with as many ranks, whatever cores there are

  urakata bench solver --mpi mpich --n 64 --ways messages,neighbour,put-flush

  urakata bench solver --hosts 2 --ways messages,neighbour,sockets
      # over two test hosts on this machine

  urakata bench solver --json solver.json
      # numbers only: no tables, figures or page

  urakata bench solver --from urakata-solver
      # tables and figures anew from an earlier run

Exit code: 0 all was measured; 1 a job failed or gave a wrong result; 2 it cannot be measured, or a value is not valid.
"""


def _present(document: dict[str, Any], output: Path, console: Console) -> list[str]:
    from urakata.solver_study.figures import draw_all
    from urakata.solver_study.page import write_csv, write_study
    from urakata.solver_study.results import from_json
    from urakata.solver_study.tables import all_tables

    results = from_json(document)
    cores = document["machine"]["cores"]
    show_document(document, all_tables(results, cores), console)
    if not results.rows:
        return []
    subtitle = f"{document['settings']['n']}³ rows, 27 points; {document['machine']['cpu']}, {cores} cores"
    drawings = draw_all(results, subtitle, cores, output)
    write_study(document, results, drawings, output / "index.html")
    write_csv(results, output / "solver.csv")
    return ["index.html", "solver.csv", *(drawing.path.name for drawing in drawings)]


def _default_parts() -> list[int]:
    """Up to the cores, or 2 and 4 where there are few."""
    cores = max(launcher.usable_cores(), 4)
    return [parts for parts in (2, 4, 8, 16, 32, 64, 100) if parts <= cores]


def _count_all(place: Place, n: int, partitions: list[str], parts: list[int]) -> tuple[Results, list[Refused]]:
    """The counts of the partitions that can be made here, and why the others cannot."""
    from urakata.measure.running import JobError
    from urakata.measure.session import Refused
    from urakata.solver_study.results import Results
    from urakata.solver_study.session import count

    results, refused = Results(), []
    counted = sorted({one for one in (*_COUNTED, *parts) if one <= n**3})
    for partition in partitions:
        try:
            count(place, n, partition, counted, results)
        except JobError as error:
            refused.append(Refused(f"partitions by {partition}", str(error)))
    return results, refused


def solver(
    n: Annotated[
        int | None, typer.Option("--n", min=2, max=1000, help="Edge of the grid.  [dim]default: 100, quick 32[/dim]")
    ] = None,
    parts: Annotated[
        str | None,
        typer.Option(help="Parts, a rank for each; a list.  [dim]default: 2, 4 and so on up to the cores[/dim]"),
    ] = None,
    partition: Annotated[str, typer.Option(help="rows (blocks of rows), metis; a list.")] = "rows,metis",
    ways: Annotated[str, typer.Option(help=f"Ways to exchange, a list of {', '.join(WAYS)}.")] = _DEFAULT_WAYS,
    measure: Annotated[str, typer.Option(help="exchange, spmv, cg, pipelined; a list.")] = "exchange,spmv,cg,pipelined",
    mode: Annotated[
        str | None,
        typer.Option(help="alone, urakata, space; a list.  [dim]default: all; no space over test hosts[/dim]"),
    ] = None,
    mpi: Annotated[
        str | None,
        typer.Option("--mpi", "--host", metavar="MPI", help="openmpi, mpich, impi, or folders of MPIs, a list."),
    ] = None,
    hosts: Annotated[
        int | None, typer.Option(min=2, help="Over so many test hosts on this machine, a rank on each.")
    ] = None,
    rate: LinkRate = "1gbit",
    iterations: Annotated[int | None, typer.Option(min=1, help="Most of a solver.  [dim]default: 20[/dim]")] = None,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Rounds over all sides.  [dim]default: 3, quick 2[/dim]")
    ] = None,
    timeout: Timeout = 600.0,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for page, figures, CSV and JSON.")] = Path(
        "urakata-solver"
    ),
    only_json: JsonFile = None,
    again: Earlier = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small grid, two parts, fewer rounds.")] = False,
    dry_run: DryRun = False,
) -> None:
    """What a solver's exchange with its neighbours costs, by each way of MPI: alone, under Urakata, in a space."""
    from urakata.measure.machine import describe_machine
    from urakata.measure.program import find_program
    from urakata.measure.sides import MODES, Side
    from urakata.solver_study.results import MEASURES, PARTITIONS
    from urakata.solver_study.session import Amounts, Place, crowded, jobs_of, rank_command, run_session

    console = Console()
    if again:
        show_again("solver", again, output, _present)
        return
    edge = n or (32 if quick else 100)
    chosen = numbers(parts, "--parts") if parts else [2] if quick else _default_parts()
    if hosts:
        if parts:
            raise typer.BadParameter("over test hosts there is one part for each of them", param_hint="--parts")
        chosen = [hosts]
    if max(chosen) > edge**3:
        raise typer.BadParameter(f"{max(chosen)} parts are more than there are rows", param_hint="--parts")
    partitions = listed(partition, "--partition", list(PARTITIONS))
    modes = listed(mode or ("alone,urakata" if hosts else ",".join(MODES)), "--mode", MODES)
    if hosts and "space" in modes:
        raise typer.BadParameter("a test host has one rank: there is nobody to share a space with", param_hint="--mode")
    amounts = Amounts(
        n=edge,
        iterations=iterations or 20,
        turns=3,
        operations=50 if quick else 10,
        measure=listed(measure, "--measure", list(MEASURES)),
    )
    found = {one.family: one for one in (launcher.find_mpi(name) for name in listed(mpi or "openmpi", "--mpi"))}
    place = Place(found, {name: find_program(one, name="solver") for name, one in found.items()}, timeout)
    sides = [Side(family, one) for family in found for one in modes]
    jobs = jobs_of([(name, one) for name in partitions for one in chosen], sides, listed(ways, "--ways", WAYS))
    if dry_run:
        for job in jobs:
            words = " ".join(rank_command(job, place, amounts))
            console.print(f"{job.label}\n  [dim]{words}[/dim]", highlight=False, soft_wrap=True)
        return
    if not only_json:
        make_folder(output)
    counts, refused = _count_all(place, edge, partitions, chosen)
    jobs = [job for job in jobs if (job.partition, job.parts) in counts.partitions]
    if not jobs:
        raise paths.NotFoundError("; ".join(f"{one.what}: {one.reason}" for one in refused))
    rounds = repeats or (2 if quick else 3)
    machine = describe_machine(*found.values())
    warnings = machine.warnings()
    if many := crowded(chosen):
        listed_parts = ", ".join(map(str, many))
        warnings.append(
            f"{listed_parts} parts are more than the {machine.cores} cores: counts are exact, but times are the "
            "scheduler's as much as the exchange's"
        )
    with ExitStack() as stack:
        if hosts:
            place = replace(place, test_hosts=open_hosts(hosts, rate, stack))
        session = with_progress(
            rounds * len(jobs), lambda progress: run_session(jobs, place, amounts, rounds, progress)
        )
    session.results.partitions = counts.partitions
    document = {
        **begin_document("solver"),
        "machine": machine.as_json(),
        "settings": {
            "n": edge,
            "repeats": rounds,
            "iterations": amounts.iterations,
            "test_hosts": hosts or 0,
            "rate": rate if hosts else "",
            "quick": quick,
        },
        "warnings": warnings,
        "refused": [vars(one) for one in (*refused, *session.refused)],
        "failed": [vars(one) for one in session.failed],
        **session.results.as_json(),
    }
    conclude("solver", document, output, only_json, _present)
