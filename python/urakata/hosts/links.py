# SPDX-License-Identifier: BSD-3-Clause
"""The network of a site of test hosts, as input for `ip -batch` and `tc -batch`; nothing is run here.

Without sites all hosts are one. Every host has one interface, eth0, the end of a veth pair; the other ends, link0,
link1, ..., are ports of one bridge.
The bridge and the ports live in a network namespace of their own, so no name and no address can meet one outside.
A token bucket (tbf) on eth0 shapes what the host sends, another on its port what it receives.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field

MTU = 9000
"""Bytes. Large frames, so that headers take less than 1 % of the set rate and a gigabit costs little CPU."""

SEGMENTATION = 65536
"""Largest packet in bytes that the kernel hands through a link whole, as to a network card that cuts it into frames by
itself. A packet passes a token bucket as one, so smaller ones would make the link more like a wire; but then the wire
takes CPU time that no wire takes: a TCP flow costs twice as much at 27 000 bytes."""

QUEUE = 4 << 20
"""Bytes that wait at a link before packets are dropped, when several hosts send to one: a switch with deep buffers."""

MAX_HOSTS = 200

NETWORK = "10.87"
"""The first two bytes of all addresses; the third is the site's number."""

SYSTEM_PATH = "/usr/sbin:/sbin:/usr/bin:/bin"
"""Where ip and tc are; an ordinary user's PATH lacks the first two."""

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9}
_DELAY_UNITS = {"us": 1, "ms": 10**3, "s": 10**6}


def parse_rate(text: str) -> int:
    """Bits a second of a rate as tc writes it: 1gbit, 100mbit, 2.5gbit, 64kbit."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)bit", text.strip().lower())
    rate = round(float(match[1]) * _UNITS[match[2]]) if match else 0
    if rate < 64_000:
        raise ValueError(f"the rate {text!r} is not a number with kbit, mbit or gbit of at least 64kbit, such as 1gbit")
    return rate


def parse_delay(text: str) -> int:
    """Microseconds of a delay such as 50us, 8ms, 0.1s."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(us|ms|s)", text.strip().lower())
    if not match:
        raise ValueError(f"the delay {text!r} is not a number with us, ms or s, such as 8ms")
    return round(float(match[1]) * _DELAY_UNITS[match[2]])


def burst_bytes(rate: int) -> int:
    """Bytes that may pass a link at once after a pause: what the rate carries in 1 ms, so that a timer that fires
    late on a busy machine costs no throughput, and never less than two whole packets."""
    return max(2 * SEGMENTATION, rate // 8 // 1000)


def host_name(index: int) -> str:
    """Name of a host, the same in every instance: instances cannot see each other."""
    return f"host{index}"


def members(sizes: Sequence[int], site: int) -> list[int]:
    """The hosts of a site: hosts are numbered site by site."""
    first = sum(sizes[:site])
    return list(range(first, first + sizes[site]))


def place(sizes: Sequence[int], index: int) -> tuple[int, int]:
    """The site of a host and its number there."""
    site = 0
    while index >= sizes[site]:
        index -= sizes[site]
        site += 1
    return site, index


def address(sizes: Sequence[int], index: int) -> str:
    """IPv4 address of a host, where the sites have these sizes."""
    site, number = place(sizes, index)
    return f"{NETWORK}.{site}.{number + 1}"


def hosts_file(sizes: Sequence[int]) -> str:
    """What the hosts find at /etc/hosts."""
    lines = [f"{address(sizes, i)} {host_name(i)}\n" for i in range(sum(sizes))]
    return "".join(["127.0.0.1 localhost\n", *lines])


def bridge_commands(hosts: Sequence[int], pids: Sequence[int]) -> str:
    """For ip, in the bridge's namespace: the bridge and a pair for each host, whose far end goes to its namespace."""
    lines = ["link add name switch type bridge stp_state 0 forward_delay 0"]
    for i, pid in zip(hosts, pids, strict=True):
        packets = f"mtu {MTU} gso_max_size {SEGMENTATION}"
        lines.append(f"link add name link{i} {packets} type veth peer name eth0 {packets} netns {pid}")
        lines.append(f"link set dev link{i} addrgenmode none")
        lines.append(f"link set dev link{i} master switch up")
    lines += ["link set dev switch addrgenmode none", "link set dev switch up"]
    return "\n".join(lines)


def host_commands(sizes: Sequence[int], index: int) -> str:
    """For ip, in a host's namespace: its address."""
    return "\n".join(
        [
            "link set dev lo up",
            "link set dev eth0 addrgenmode none",
            f"address add {address(sizes, index)}/24 dev eth0",
            "link set dev eth0 up",
        ]
    )


def shape_commands(device: str, rate: int | None, delay_us: int | None) -> str:
    """For tc: the rate, and behind it the delay, of what leaves by `device`; None leaves that out."""
    lines = []
    if rate is not None:
        lines.append(
            f"qdisc add dev {device} root handle 1: tbf rate {rate}bit burst {burst_bytes(rate)} limit {QUEUE}"
        )
    if delay_us:
        place = "parent 1:1" if rate is not None else "root"
        lines.append(f"qdisc add dev {device} {place} handle 2: netem delay {delay_us}us limit 100000")
    return "\n".join(lines)


@dataclass(frozen=True)
class Plan:
    """What an instance consists of; travels as JSON to the process that makes it."""

    sites: list[int]
    """Hosts of each site; one site has neither gateway nor long link."""
    rate: int | None
    delay_us: int | None
    folder: str
    cpus: list[list[int]]
    """For each host the CPUs that its processes may use."""
    long_links: list[tuple[int, int, list[str]]] = field(default_factory=list)
    """Two sites, and what the link between them is told before it starts."""
    link_program: str = ""
    """The path of urakata-link."""
    settings: dict[str, str] = field(default_factory=dict)
    """What is written below /proc/sys on every host."""
    congestion: list[str | None] = field(default_factory=list)
    """For each host the congestion control towards other sites; None: the machine's."""

    @property
    def count(self) -> int:
        """Hosts in all."""
        return sum(self.sites)


def run_batch(program: str, commands: str) -> None:
    """Runs `ip` or `tc` on a list of commands in the namespace of the caller; OSError with its words on failure."""
    if not commands:
        return
    path = shutil.which(program, path=SYSTEM_PATH)
    if path is None:
        raise OSError(f"the program {program} is missing: install iproute2")
    done = subprocess.run([path, "-batch", "-"], input=commands, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        words = " ".join(done.stderr.split()) or f"exit code {done.returncode}"
        if "qdisc kind is unknown" in words:
            words = f"this kernel lacks {'netem, which delays' if 'netem' in commands else 'tbf, which shapes'} links"
        raise OSError(f"{program}: {words}")
