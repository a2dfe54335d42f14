# SPDX-License-Identifier: BSD-3-Clause
"""urakata bench sites."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from urakata import launcher, paths
from urakata.commands.bench.document import begin_document, conclude, make_folder, show_again, show_document
from urakata.commands.bench.options import Earlier, TablesFolder, listed, numbers, parse_sizes
from urakata.commands.bench.progress import with_progress
from urakata.commands.job_options import TIMEOUT
from urakata.json_output import JsonFile

if TYPE_CHECKING:
    from urakata.measure.rounds import Progress
    from urakata.measure.session import Session
    from urakata.sites_study.beds import Bed, Leg
    from urakata.sites_study.results import Results
    from urakata.sites_study.session import Amounts

EXAMPLES = """
[bold]Examples[/bold]

  urakata bench sites --quick
      # scatter and gather over two sites, in some minutes

  urakata bench sites
      # the same from 1 KiB to 64 MiB and with delays of 1 to 50 ms

  urakata bench sites --paper
      # with losses, and over three and four sites, too: takes hours

  urakata bench sites --operations bcast,allreduce --sites 3x2,4+2+1 \\
      --delay 8ms --loss 0,0.1%

  urakata bench sites --lanes 1,2,4 --streams 1,4,8
      # every number of lanes with every number of connections

  urakata bench sites --json sites.json
      # numbers only: no tables and figures

  urakata bench sites --from urakata-sites
      # tables and figures anew from an earlier run

--compute: a part of its own, across links without loss, by engine poll and by engine thread: a leader computes for so
long, without a call, while others wait for what it relays.

Exit code: 0 all was measured; 1 a job failed; 2 it cannot be measured, or a value is not valid.
"""


def _present(document: dict[str, Any], output: Path, console: Console) -> list[str]:
    from urakata.sites_study.figures import draw_all
    from urakata.sites_study.results import from_json
    from urakata.sites_study.sheets import write_sheets
    from urakata.sites_study.tables import all_tables

    results = from_json(document)
    show_document(document, all_tables(results), console)
    if not results.rows and not results.relayed:
        return []
    settings = document["settings"]
    subtitle = f"link {settings['link_rate']}, connection {settings['flow_rate']}"
    return [*write_sheets(results, output), *draw_all(results, subtitle, output)]


def sites(
    operations: Annotated[
        str, typer.Option(help="scatter, gather, bcast, reduce, allgather, allreduce, alltoall; a list.")
    ] = "scatter,gather",
    layout: Annotated[
        str | None,
        typer.Option("--sites", help="2x4: two sites of 4 hosts; 4+2+3: three; a list.  [dim]default: 2x4[/dim]"),
    ] = None,
    delay: Annotated[
        str | None,
        typer.Option(help="One way between sites, a list.  [dim]default: 1ms,8ms,20ms,50ms, quick 8ms[/dim]"),
    ] = None,
    loss: Annotated[
        str | None, typer.Option(help="Packets lost by a link, such as 0,0.1%,1%; a list.  [dim]default: 0[/dim]")
    ] = None,
    link_rate: Annotated[str, typer.Option(help="Rate of a link in each direction.")] = "400mbit",
    flow_rate: Annotated[str, typer.Option(help="Rate of one connection over a link.")] = "25mbit",
    sizes: Annotated[
        str | None, typer.Option(help="Bytes in all, with K and M, a list or 1K:64M.  [dim]default: 1K to 64M[/dim]")
    ] = None,
    lanes: Annotated[
        str | None, typer.Option(help="Forced numbers of lanes, a list.  [dim]default: 1 to the largest site[/dim]")
    ] = None,
    streams: Annotated[
        str | None,
        typer.Option(
            help="Forced connections of a pair of ranks, a list.  [dim]default: as many as Urakata takes[/dim]"
        ),
    ] = None,
    sockets: Annotated[
        str | None,
        typer.Option(help="Numbers of plain sockets, the floor; a list.  [dim]default: 4 to all that may pay[/dim]"),
    ] = None,
    compute: Annotated[
        str, typer.Option(help="How long a site leader computes, such as 200ms; 0: leave that out.")
    ] = "200ms",
    mpi: Annotated[
        str, typer.Option("--mpi", "--host", metavar="MPI", help="openmpi, mpich, or the folder of an MPI.")
    ] = "openmpi",
    repeats: Annotated[
        int | None, typer.Option(min=1, help="Rounds.  [dim]default: 3, quick and paper 1[/dim]")
    ] = None,
    timeout: Annotated[
        float | None,
        typer.Option(min=1, help=f"{TIMEOUT}  [dim]default: 300, paper 3600[/dim]"),
    ] = None,
    output: TablesFolder = Path("urakata-sites"),
    only_json: JsonFile = None,
    again: Earlier = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and delays, one round.")] = False,
    paper: Annotated[
        bool,
        typer.Option("--paper", help="All of the figures: delays and losses, two to four sites; takes hours."),
    ] = False,
) -> None:
    """Collectives across long links: the MPI library's own, Urakata's by number of lanes, and plain sockets as a
    floor."""
    from urakata.measure.machine import describe_machine
    from urakata.measure.program import find_program
    from urakata.sites_study.beds import Bed, paper_beds
    from urakata.sites_study.methods import OPERATIONS
    from urakata.sites_study.session import Amounts

    if again:
        show_again("sites", again, output, _present)
        return
    chosen = listed(operations, "--operations", list(OPERATIONS))
    if paper and (quick or layout or delay or loss or sizes):
        raise typer.BadParameter(
            "says which links and sizes: leave --quick, --sites, --delay, --loss and --sizes out", param_hint="--paper"
        )
    beds = [
        Bed(hosts, one, lost)
        for hosts in listed(layout or "2x4", "--sites")
        for one in listed(delay or ("8ms" if quick else "1ms,8ms,20ms,50ms"), "--delay")
        for lost in listed(loss or "0", "--loss")
    ]
    if paper:
        beds = paper_beds()
    forced = Forced(
        numbers(lanes, "--lanes") if lanes else [],
        numbers(streams, "--streams") if streams else [],
        numbers(sockets, "--sockets") if sockets else [],
    )
    try:
        of_bytes = parse_sizes(sizes or ("64K,1M,4M" if quick else "1K,4K,16K,64K,256K,1M,4M,16M,64M"))
        computing_ms = _milliseconds(compute)
        legs = [_leg(bed, link_rate, flow_rate, forced, computing_ms) for bed in beds]
    except ValueError as error:
        raise typer.BadParameter(str(error)) from error
    found = launcher.find_mpi_of_benchmarks(mpi)
    legs = [replace(leg, methods=[one for one in leg.methods if one.family in ("", found.family)]) for leg in legs]
    program = find_program(found, name="sites")
    if not only_json:
        make_folder(output)
    machine = describe_machine(found)
    rounds = repeats or (1 if quick or paper else 3)
    amounts = Amounts(of_bytes, 2 if quick else 3 if paper else 5)
    given_up = timeout or (3600.0 if paper else 300.0)
    session = with_progress(
        rounds * sum(leg.count(chosen) for leg in legs),
        lambda progress: _run_all(legs, chosen, program, found, amounts, rounds, given_up, progress),
    )
    document = {
        **begin_document("sites"),
        "machine": machine.as_json(),
        "settings": {
            "sites": list(dict.fromkeys(bed.layout for bed in beds)),
            "link_rate": link_rate,
            "flow_rate": flow_rate,
            "compute_ms": computing_ms,
            "repeats": rounds,
            "sizes": of_bytes,
            "quick": quick,
            "paper": paper,
        },
        "warnings": machine.warnings(),
        "failed": [vars(one) for one in session.failed],
        **session.results.as_json(),
    }
    conclude("sites", document, output, only_json, _present)


@dataclass(frozen=True)
class Forced:
    """Numbers that were asked for; empty: by what the sites and their link allow."""

    lanes: list[int]
    streams: list[int]
    sockets: list[int]


def _milliseconds(text: str) -> float:
    """0 where the text says so. Raises ValueError."""
    from urakata.hosts.links import parse_delay

    return 0.0 if text.strip() == "0" else parse_delay(text) / 1e3


def _at_most(most: int, option: str, values: list[int], what: str) -> None:
    if max(values, default=0) > most:
        raise ValueError(f"{option} {max(values)}: at most {most} are possible, {what}")


def _leg(bed: Bed, link_rate: str, flow_rate: str, forced: Forced, computing_ms: float) -> Leg:
    """What is run on a bed. Raises ValueError for what cannot be."""
    from urakata.hosts import LinkSettings, Sites
    from urakata.hosts.sites import parse_settings, parse_sites
    from urakata.sites_study import methods
    from urakata.sites_study.beds import Leg

    sizes = parse_sites(bed.layout)
    if len(sizes) < 2:
        raise ValueError(f"{bed.layout!r} is one site: no link is long")
    link = parse_settings(f"delay={bed.delay},rate={link_rate},flow-rate={flow_rate},loss={bed.loss}", LinkSettings())
    most_lanes = max(sizes)
    _at_most(most_lanes, "--lanes", forced.lanes, f"as many as the largest site of {bed.layout} has hosts")
    _at_most(methods.MOST_STREAMS, "--streams", forced.streams, "connections of a pair of ranks")
    _at_most(methods.MOST_SOCKETS, "--sockets", forced.sockets, "as many as bench/sites opens")
    ways = methods.methods(
        forced.sockets or methods.numbers_of_sockets(sizes),
        forced.lanes or range(1, most_lanes + 1),
        forced.streams,
        methods.streams_that_fill(link, max(sizes[1:])),
    )
    # Over two lanes there is a site leader at the root's site that is not the root only where that has two hosts.
    relays = computing_ms > 0 and bed.lossless and sizes[0] > 1
    return Leg(bed, Sites(sizes, link), ways, methods.leaders(computing_ms) if relays else ())


def _run_all(
    legs: list[Leg],
    operations: list[str],
    program: Path,
    found: launcher.Mpi,
    amounts: Amounts,
    rounds: int,
    timeout: float,
    progress: Progress,
) -> Session[Results]:
    from urakata.hosts import Hosts, HostsError, available
    from urakata.measure.session import Refused, Session
    from urakata.sites_study.results import Results
    from urakata.sites_study.session import Where, run_leg

    possible, reason = available(sites=True)
    if not possible:
        raise paths.NotFoundError(f"test hosts on several sites are not possible here: {reason}")
    session = Session(Results())
    for leg in legs:
        try:
            with Hosts(sites=leg.sites) as hosts:
                where = Where(program, found, hosts, leg.sites.sizes[0], timeout)
                run_leg(leg, operations, where, amounts, rounds, session, progress)
        except HostsError as error:
            session.failed.append(Refused(leg.bed.name, f"test hosts: {error}"))
    return session
