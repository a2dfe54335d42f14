# SPDX-License-Identifier: BSD-3-Clause
"""What `urakata check` says of the network's interrupts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from rich.table import Table

from urakata import cpus
from urakata.interrupts.interface import Interface, Roots, read_interface, remembered_flows

MEANING = (
    "engine kernel: an operation goes on on the core of the thread that started it; a packet that is handled on "
    "another core costs that thread an interprocessor interrupt"
)

_MOST_NAMED = 4
"""Interrupts of an interface that are named one by one."""


@dataclass(frozen=True)
class Balance:
    """The interfaces by which this node reaches others, fastest first."""

    interfaces: list[Interface]
    flows: int | None
    """See remembered_flows()."""

    def follows_readers(self, interface: Interface) -> bool:
        """Whether RFS is on for it."""
        return bool(self.flows) and any(queue.flows for queue in interface.queues)

    def as_json(self) -> dict[str, Any]:
        """What was found, and the sentences."""
        return {
            "interfaces": [
                {**asdict(one), "packets": packets(one, self.follows_readers(one))} for one in self.interfaces
            ],
            "rps_sock_flow_entries": self.flows,
            "meaning": MEANING,
            "advice": advice(self.interfaces),
        }


def look(names: Sequence[str], roots: Roots | None = None) -> Balance:
    """At these interfaces; those that are not there are left out."""
    found = [read_interface(name, roots) for name in names]
    return Balance([one for one in found if one], remembered_flows(roots))


def _cores(numbers: Sequence[int]) -> str:
    return ("core " if len(numbers) == 1 else "cores ") + cpus.list_text(numbers)


def packets(interface: Interface, follows_readers: bool) -> str:
    """Where its packets are handled; one sentence."""
    if interface.driver:
        taken = interface.interrupted
        first = f"where its interrupts go, {_cores(taken)}" if taken else "where its interrupts go, none so far"
    else:
        first = "on the core of who sends them, or of the interface beneath it: it is virtual and takes no interrupts"
    ways = []
    if interface.steered:
        ways.append(f"RPS hands them to {_cores(interface.steered)}")
    if follows_readers:
        ways.append("RFS hands those of known connections to the core that reads them")
    return f"{interface.name}: packets are handled " + "; ".join([first, *ways])


def advice(interfaces: Sequence[Interface]) -> str:
    """What an administrator can do; empty where there is nothing to be done."""
    for interface in interfaces:
        for queue in interface.queues:
            if queue.cores is not None:
                file = f"/sys/class/net/{interface.name}/queues/{queue.name}/rps_cpus"
                return f"an administrator moves them: echo MASK > {file} (2 is core 1, 5 is cores 0 and 2, 0 is off)"
    return "this kernel cannot hand packets to other cores (it has no RPS)" if interfaces else ""


def _taken(interface: Interface) -> str:
    if not interface.driver:
        return "none: virtual"
    active = [one for one in interface.interrupts if one.counts]
    if len(active) > _MOST_NAMED:
        return f"{len(active)} on {_cores(interface.interrupted)}"
    return ", ".join(f"{one.name} on {_cores(list(one.counts))}" for one in active) or "none so far"


def _steering(interface: Interface) -> str:
    if all(queue.cores is None for queue in interface.queues):
        return "not in this kernel"
    return f"to {_cores(interface.steered)}" if interface.steered else "off"


def table(balance: Balance) -> Table:
    """A row for each interface."""
    titles = ("interface", "driver", "receive queues", "hardware interrupts", "RPS", "RFS")
    shown = Table(*titles, box=None, pad_edge=False, header_style="bold")
    for one in balance.interfaces:
        follows = "on" if balance.follows_readers(one) else "off"
        shown.add_row(one.name, one.driver or "-", str(len(one.queues)), _taken(one), _steering(one), follows)
    return shown


def sentences(balance: Balance) -> list[str]:
    """Below the table."""
    if not balance.interfaces:
        return ["no interface of this node leads to another one"]
    each = [packets(one, balance.follows_readers(one)) for one in balance.interfaces]
    return [*each, MEANING, advice(balance.interfaces)]
