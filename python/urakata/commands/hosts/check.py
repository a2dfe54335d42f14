# SPDX-License-Identifier: BSD-3-Clause
"""urakata hosts check: whether test hosts are possible here, and what their links really give."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from urakata.commands.hosts import options
from urakata.json_output import JsonFlag, write_json

if TYPE_CHECKING:
    from urakata.hosts import Hosts
    from urakata.hosts.measure_sites import LinkFigures

_TOLERANCE = 0.05

EXAMPLES = """
[bold]Examples[/bold]

  urakata hosts check -n 4 --rate 1gbit

  urakata hosts check --json

  urakata hosts check --sites 2x4 --delay 8ms --link-rate 400mbit \\
      --flow-rate 25mbit --loss 0.1%

With sites their long links are measured, one direction after the other: the round trip, the rate of one connection and
of as many as fill the link, the loss of datagrams, and how late the link delivered for want of a processor. TCP's
windows are opened wide for that, since they often let through less than the link.

The exit code is 0 where every link is within 5 % of the set rate (a long link: 3 %, where it has no loss), 1 where not,
or where the machine is too slow for what was asked, 77 where it permits no hosts.
"""


def check(
    count: options.CountOption = None,
    rate: options.RateOption = "1gbit",
    delay: options.DelayOption = None,
    seconds: Annotated[float, typer.Option(min=0.5, help="How long to measure the links.")] = 2.0,
    as_json: JsonFlag = False,
    sites: options.SitesOption = None,
    link_rate: options.LinkRateOption = None,
    flow_rate: options.FlowRateOption = None,
    loss: options.LossOption = None,
    queue: options.QueueOption = None,
    link: options.LinkOption = None,
    flow: options.FlowOption = None,
    seed: options.SeedOption = 1,
    congestion: options.CongestionOption = None,
    settings: options.SettingOption = None,
) -> None:
    """Say whether this machine permits test hosts, and measure their links, all busy both ways at once."""
    from urakata.hosts.measure_sites import WIDE_WINDOWS

    asked = lambda: options.sites_asked(  # noqa: E731
        sites, delay, link_rate, flow_rate, loss, queue, link, flow, seed
    )
    windows = [f"{name}={value}" for name, value in WIDE_WINDOWS.items()] if sites else []
    hosts = options.make(count, rate, delay, asked, congestion, [*windows, *(settings or [])])
    if hosts.sites.pairs():
        _check_sites(hosts, seconds, as_json)
    elif hosts.count == 1:
        raise options.fail("links are measured between at least two hosts", 2)
    else:
        _check_hosts(hosts, seconds, as_json)


def _check_hosts(hosts: Hosts, seconds: float, as_json: bool) -> None:
    from urakata.hosts import HostsError, available
    from urakata.hosts.measure import measure_links

    delayed, reason = available(delay=True)
    try:
        with hosts:
            rates = measure_links(hosts, seconds)
    except HostsError as error:
        raise options.fail(str(error), 1) from error

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
            console.print(
                f"set {(hosts.rate or 0) / 1e6:g} Mbit/s each way; the largest difference is {100 * worst:.1f} %"
            )
    if worst is not None and worst > _TOLERANCE:
        raise options.fail(f"a link is more than {100 * _TOLERANCE:.0f} % off the set rate: is the machine busy?", 1)


def _check_sites(hosts: Hosts, seconds: float, as_json: bool) -> None:
    from urakata.hosts import HostsError
    from urakata.hosts.long_links import LinkError
    from urakata.hosts.measure_sites import measure_sites

    console = Console(stderr=True)
    try:
        with hosts, console.status("measuring") as status:
            figures = measure_sites(hosts, seconds, lambda text: status.update(f"measuring {text}"))
    except (HostsError, LinkError) as error:
        raise options.fail(str(error), 1) from error
    if as_json:
        write_json([{**asdict(link), "faults": link.faults(), "too_slow": link.too_slow()} for link in figures])
    else:
        _show(figures)
    slow = [link.too_slow() for link in figures if link.too_slow()]
    faults = [f"from site {link.first} to site {link.second} {fault}" for link in figures for fault in link.faults()]
    if slow:
        raise options.fail(f"this machine is too slow for what was asked: {slow[0]}; ask for less", 1)
    if faults:
        raise options.fail("; ".join(faults), 1)


def _show(figures: list[LinkFigures]) -> None:
    table = Table("", *(f"site {link.first} to {link.second}" for link in figures))

    def rate(measured: float, expected: float | None) -> str:
        return f"{measured / 1e6:.1f} ({'machine' if expected is None else f'{expected / 1e6:g}'})"

    def trip(link: LinkFigures) -> str:
        return f"{link.round_trip_us / 1e3:.2f} ({(link.set_to.delay_us + link.back_delay_us) / 1e3:g})"

    def lost(link: LinkFigures) -> str:
        return f"{100 * link.lost / max(link.datagrams, 1):.3f} ({100 * link.set_to.loss:g})"

    def runs(link: LinkFigures) -> str:
        return ", ".join(f"{count} of {length}" for length, count in sorted(link.loss_runs.items())) or "none"

    rows: list[tuple[str, Any]] = [
        ("round trip ms (set)", trip),
        ("one connection Mbit/s (set)", lambda link: rate(link.one_flow, link.expected_one)),
        ("many connections Mbit/s (set)", lambda link: rate(link.many_flows, link.expected_many)),
        ("how many", lambda link: str(link.flows)),
        ("datagrams lost % (set)", lost),
        ("of so many", lambda link: str(link.datagrams)),
        ("lost in a row", runs),
        ("mean lateness us", lambda link: f"{link.late_us:.0f}"),
        ("late packets %", lambda link: f"{100 * link.late_share:.2f}"),
        ("waited for a processor %", lambda link: f"{100 * link.waited_share:.1f}"),
        ("processor %", lambda link: f"{100 * link.cpu_share:.0f}"),
    ]
    for name, text in rows:
        table.add_row(name, *(text(link) for link in figures))
    console = Console()
    console.print(table)
    console.print("Rates are of IP packets with headers; payload of TCP is 96.5 % of that.", highlight=False)
