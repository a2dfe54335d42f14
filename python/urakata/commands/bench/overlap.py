# SPDX-License-Identifier: BSD-3-Clause
"""urakata bench overlap."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from urakata import launcher, paths
from urakata.commands import job_options
from urakata.commands.bench.document import begin_document, conclude, make_folder, show_again, show_document
from urakata.commands.bench.options import (
    DryRun,
    Earlier,
    LinkRate,
    PagesFolder,
    Timeout,
    listed,
    listed_sizes,
    numbers,
    open_hosts,
)
from urakata.commands.bench.progress import with_progress
from urakata.commands.run import check_options
from urakata.json_output import JsonFile

if TYPE_CHECKING:
    from urakata.overlap_study.plan import Axes

_QUICK_SIZES = "8,8K,64K,1M"
_STUDY_SIZES = "1:4M"

EXAMPLES = """
[bold]Examples[/bold]

  urakata bench overlap --quick
      # a first look, in about a minute

  urakata bench overlap
      # the study: MPI_Iallgather, 1 B to 4 MiB, every division

  urakata bench overlap --operation iallreduce,ibcast --kind compute,memory \\
      --amount match

  urakata bench overlap --mpi mpich --host-async
      # beside MPICH's own progress thread

  urakata bench overlap --hosts 4 --rate 1gbit
      # over four test hosts on this machine

  urakata bench overlap --nodes 8 --launcher-argument=--hostfile \\
      --launcher-argument=nodes --cores 64

  urakata bench overlap --json overlap.json
      # numbers only: no tables, figures or page

  urakata bench overlap --from urakata-overlap
      # tables and figures anew from an earlier run

Exit code: 0 all was measured; 1 a job failed or gave a wrong result; 2 it cannot be measured, or a value is not valid.
"""


def _axes(
    operation: str,
    kind: str,
    ranks_per_node: str | None,
    threads: str | None,
    engine: str,
    algorithm: str | None,
    mpi_async: bool,
    cores: int,
    quick: bool,
) -> Axes:
    from urakata.overlap_study.configuration import DEFAULT_ALGORITHM, KINDS, OF_MPI_ASYNC, OF_URAKATA, OPERATIONS
    from urakata.overlap_study.plan import Axes, default_ranks_per_node, quick_ranks_per_node

    engines = listed(engine, "--engine", ("none", *OF_URAKATA))
    divisions = [quick_ranks_per_node(cores)] if quick else default_ranks_per_node(cores)
    return Axes(
        operations=listed(operation, "--operation", OPERATIONS),
        kinds=listed(kind, "--kind", KINDS),
        ranks_per_node=numbers(ranks_per_node, "--ranks-per-node") if ranks_per_node else divisions,
        engines=engines + (list(OF_MPI_ASYNC) if mpi_async else []),
        threads=numbers(threads, "--threads") if threads else (),
        algorithms=listed(algorithm, "--algorithm") if algorithm else [DEFAULT_ALGORITHM],
    )


def _present(document: dict[str, Any], output: Path, console: Console) -> list[str]:
    from urakata.overlap_study.page import write_study
    from urakata.overlap_study.plots import draw_all
    from urakata.overlap_study.results import from_json
    from urakata.overlap_study.tables import all_tables

    results = from_json(document["rows"])
    show_document(document, all_tables(results), console)
    if not results.rows:
        return []
    subtitle = f"{document['machine']['host']} on {document['machine']['cpu']}, {document['settings']['cores']} cores"
    figures = draw_all(results, subtitle, output)
    write_study(document, results, figures, output / "index.html")
    return ["index.html", f"{sum(map(len, figures.values()))} figures"]


def overlap(
    operation: Annotated[str, typer.Option(help="Operations, such as iallgather,ibcast.")] = "iallgather",
    sizes: Annotated[
        str | None,
        typer.Option(help=f"Message sizes: a list or powers of two from:to.  [dim]default: {_STUDY_SIZES}[/dim]"),
    ] = None,
    ranks_per_node: Annotated[
        str | None, typer.Option(help="p_node, a list.  [dim]default: 1,2,4,8 as far as there are cores[/dim]")
    ] = None,
    threads: Annotated[
        str | None,
        typer.Option(help="t_calc, a list.  [dim]default: cores / p_node, one less where a core is spared[/dim]"),
    ] = None,
    engine: Annotated[
        str, typer.Option(help="none (the MPI library alone), poll, spare and shared, a list.")
    ] = "none,poll,spare,shared",
    algorithm: Annotated[
        str | None, typer.Option(help="Algorithms of Urakata, a list, such as ring,recursive_doubling.")
    ] = None,
    mpi_async: Annotated[
        bool, typer.Option("--host-async", help="Also the MPI library's own progress thread (MPICH, Intel MPI).")
    ] = False,
    kind: Annotated[
        str | None,
        typer.Option(
            help="Computation: paper (the study's), compute (in cache), memory (triad); a list.  "
            "[dim]default: paper, quick compute[/dim]"
        ),
    ] = None,
    amount: Annotated[
        str | None,
        typer.Option(
            help="How much is computed: paper (the study's), or match (as long as the MPI library communicates).  "
            "[dim]default: paper, quick match[/dim]"
        ),
    ] = None,
    scale: Annotated[float, typer.Option(min=1e-6, help="Multiplies the amount.")] = 1.0,
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Rounds over all configurations.  [dim]default: 4[/dim]")
    ] = None,
    budget_ms: Annotated[
        float | None,
        typer.Option(min=1, help="Longest time for a loop at one size.  [dim]default: 300, quick 60[/dim]"),
    ] = None,
    mpi: Annotated[
        str | None,
        typer.Option("--mpi", "--host", metavar="MPI", help=job_options.MPIS),
    ] = None,
    hosts: Annotated[
        int | None, typer.Option(min=2, help="Over so many test hosts on this machine, joined by shaped links.")
    ] = None,
    rate: LinkRate = "1gbit",
    nodes: Annotated[int, typer.Option(min=1, help="Nodes of a real cluster, as the launcher knows them.")] = 1,
    cores: Annotated[
        int | None, typer.Option(min=1, help="n_cpu of a node.  [dim]default: the cores of this machine[/dim]")
    ] = None,
    launcher_arguments: job_options.LauncherArgumentsOption = None,
    program: Annotated[
        Path | None, typer.Option(help="bench/overlap, built for this host.  [dim]default: built when needed[/dim]")
    ] = None,
    timeout: Timeout = 600.0,
    output: PagesFolder = Path("urakata-overlap"),
    only_json: JsonFile = None,
    again: Earlier = None,
    quick: Annotated[
        bool, typer.Option("--quick", help=f"A first look: sizes {_QUICK_SIZES}, one division, short loops.")
    ] = False,
    dry_run: DryRun = False,
) -> None:
    """How much of a non-blocking collective is hidden behind computation, and by which means best."""
    console = Console()
    if again:
        show_again("overlap", again, output, _present)
        return
    # A small part of the study's work would be next to nothing beside the messages: nothing could hide behind it.
    kind = kind or ("compute" if quick else "paper")
    amount = amount or ("match" if quick else "paper")
    if amount not in ("paper", "match"):
        raise typer.BadParameter(f"{amount!r}: valid are paper, match", param_hint="--amount")
    if hosts and nodes > 1:
        raise typer.BadParameter("test hosts are on this machine: not together with --nodes", param_hint="--hosts")
    chosen_sizes = listed_sizes(sizes or (_QUICK_SIZES if quick else _STUDY_SIZES), "--sizes")

    from urakata.measure.machine import describe_machine
    from urakata.measure.program import find_program
    from urakata.overlap_study.job import Amounts, Place, binding, rank_command
    from urakata.overlap_study.plan import make_plan
    from urakata.overlap_study.session import run_session, steps

    chosen_mpi = launcher.find_mpi_of_benchmarks(mpi)
    machine = describe_machine(chosen_mpi)
    here = cores or (max(1, machine.cores // hosts) if hosts else machine.cores)
    count = hosts or nodes
    axes = _axes(operation, kind, ranks_per_node, threads, engine, algorithm, mpi_async, here, quick)
    plan = make_plan(axes, here, chosen_mpi.family, count)
    if hosts and hosts * max((c.ranks_per_node * c.threads for c in plan.configurations), default=0) > machine.cores:
        plan.warnings.append(f"oversubscribed: {hosts} test hosts share {machine.cores} cores of this machine")
    if not plan.configurations:
        for refused in plan.refused:
            console.print(f"{refused.what}: {refused.reason}", highlight=False)
        raise paths.NotFoundError("nothing of this can be measured here")
    for options in dict.fromkeys(tuple(one.options()) for one in plan.configurations):
        if options:
            check_options(list(options))
    amounts = Amounts(
        sizes=chosen_sizes,
        work=amount,
        scale=scale,
        turns=60 if quick else 200,
        budget_ms=budget_ms or (60.0 if quick else 300.0),
    )
    rounds = repeats or 4
    place = Place(
        chosen_mpi,
        find_program(chosen_mpi, program),
        here,
        nodes=nodes,
        launcher_arguments=launcher_arguments or [],
        timeout_s=timeout,
    )
    if dry_run:
        for one in plan.configurations:
            console.print(f"{one.operation}, {one.kind}, {one.place}: {binding(one, place)}", highlight=False)
            console.print(
                f"  [dim]{' '.join(rank_command(one, place, amounts))}[/dim]", highlight=False, soft_wrap=True
            )
        for refused in plan.refused:
            console.print(f"Not possible here: {refused.what}: {refused.reason}", highlight=False)
        return
    if not only_json:
        make_folder(output)
    with ExitStack() as stack:
        if hosts:
            place = replace(place, test_hosts=open_hosts(hosts, rate, stack))
        total = steps(plan, amounts, rounds)
        session = with_progress(total, lambda progress: run_session(plan, place, amounts, rounds, progress))
    document = {
        **begin_document("overlap"),
        "machine": machine.as_json(),
        "settings": {
            "cores": here,
            "nodes": nodes,
            "test_hosts": hosts or 0,
            "rate": rate if hosts else "",
            "repeats": rounds,
            "amount": amount,
            "scale": amounts.scale,
            "budget_ms": amounts.budget_ms,
            "bindings": {one.place: binding(one, place) for one in plan.configurations},
        },
        "warnings": machine.warnings() + plan.warnings + session.warnings(),
        "refused": [vars(one) for one in plan.refused],
        "skips": [vars(one) for one in session.skips],
        "failed": [vars(one) for one in session.failed],
        "setups": session.setups,
        "rows": [row.as_json() for row in session.results.rows],
    }
    conclude("overlap", document, output, only_json, _present)
    if any(row.wrong for row in session.results.rows):
        raise typer.Exit(1)
