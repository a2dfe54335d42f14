# SPDX-License-Identifier: BSD-3-Clause
"""What the long links of an instance really give: round trip, rate of one flow and of many, loss, lateness, CPU."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from urakata.hosts import sites
from urakata.hosts.command import Command, HostsError
from urakata.hosts.instance import Hosts

_MOST_FLOWS = 32
_PAYLOAD = (sites.MTU - 52) / sites.MTU
"""Of a full packet: without IPv4 and TCP headers, with timestamps."""

_RATE_TOLERANCE = 0.03
_SIGMAS = 4.0
_LATE_SHARE = 0.01
_WAITED_SHARE = 0.1

WIDE_WINDOWS = {"net.ipv4.tcp_wmem": "4096 1048576 268435456", "net.ipv4.tcp_rmem": "4096 1048576 268435456"}
"""For hosts that measure a link instead of what the machine's TCP windows let through."""


@dataclass
class LinkFigures:
    """One direction of a long link. Rates in bits a second of IP packets, counted from TCP's payload."""

    first: int
    second: int
    set_to: sites.LinkSettings
    back_delay_us: int
    round_trip_us: float = 0.0
    one_flow: float = 0.0
    many_flows: float = 0.0
    flows: int = 0
    datagrams: int = 0
    lost: int = 0
    loss_runs: dict[int, int] = field(default_factory=dict)
    """How often so many datagrams in a row did not come."""
    late_us: float = 0.0
    """Mean lateness of deliveries in both directions of the link, while all this was measured."""
    late_share: float = 0.0
    """Part of deliveries that came more than a tenth of the delay, and 1 ms, too late."""
    waited_share: float = 0.0
    """Part of the time for which the link was ready to run and had no processor."""
    cpu_share: float = 0.0
    """Part of one processor that the link's process took; with it what TCP costs at the receivers."""

    @property
    def expected_one(self) -> float | None:
        """The rate of one flow; None: as fast as the machine."""
        rates = [rate for rate in (self.set_to.rate, self.set_to.flow_rate) if rate is not None]
        return min(rates) if rates else None

    @property
    def expected_many(self) -> float | None:
        """The rate of the flows together."""
        rates = [self.set_to.rate] if self.set_to.rate is not None else []
        if self.set_to.flow_rate is not None:
            rates.append(self.set_to.flow_rate * self.flows)
        return min(rates) if rates else None

    def faults(self) -> list[str]:
        """In what the link is not as it was set; rates only without loss, since TCP is slower then by itself."""
        found = []
        expected_trip = self.set_to.delay_us + self.back_delay_us
        if not -50 <= self.round_trip_us - expected_trip <= 0.05 * expected_trip + 500:
            found.append(f"the round trip is {self.round_trip_us / 1e3:.2f} ms instead of {expected_trip / 1e3:g} ms")
        rates = [("one flow", self.one_flow, self.expected_one), ("many flows", self.many_flows, self.expected_many)]
        for name, measured, expected in rates:
            if expected is not None and self.set_to.loss == 0 and abs(measured / expected - 1) > _RATE_TOLERANCE:
                found.append(f"{name} got {measured / 1e6:.1f} instead of {expected / 1e6:g} Mbit/s")
        mean = self.datagrams * self.set_to.loss
        if abs(self.lost - mean) > _SIGMAS * math.sqrt(mean) + 0.5:
            found.append(f"{self.lost} of {self.datagrams} datagrams were lost instead of about {mean:.0f}")
        return [*found, *self._fault_of_runs()]

    def _fault_of_runs(self) -> list[str]:
        """Where each datagram is lost by itself, a lost one comes right after another as often as any is lost. Not
        judged where the receiver dropped some, too, which are among the runs and not among the lost."""
        among = sum(length * count for length, count in self.loss_runs.items())
        loss = self.set_to.loss
        if among != self.lost or not among:
            return []
        after_another = among - sum(self.loss_runs.values())
        mean = among * loss
        if abs(after_another - mean) <= _SIGMAS * math.sqrt(mean * (1 - loss)) + 1:
            return []
        return [f"{after_another} of {among} losses came right after another instead of about {mean:.0f}"]

    def too_slow(self) -> str:
        """Why the machine is too slow for what was asked; empty where it is not."""
        if self.late_share > _LATE_SHARE:
            return f"{100 * self.late_share:.0f} % of the packets came more than a tenth of the delay too late"
        if self.waited_share > _WAITED_SHARE:
            return f"the link waited for a processor {100 * self.waited_share:.0f} % of the time"
        return ""


class _Probe:
    """One measurement between hosts of two sites."""

    def __init__(self, hosts: Hosts, port: int) -> None:
        self._hosts = hosts
        self._port = str(port)

    def receiver(self, host: int, what: str, *words: object) -> Command:
        command = self._hosts.start_module(host, "flows", [what, self._port, *map(str, words)])
        command.wait_for_line()
        return command

    def sender(self, host: int, what: str, peer: int, *words: object) -> Command:
        address = self._hosts.addresses[peer]
        return self._hosts.start_module(host, "flows", [what, address, self._port, *map(str, words)])


def _said(command: Command, timeout: float) -> Any:
    done = command.finish(timeout)
    if done.returncode != 0:
        raise HostsError(f"measuring a long link: {(done.stderr or '').strip() or f'exit code {done.returncode}'}")
    return json.loads((done.stdout or "").splitlines()[-1])


def _rates(hosts: Hosts, ports: Callable[[], int], pairs: list[tuple[int, int, int]], seconds: float) -> float:
    """Bits a second of IP packets from host to host, for (from, to, connections)."""
    warm_up = max(seconds / 2, 0.25)  # in which TCP finds the rate
    running = []
    for source, destination, count in pairs:
        probe = _Probe(hosts, ports())
        receiver = probe.receiver(destination, "receive", count, warm_up, seconds)
        running += [(receiver, probe.sender(source, "send", destination, count, warm_up + seconds + 0.5))]
    total = 0.0
    for receiver, sender in running:
        total += _said(receiver, seconds + 60)
        _said(sender, seconds + 60)
    return total / _PAYLOAD


def _many(hosts: Hosts, figures: LinkFigures) -> list[tuple[int, int, int]]:
    """As many flows as fill the link, over all pairs of hosts in turn."""
    of = hosts.sites.hosts_of
    pairs = list(zip(of(figures.first), itertools.cycle(of(figures.second)), strict=False))
    flow_rate, rate = figures.set_to.flow_rate, figures.set_to.rate
    wanted = math.ceil(rate / flow_rate) if rate and flow_rate else 8
    figures.flows = max(min(wanted, _MOST_FLOWS), 1)
    share, more = divmod(figures.flows, len(pairs))
    counted = [(source, destination, share + (i < more)) for i, (source, destination) in enumerate(pairs)]
    return [pair for pair in counted if pair[2] > 0]


def _lose(hosts: Hosts, figures: LinkFigures, port: int, seconds: float) -> None:
    source, destination = hosts.sites.hosts_of(figures.first)[0], hosts.sites.hosts_of(figures.second)[0]
    bits = 8 * 228  # of a datagram of ours with its headers
    a_second = min(5000.0, 0.5 * (figures.expected_one or math.inf) / bits)
    number = max(int(a_second * seconds), 100)
    probe = _Probe(hosts, port)
    receiver = probe.receiver(destination, "count")
    _said(probe.sender(source, "datagrams", destination, number, a_second), 10 * seconds + 60)
    seen = _said(receiver, 60)
    figures.datagrams = seen["until"]
    figures.lost = seen["until"] - seen["came"] - seen["overrun"]
    figures.loss_runs = {int(length): count for length, count in seen["runs"].items()}


def _direction(hosts: Hosts, first: int, second: int, seconds: float, ports: Callable[[], int]) -> LinkFigures:
    figures = LinkFigures(first, second, hosts.sites.of_direction(first, second), 0)
    figures.back_delay_us = hosts.sites.of_direction(second, first).delay_us
    link = (min(first, second), max(first, second))
    source, destination = hosts.sites.hosts_of(first)[0], hosts.sites.hosts_of(second)[0]
    before = hosts.control(*link, "stats")

    probe = _Probe(hosts, ports())
    receiver = probe.receiver(destination, "answer")
    figures.round_trip_us = _said(probe.sender(source, "ask", destination, 20), 120)
    receiver.finish(30)
    figures.one_flow = _rates(hosts, ports, [(source, destination, 1)], seconds)
    figures.many_flows = _rates(hosts, ports, _many(hosts, figures), seconds)
    _lose(hosts, figures, ports(), seconds)

    _add_lateness(figures, before, hosts.control(*link, "stats"))
    return figures


def _add_lateness(figures: LinkFigures, before: dict[str, Any], after: dict[str, Any]) -> None:
    counts = [now - then for now, then in zip(after["lateness"]["counts"], before["lateness"]["counts"], strict=True)]
    limit_us = max(1000, figures.set_to.delay_us // 10)
    late = sum(count for power, count in enumerate(counts) if 2**power > 2 * limit_us)
    took = after["time_ns"] - before["time_ns"]
    figures.late_us = (after["lateness"]["sum_ns"] - before["lateness"]["sum_ns"]) / 1e3 / max(sum(counts), 1)
    figures.late_share = late / max(sum(counts), 1)
    figures.waited_share = (after.get("waited_for_cpu_ns", 0) - before.get("waited_for_cpu_ns", 0)) / took
    figures.cpu_share = (after["cpu_ns"] - before["cpu_ns"]) / took


def measure_sites(hosts: Hosts, seconds: float = 2.0, progress: Callable[[str], None] = print) -> list[LinkFigures]:
    """Measures every long link in both directions, one after the other: about 4 * seconds + 3 each. `progress` is told
    what is being measured."""
    numbers = itertools.count(7100)
    figures = []
    for pair in hosts.sites.pairs():
        for first, second in (pair, pair[::-1]):
            progress(f"from site {first} to site {second}")
            figures.append(_direction(hosts, first, second, seconds, lambda: next(numbers)))
    return figures
