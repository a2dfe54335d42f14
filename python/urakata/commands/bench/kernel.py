"""urakata bench kernel."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from urakata import launcher, paths
from urakata.commands.bench.document import begin_document, conclude, make_folder, show_again, show_notes
from urakata.commands.bench.options import Earlier, Timeout, listed, parse_sizes
from urakata.commands.bench.progress import with_progress
from urakata.json_output import JsonFile

if TYPE_CHECKING:
    from urakata.kernel_study.results import Results
    from urakata.kernel_study.session import Session

EXAMPLES = """
[bold]Examples[/bold]

  urakata bench kernel --quick                       a first look, in about a minute

  urakata bench kernel                               relay hop, lost CPU time, collectives of two ranks

  urakata bench kernel --part fine --methods explicit,thread,kernel --sizes 1K,64K

  urakata bench kernel --json kernel.json            numbers only: no tables and figures

  urakata bench kernel --from urakata-kernel         tables and figures anew from an earlier run

Exit code: 0 all was measured; 1 a job failed; 2 it cannot be measured, or a value is not valid.
"""


def _write_csv(results: Results, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["part", "operation", "bytes", "method", "quantity", "round", "value"])
        for key, row in results.rows.items():
            for quantity, values in row.items():
                for number, value in enumerate(values):
                    table.writerow([key.part, key.operation, key.bytes, key.method, quantity, number + 1, value])


def _present(document: dict[str, Any], output: Path, console: Console) -> list[str]:
    from urakata.kernel_study.figures import draw_all
    from urakata.kernel_study.results import from_json
    from urakata.kernel_study.tables import all_tables
    from urakata.study.text_table import show

    results = from_json(document)
    show(all_tables(results), console)
    show_notes(document, console)
    if not results.rows:
        return []
    _write_csv(results, output / "kernel.csv")
    return ["kernel.csv", *draw_all(results, document["machine"]["cpu"], output)]


def kernel(
    part: Annotated[str, typer.Option(help="hop, fine, coarse, group; a list.")] = "hop,fine,coarse,group",
    methods: Annotated[
        str | None, typer.Option(help="explicit, blocked, host, poll, thread, kernel; a list.  [dim]default: all[/dim]")
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(help="Sizes, with K and M, a list.  [dim]default: 64 to 1M[/dim]")
    ] = None,
    host: Annotated[str, typer.Option(help="openmpi, mpich, impi, or the folder of an MPI.")] = "openmpi",
    rate: Annotated[str, typer.Option(help="Rate of the test hosts' links.")] = "1gbit",
    repeats: Annotated[int | None, typer.Option(min=1, help="Rounds.  [dim]default: 3, quick 1[/dim]")] = None,
    timeout: Timeout = 120.0,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for figures, CSV and JSON.")] = Path(
        "urakata-kernel"
    ),
    only_json: JsonFile = None,
    again: Earlier = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and repetitions, one round.")] = False,
) -> None:
    """Who carries collectives on while ranks compute: the program, the host, a thread or the kernel."""
    from urakata.kernel_study.methods import METHODS, PARTS
    from urakata.study.machine import describe_machine
    from urakata.study.program import find_program

    if again:
        show_again("kernel", again, output, _present)
        return
    chosen = [PARTS[name] for name in listed(part, "--part", list(PARTS))]
    wanted = listed(methods or ",".join(METHODS), "--methods", list(METHODS))
    try:
        of_bytes = parse_sizes(sizes or ("64,64K" if quick else "64,1K,16K,64K,256K,1M"))
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint="--sizes") from error
    found = launcher.find_host(host)
    program = find_program(found, name="kernel")
    if not only_json:
        make_folder(output)
    machine = describe_machine(found)
    warnings = machine.warnings()
    most = max(one.hosts for one in chosen)
    if most > machine.cores:
        warnings.append(
            f"{most} hosts share {machine.cores} cores: a relay has one alone, the others take turns; ranks of part "
            "group have one each"
        )
    rounds = repeats or (1 if quick else 3)
    plan = [(one, [name for name in one.methods if name in wanted]) for one in chosen]
    session = with_progress(
        rounds * sum(len(names) for _, names in plan),
        lambda progress: _run_all(plan, program, found, of_bytes, quick, rate, rounds, timeout, progress),
    )
    document = {
        **begin_document("kernel"),
        "machine": machine.as_json(),
        "settings": {"repeats": rounds, "rate": rate, "quick": quick, "sizes": of_bytes},
        "warnings": warnings,
        "failed": [vars(one) for one in session.failed],
        **session.results.as_json(),
    }
    conclude("kernel", document, output, only_json, _present)
    if session.failed:
        raise typer.Exit(1)


def _run_all(
    plan: list[Any],
    program: Path,
    found: launcher.Host,
    sizes: list[int],
    quick: bool,
    rate: str,
    rounds: int,
    timeout: float,
    progress: Any,
) -> Session:
    from urakata.hosts import Hosts, HostsError, available
    from urakata.kernel_study.session import Amounts, Session, run_part

    possible, reason = available()
    if not possible:
        raise paths.NotFoundError(f"test hosts are not possible here: {reason}")
    session = Session()
    amounts = Amounts(sizes, repetitions=40 if quick else 200, budget_ms=40 if quick else 100)
    for one, names in plan:
        try:
            with Hosts(count=one.hosts, rate=rate) as hosts:
                run_part(one, names, program, found, hosts, amounts, rounds, timeout, session, progress)
        except (HostsError, ValueError) as error:
            raise paths.NotFoundError(f"test hosts: {error}") from error
    return session
