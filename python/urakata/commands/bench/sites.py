"""urakata bench sites."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from urakata import launcher, paths
from urakata.commands.bench.document import begin_document, conclude, make_folder, show_again, show_notes
from urakata.commands.bench.options import Earlier, Timeout, listed, numbers, parse_sizes
from urakata.commands.bench.progress import with_progress
from urakata.json_output import JsonFile

if TYPE_CHECKING:
    from urakata.hosts import Sites
    from urakata.sites_study.results import Results
    from urakata.sites_study.session import Session

EXAMPLES = """
[bold]Examples[/bold]

  urakata bench sites --quick                        scatter and gather over two sites, in about two minutes

  urakata bench sites                                the paper's figures: 1 KiB to 64 MiB, delays of 1 to 50 ms

  urakata bench sites --operations bcast,allreduce --sites 3x2 --delay 8ms --loss 0,0.1%

  urakata bench sites --json sites.json              numbers only: no tables and figures

  urakata bench sites --from urakata-sites           tables and figures anew from an earlier run

Exit code: 0 all was measured; 1 a job failed; 2 it cannot be measured, or a value is not valid.
"""


def _write_csv(results: Results, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(["link", "operation", "bytes", "method", "round", "us", "chosen", "predicted_us"])
        for key, row in results.rows.items():
            for number, us in enumerate(row.us):
                predicted = row.predicted_us if row.predicted_us is not None else ""
                table.writerow([*vars(key).values(), number + 1, us, row.chosen, predicted])


def _present(document: dict[str, Any], output: Path, console: Console) -> list[str]:
    from urakata.sites_study.figures import draw_all
    from urakata.sites_study.results import from_json
    from urakata.sites_study.tables import all_tables
    from urakata.study.text_table import show

    results = from_json(document)
    show(all_tables(results), console)
    show_notes(document, console)
    if not results.rows:
        return []
    _write_csv(results, output / "sites.csv")
    settings = document["settings"]
    subtitle = f"sites {settings['sites']}, link {settings['link_rate']}, connection {settings['flow_rate']}"
    return ["sites.csv", *draw_all(results, subtitle, output)]


def sites(
    operations: Annotated[
        str, typer.Option(help="scatter, gather, bcast, reduce, allgather, allreduce, alltoall; a list.")
    ] = "scatter,gather",
    layout: Annotated[str, typer.Option("--sites", help="2x4: two sites of 4 hosts; 4+2+3: three.")] = "2x4",
    delay: Annotated[
        str | None,
        typer.Option(help="One way between sites, a list.  [dim]default: 1ms,8ms,20ms,50ms, quick 8ms[/dim]"),
    ] = None,
    loss: Annotated[str, typer.Option(help="Packets lost by a link, such as 0,0.1%,1%; a list.")] = "0",
    link_rate: Annotated[str, typer.Option(help="Rate of a link in each direction.")] = "400mbit",
    flow_rate: Annotated[str, typer.Option(help="Rate of one connection over a link.")] = "25mbit",
    sizes: Annotated[
        str | None, typer.Option(help="Bytes in all, with K and M, a list or 1K:64M.  [dim]default: 1K to 64M[/dim]")
    ] = None,
    lanes: Annotated[
        str | None, typer.Option(help="Forced numbers of lanes, a list.  [dim]default: 1 to the smallest site[/dim]")
    ] = None,
    sockets: Annotated[str, typer.Option(help="Numbers of plain sockets, the floor; a list.")] = "4,16",
    host: Annotated[str, typer.Option(help="openmpi, mpich, or the folder of an MPI.")] = "openmpi",
    repeats: Annotated[int | None, typer.Option(min=1, help="Rounds.  [dim]default: 3, quick 1[/dim]")] = None,
    timeout: Timeout = 300.0,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for figures, CSV and JSON.")] = Path(
        "urakata-sites"
    ),
    only_json: JsonFile = None,
    again: Earlier = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and delays, one round.")] = False,
) -> None:
    """Collectives across long links: the host's own, Urakata's by number of lanes, and plain sockets as a floor."""
    from urakata.hosts import Sites
    from urakata.hosts.sites import parse_sites
    from urakata.sites_study.methods import MOST_SOCKETS, OPERATIONS, Bed, methods
    from urakata.study.machine import describe_machine
    from urakata.study.program import find_program

    if again:
        show_again("sites", again, output, _present)
        return
    chosen = listed(operations, "--operations", list(OPERATIONS))
    plain = numbers(sockets, "--sockets")
    if max(plain) > MOST_SOCKETS:
        raise typer.BadParameter(f"more than {MOST_SOCKETS} sockets", param_hint="--sockets")
    beds = [
        Bed(one, lost)
        for one in listed(delay or ("8ms" if quick else "1ms,8ms,20ms,50ms"), "--delay")
        for lost in listed(loss, "--loss")
    ]
    try:
        of_hosts = parse_sites(layout)
        if len(of_hosts) < 2:
            raise ValueError(f"{layout!r} is one site: no link is long")
        of_bytes = parse_sizes(sizes or ("64K,1M,4M" if quick else "1K,4K,16K,64K,256K,1M,4M,16M,64M"))
        links = [(bed, Sites(of_hosts, _link(bed.delay, link_rate, flow_rate, bed.loss))) for bed in beds]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    forced = numbers(lanes, "--lanes") if lanes else list(range(1, min(of_hosts) + 1))
    found = launcher.find_host(host)
    program = find_program(found, name="sites")
    if not only_json:
        make_folder(output)
    machine = describe_machine(found)
    rounds = repeats or (1 if quick else 3)
    ways = [one for one in methods(plain, forced) if one.name != "links" or found.family == "openmpi"]
    total = rounds * len(links) * sum(one.carries(operation) for one in ways for operation in chosen)
    session = with_progress(
        total,
        lambda progress: _run_all(links, chosen, ways, program, found, of_bytes, quick, rounds, timeout, progress),
    )
    document = {
        **begin_document("sites"),
        "machine": machine.as_json(),
        "settings": {
            "sites": layout,
            "link_rate": link_rate,
            "flow_rate": flow_rate,
            "repeats": rounds,
            "sizes": of_bytes,
            "quick": quick,
        },
        "warnings": machine.warnings(),
        "failed": [vars(one) for one in session.failed],
        **session.results.as_json(),
    }
    conclude("sites", document, output, only_json, _present)
    if session.failed:
        raise typer.Exit(1)


def _link(delay: str, link_rate: str, flow_rate: str, loss: str) -> Any:
    from urakata.hosts import LinkSettings
    from urakata.hosts.sites import parse_settings

    return parse_settings(f"delay={delay},rate={link_rate},flow-rate={flow_rate},loss={loss}", LinkSettings())


def _run_all(
    links: list[tuple[Any, Sites]],
    operations: list[str],
    ways: list[Any],
    program: Path,
    found: launcher.Host,
    sizes: list[int],
    quick: bool,
    rounds: int,
    timeout: float,
    progress: Any,
) -> Session:
    from urakata.hosts import Hosts, HostsError, available
    from urakata.sites_study.session import Amounts, Session, run_operation

    possible, reason = available(sites=True)
    if not possible:
        raise paths.NotFoundError(f"test hosts on several sites are not possible here: {reason}")
    session = Session()
    for bed, sites_of in links:
        amounts = Amounts(sizes, 2 if quick else 5, sites_of.sizes[0])
        try:
            with Hosts(sites=sites_of) as hosts:
                for operation in operations:
                    able = [one for one in ways if one.carries(operation)]
                    run_operation(
                        bed, operation, able, program, found, hosts, amounts, rounds, timeout, session, progress
                    )
        except (HostsError, ValueError) as error:
            raise paths.NotFoundError(f"test hosts: {error}") from error
    return session
