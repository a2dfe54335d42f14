# SPDX-License-Identifier: BSD-3-Clause
"""What the commands of `urakata hosts` that make hosts have in common: their options, and the hosts made of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

if TYPE_CHECKING:
    from collections.abc import Callable

    from urakata.hosts import Hosts
    from urakata.hosts.sites import Sites

UNAVAILABLE = 77
"""Exit code where this machine permits no test hosts."""

_COUNT = 4

CountOption = Annotated[
    int | None, typer.Option("-n", "--count", min=1, max=200, help="Number of hosts; 4 without.", show_default=False)
]
RateOption = Annotated[
    str, typer.Option(metavar="RATE", help="Of each link in each direction, such as 1gbit or 100mbit; none: unshaped.")
]
DelayOption = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="One way between two hosts, such as 8ms; with sites: between two sites.",
        show_default=False,
    ),
]
OperationsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--op",
        metavar="NAME=FILE",
        help="With a program's own operation from a file of eBPF code (docs/progress-without-a-thread.md); may be "
        "repeated.",
        show_default=False,
    ),
]
_LONG = "Long links between sites"
SitesOption = Annotated[
    str | None,
    typer.Option(
        metavar="KxN|N+N...",
        help="2x4: two sites of 4 hosts; 4+2+3: three sites. Instead of -n.",
        show_default=False,
        rich_help_panel=_LONG,
    ),
]
LinkRateOption = Annotated[
    str | None,
    typer.Option(
        metavar="RATE",
        help="Of each long link in each direction, such as 400mbit; none: as fast as the machine.",
        show_default=False,
        rich_help_panel=_LONG,
    ),
]
FlowRateOption = Annotated[
    str | None,
    typer.Option(
        metavar="RATE",
        help="Of one connection over a long link, such as 25mbit.",
        show_default=False,
        rich_help_panel=_LONG,
    ),
]
LossOption = Annotated[
    str | None,
    typer.Option(
        metavar="PART",
        help="Packets lost by a long link, such as 0.1% or 0.001, each by itself.",
        show_default=False,
        rich_help_panel=_LONG,
    ),
]
QueueOption = Annotated[
    str | None,
    typer.Option(
        metavar="BYTES",
        help="What may wait at a long link, such as 4M; without: what it carries in a round trip.",
        show_default=False,
        rich_help_panel=_LONG,
    ),
]
LinkOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="A-B:NAME=VALUE,...",
        help="What differs at the link between the sites A and B: delay, rate, flow-rate, queue, loss. A>B: one way. "
        "May be repeated.",
        show_default=False,
        rich_help_panel=_LONG,
    ),
]
FlowOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="HOST-HOST=RATE",
        help="Rate of one connection between these two hosts. May be repeated.",
        show_default=False,
        rich_help_panel=_LONG,
    ),
]
SeedOption = Annotated[int, typer.Option(min=0, help="Of the losses.", rich_help_panel=_LONG)]
CongestionOption = Annotated[
    str | None,
    typer.Option(
        metavar="NAME[,NAME...]",
        help="TCP's congestion control of all hosts, such as bbr, or one for each host; without: the machine's.",
        show_default=False,
        rich_help_panel=_LONG,
    ),
]
SettingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--sysctl",
        metavar="NAME=VALUE",
        help="On every host, such as net.ipv4.tcp_slow_start_after_idle=0. May be repeated.",
        show_default=False,
    ),
]


def fail(message: str, code: int) -> typer.Exit:
    Console(stderr=True).print(f"[red]urakata hosts:[/red] {message}", highlight=False, soft_wrap=True)
    return typer.Exit(code)


def sites_asked(
    sites: str | None,
    delay: str | None,
    link_rate: str | None,
    flow_rate: str | None,
    loss: str | None,
    queue: str | None,
    link: list[str] | None,
    flow: list[str] | None,
    seed: int,
) -> Sites | None:
    """What was asked for, or None where there are no sites; ValueError for what cannot be."""
    from urakata.hosts.sites import LinkSettings, Sites, parse_settings, parse_sites

    asked = {"delay": delay, "rate": link_rate, "flow-rate": flow_rate, "queue": queue, "loss": loss}
    words = ",".join(f"{name}={value}" for name, value in asked.items() if value is not None)
    if sites is None:
        if link or flow or words.removeprefix(f"delay={delay}"):
            raise ValueError("settings of long links need --sites, such as --sites 2x4")
        return None
    made = Sites(parse_sites(sites), parse_settings(words, LinkSettings()), seed=seed)
    for text in link or []:
        made.set_link(text)
    for text in flow or []:
        made.set_flow(text)
    return made


def make(
    count: int | None,
    rate: str,
    delay: str | None,
    sites: Callable[[], Sites | None],
    congestion: str | None = None,
    settings: list[str] | None = None,
) -> Hosts:
    """The hosts, not yet entered. Leaves with 2 where the values are wrong, with 77 where hosts are not permitted."""
    from urakata.hosts import Hosts, available

    try:
        asked = sites()
        if asked is not None and count is not None:
            raise ValueError("--sites says how many hosts there are: leave -n out")
        names = congestion.split(",") if congestion else []
        for setting in settings or []:
            if "=" not in setting:
                raise ValueError(f"the setting {setting!r} is not NAME=VALUE")
        hosts = Hosts(
            count=count or _COUNT,
            rate=None if rate == "none" else rate,
            delay=delay if asked is None else None,
            sites=asked,
            congestion=names if len(names) > 1 else congestion,
            settings=dict(setting.split("=", 1) for setting in settings or []),
        )
    except ValueError as error:
        raise fail(str(error), 2) from error
    far = bool(hosts.sites.pairs())
    usable, reason = available(delay=delay is not None and not far, sites=far)
    if not usable:
        raise fail(f"test hosts are not possible here: {reason}", UNAVAILABLE)
    return hosts
