# SPDX-License-Identifier: BSD-3-Clause
"""A network interface's interrupts and steering, as /proc and /sys say."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from urakata import cpus


@dataclass(frozen=True)
class Roots:
    """Where the kernel's files are."""

    proc: Path = Path("/proc")
    sys: Path = Path("/sys")


@dataclass(frozen=True)
class Interrupt:
    """A hardware interrupt of an interface's device."""

    number: int
    name: str
    """As the driver calls it."""
    allowed: str
    """CPUs that may take it, as the kernel writes them; empty: not known."""
    counts: Mapping[int, int]
    """For each core how often it has taken it since the machine's start; those that never have are left out."""


@dataclass(frozen=True)
class Queue:
    """A receive queue."""

    name: str
    cores: list[int] | None
    """To which RPS hands its packets; none: off. None: this kernel has no RPS."""
    flows: int
    """Flows whose readers RFS remembers; 0: off."""


@dataclass(frozen=True)
class Interface:
    """`driver` is empty where there is no device: a virtual interface, without interrupts of its own."""

    name: str
    driver: str
    interrupts: list[Interrupt] = field(default_factory=list)
    queues: list[Queue] = field(default_factory=list)

    @property
    def interrupted(self) -> list[int]:
        """The cores that have taken interrupts of the device."""
        return sorted({core for interrupt in self.interrupts for core in interrupt.counts})

    @property
    def steered(self) -> list[int]:
        """The cores to which RPS hands packets of any queue; none: off."""
        return sorted({core for queue in self.queues for core in queue.cores or ()})


def _text(path: Path) -> str:
    """Empty where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _number(path: Path) -> int:
    text = _text(path)
    return int(text) if text.isdecimal() else 0


def _folders(path: Path) -> Iterator[Path]:
    """In the order of the numbers at the ends of their names."""
    if path.is_dir():
        yield from sorted(path.iterdir(), key=lambda one: (re.sub(r"\d+$", "", one.name), _last_number(one.name)))


def _last_number(name: str) -> int:
    found = re.search(r"\d+$", name)
    return int(found[0]) if found else -1


def _all_interrupts(text: str) -> Iterator[tuple[int, str, dict[int, int]]]:
    """Number, name and counts of each hardware interrupt of /proc/interrupts. Cores that are offline have no column."""
    head, *lines = text.splitlines() or [""]
    cores = [int(word.removeprefix("CPU")) for word in head.split()]
    for line in lines:
        label, _, rest = line.partition(":")
        fields = rest.split()
        if label.strip().isdecimal() and len(fields) > len(cores):
            counted = zip(cores, map(int, fields), strict=False)
            yield int(label), fields[-1], {core: count for core, count in counted if count}


def _of_device(device: Path) -> set[int]:
    """A virtio interface's device is a child of the one that has the interrupts."""
    numbers = {int(entry.name) for folder in (device, device.parent) for entry in _folders(folder / "msi_irqs")}
    return numbers or ({_number(device / "irq")} - {0})


def _interrupts(name: str, device: Path, roots: Roots) -> list[Interrupt]:
    """Those of the device, and what has the interface's name where /sys does not tell which they are."""
    numbers = _of_device(device)
    own_name = re.compile(rf"(?<!\w){re.escape(name)}(?!\w)")
    return [
        Interrupt(number, called, _text(roots.proc / "irq" / str(number) / "smp_affinity_list"), counts)
        for number, called, counts in _all_interrupts(_text(roots.proc / "interrupts"))
        if number in numbers or own_name.search(called)
    ]


def _queue(folder: Path) -> Queue:
    mask = _text(folder / "rps_cpus")
    return Queue(folder.name, cpus.of_mask(mask) if mask else None, _number(folder / "rps_flow_cnt"))


def read_interface(name: str, roots: Roots | None = None) -> Interface | None:
    """None: there is no such interface."""
    roots = roots or Roots()
    folder = roots.sys / "class" / "net" / name
    if not folder.is_dir():
        return None
    queues = [_queue(one) for one in _folders(folder / "queues") if one.name.startswith("rx-")]
    if not (folder / "device").exists():
        return Interface(name, "", [], queues)
    device = (folder / "device").resolve()
    return Interface(name, (device / "driver").resolve().name, _interrupts(name, device, roots), queues)


def remembered_flows(roots: Roots | None = None) -> int | None:
    """Flows whose readers the machine remembers for RFS; None: it does not say, as inside a network namespace."""
    path = (roots or Roots()).proc / "sys" / "net" / "core" / "rps_sock_flow_entries"
    return _number(path) if path.is_file() else None
