# SPDX-License-Identifier: BSD-3-Clause
"""Sites of test hosts: several networks, each with a gateway, and between every two of them a long link.

Nothing is run here: what was asked for is read and checked, and becomes commands for `ip` in the gateways and for
urakata-link, the process that carries a long link between two TUN devices.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from urakata.hosts import links

MAX_SITES = 8
MTU = 1500
"""Bytes of the IP packets on a long link, as on most that leave a house; inside a site they are links.MTU."""

GATEWAY = 254
"""Last byte of a gateway's address."""

LEAST_QUEUE = 2 * links.SEGMENTATION
"""Two packets of the largest size that a host hands over whole: what it sends at once must fit."""

_MAX_ON_THE_WAY = 1 << 30
_MAX_RATE = 100 * 10**9
_SIZES = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


@dataclass(frozen=True)
class LinkSettings:
    """One direction of a long link. Rates in bits a second of IP packets, headers included; None: no limit."""

    delay_us: int = 0
    rate: int | None = None
    """Of all flows together."""
    flow_rate: int | None = None
    """Of each flow: packets with the same addresses, ports and protocol."""
    queue: int | None = None
    """Bytes that may wait at the link; None: what it carries in one round trip, the usual size of a router's queue. The
    queue of a flow that has a rate is what that carries in one round trip."""
    loss: float = 0.0
    """Probability with which a segment is lost, each by itself."""

    @property
    def queue_bytes(self) -> int:
        """The link's queue."""
        return self.queue or _round_trip(self.rate, self.delay_us)

    def words(self) -> str:
        """As urakata-link is set."""
        words = [f"delay={self.delay_us * 1000}", f"loss={self.loss!r}"]
        words += [f"rate={self.rate or 0}", f"queue={self.queue_bytes}"]
        words += [f"flow-rate={self.flow_rate or 0}", f"flow-queue={_round_trip(self.flow_rate, self.delay_us)}"]
        return " ".join(words)


def _round_trip(rate: int | None, delay_us: int) -> int:
    return max(LEAST_QUEUE, (rate or 0) * 2 * delay_us // 8_000_000)


def parse_sites(text: str) -> list[int]:
    """Hosts of each site: '2x4' is two sites of four hosts, '4+2+3' three sites."""
    if match := re.fullmatch(r"(\d+)x(\d+)", text.strip()):
        sizes = [int(match[2])] * int(match[1])
    elif re.fullmatch(r"\d+(\+\d+)*", text.strip()):
        sizes = [int(size) for size in text.split("+")]
    else:
        raise ValueError(f"the sites {text!r} are not written as SITESxHOSTS or HOSTS+HOSTS, such as 2x4 or 4+2+3")
    if not 1 <= len(sizes) <= MAX_SITES:
        raise ValueError(f"{len(sizes)} sites were asked for: it must be 1 to {MAX_SITES}")
    if min(sizes) < 1 or sum(sizes) > links.MAX_HOSTS:
        raise ValueError(f"the sites {text!r} must have a host each, and {links.MAX_HOSTS} together at most")
    return sizes


def parse_loss(text: str) -> float:
    """A probability, as '0.1%' or '0.001'."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?(?:e-\d+)?)\s*(%?)", text.strip().lower())
    loss = float(match[1]) / (100 if match[2] else 1) if match else -1.0
    if not 0 <= loss < 1:
        raise ValueError(f"the loss {text!r} is not a part of all packets below 1, such as 0.1% or 0.001")
    return loss


def parse_size(text: str) -> int:
    """Bytes, such as '512k', '4MiB' or '1500'."""
    match = re.fullmatch(r"(\d+)\s*([kmg]?)(?:i?b)?", text.strip().lower())
    size = int(match[1]) * _SIZES[match[2]] if match else 0
    if not LEAST_QUEUE <= size <= _MAX_ON_THE_WAY:
        raise ValueError(
            f"the queue {text!r} is not a number of bytes, with K or M, from {LEAST_QUEUE >> 10}K "
            f"(what a host sends at once) to {_MAX_ON_THE_WAY >> 20}M"
        )
    return size


def _rate(text: str) -> int | None:
    if text == "none":
        return None
    rate = links.parse_rate(text)
    if rate > _MAX_RATE:
        raise ValueError(f"the rate {text!r} is more than 100gbit, of which no machine carries a part this way")
    return rate


_READERS: dict[str, Callable[[str], dict[str, Any]]] = {
    "delay": lambda text: {"delay_us": links.parse_delay(text)},
    "rate": lambda text: {"rate": _rate(text)},
    "flow-rate": lambda text: {"flow_rate": _rate(text)},
    "queue": lambda text: {"queue": parse_size(text)},
    "loss": lambda text: {"loss": parse_loss(text)},
}


def parse_settings(text: str, base: LinkSettings) -> LinkSettings:
    """`base` but for what the text says: 'delay=20ms,rate=1gbit,flow-rate=none,queue=4M,loss=0.1%'."""
    settings = base
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if name.strip() not in _READERS or not equals:
            raise ValueError(f"the setting {part!r} of a link is not NAME=VALUE with one of {', '.join(_READERS)}")
        settings = replace(settings, **_READERS[name.strip()](value))
    check(settings)
    return settings


def check(settings: LinkSettings) -> None:
    """ValueError for what cannot be."""
    if settings.delay_us > 10_000_000:
        raise ValueError(f"a delay of {settings.delay_us / 1e6:g} s is more than 10 s, the longest that is possible")
    rate = settings.rate or settings.flow_rate or 0
    on_the_way = rate * settings.delay_us // 8_000_000
    if on_the_way > _MAX_ON_THE_WAY:
        raise ValueError(
            f"at {rate / 1e9:g} Gbit/s and a delay of {settings.delay_us / 1e6:g} s, {on_the_way >> 30} GiB are on the "
            "way, which must fit in memory: at most 1 GiB is possible"
        )


@dataclass
class Sites:
    """What was asked for: the sites and their links."""

    sizes: list[int]
    """Hosts of each site."""
    settings: LinkSettings = field(default_factory=LinkSettings)
    """Of each link in each direction that has none of its own."""
    own: dict[tuple[int, int], LinkSettings] = field(default_factory=dict)
    """By direction: from one site to the other."""
    flow_rates: list[tuple[int, int, int | None]] = field(default_factory=list)
    """Rates of a flow from the first host to the second, instead of the link's."""
    seed: int = 1

    def of_direction(self, first: int, second: int) -> LinkSettings:
        """The settings from one site to another."""
        return self.own.get((first, second), self.settings)

    def hosts_of(self, site: int) -> list[int]:
        """The hosts of a site."""
        return links.members(self.sizes, site)

    def pairs(self) -> list[tuple[int, int]]:
        """The links, each as its two sites."""
        return list(itertools.combinations(range(len(self.sizes)), 2))

    def set_link(self, text: str) -> None:
        """'0-1:delay=20ms' for both directions of a link, '0>1:loss=1%' for one; the rest as for all links."""
        match = re.fullmatch(r"(\d+)([->])(\d+):(.*)", text.strip())
        ends = (int(match[1]), int(match[3])) if match else (0, 0)
        if not match or ends[0] == ends[1] or max(ends) >= len(self.sizes):
            raise ValueError(
                f"the link {text!r} is not SITE-SITE:NAME=VALUE,... with two of the sites 0 to {len(self.sizes) - 1}, "
                "such as 0-1:delay=20ms; SITE>SITE is one direction"
            )
        for direction in [ends, ends[::-1]] if match[2] == "-" else [ends]:
            self.own[direction] = parse_settings(match[4], self.of_direction(*direction))

    def set_flow(self, text: str) -> None:
        """'host0-host4=100mbit': the rate of one flow between two hosts of different sites, both ways."""
        pair, _, rate = text.partition("=")
        first, second = self.host_pair(pair)
        self.flow_rates += [(first, second, _rate(rate)), (second, first, _rate(rate))]

    def host_pair(self, text: str) -> tuple[int, int]:
        """'host0-host4' as numbers of hosts that lie on different sites."""
        match = re.fullmatch(r"host(\d+)-host(\d+)", text.strip())
        hosts = (int(match[1]), int(match[2])) if match else (-1, -1)
        if not match or max(hosts) >= sum(self.sizes) or self.site_of(hosts[0]) == self.site_of(hosts[1]):
            raise ValueError(
                f"{text!r} is not HOST-HOST with hosts of two different sites, such as host0-host{self.sizes[0]}"
            )
        return hosts

    def site_of(self, host: int) -> int:
        """The site on which a host lies."""
        return links.place(self.sizes, host)[0]

    def commands(self, first: int, second: int) -> list[str]:
        """What urakata-link is told before it starts, for the link between two sites: direction 0 is from the first."""
        commands = []
        for number, ends in enumerate([(first, second), (second, first)]):
            # Directions draw from seeds of their own, so that one does not lose what the other loses.
            seed = self.seed * 1000 + ends[0] * MAX_SITES + ends[1]
            commands.append(f"set {number} seed={seed} {self.of_direction(*ends).words()}")
            for source, destination, rate in self.flow_rates:
                if (self.site_of(source), self.site_of(destination)) == ends:
                    between = f"{links.address(self.sizes, source)} {links.address(self.sizes, destination)}"
                    commands.append(f"flow-rate {number} {between} {rate or 0}")
        return commands


def device(other: int) -> str:
    """The TUN device in a gateway that leads to another site."""
    return f"wan{other}"


def gateway_commands(sizes: Sequence[int], site: int) -> str:
    """For ip, in a gateway's namespace, where bridge and TUN devices are: addresses and routes."""
    lines = [f"address add {links.NETWORK}.{site}.{GATEWAY}/24 dev switch"]
    for other in range(len(sizes)):
        if other == site:
            continue
        name = device(other)
        # A queue that never fills: packets are to be dropped by the model of the link alone.
        lines.append(f"link set dev {name} addrgenmode none mtu {MTU} txqueuelen 20000 up")
        lines.append(f"route add {links.NETWORK}.{other}.0/24 dev {name}")
    return "\n".join(lines)


def host_route(site: int, congestion: str | None) -> str:
    """For ip, in a host's namespace: the way to the other sites, and TCP's congestion control on it. As an attribute of
    the route, since a namespace of ours may not have one of those that are kept for root as its default."""
    control = f" congctl {congestion}" if congestion else ""
    return f"route add {links.NETWORK}.0.0/16 via {links.NETWORK}.{site}.{GATEWAY} mtu lock {MTU}{control}"
