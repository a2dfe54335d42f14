# SPDX-License-Identifier: BSD-3-Clause
"""Steering of packets on test hosts: on which core the kernel handles what arrives at their interfaces.

As it comes that is the core of who sends, or of the timer that lets a shaped packet go. RPS hands packets to given
cores, RFS those of a connection to the core that reads it (the kernel's Documentation/networking/scaling.rst).
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from urakata import cpus
from urakata.hosts.command import HostsError

if TYPE_CHECKING:
    from urakata.hosts.instance import Hosts

FLOWS = 4096
"""Connections whose readers are remembered for a queue; for the machine 8 times as many."""

_QUEUES = "/sys/class/net/eth0/queues"
_MACHINE = Path("/proc/sys/net/core/rps_sock_flow_entries")
_LOOPBACK = Path("/sys/class/net/lo/queues/rx-0/rps_cpus")

# A file and what it holds, or is to hold, in turn.
_READ = (
    f"cd {_QUEUES} && for file in rx-*/rps_cpus rx-*/rps_flow_cnt; do "
    "value=$(cat $file) || exit 1; echo $file $value; done"
)
_WRITE = f'cd {_QUEUES} || exit 1; code=0; while [ $# -gt 1 ]; do echo "$2" > "$1" || code=1; shift 2; done; exit $code'


def obstacle(way: str, machine: Path = _MACHINE, loopback: Path = _LOOPBACK) -> str:
    """Why test hosts cannot be steered that way here; empty: they can."""
    if way == "none":
        return ""
    if os.geteuid() != 0:
        return "only root steers packets, also on test hosts"
    if not loopback.is_file():
        return "this kernel cannot hand packets to other cores (it has no RPS)"
    if way == "rfs" and not os.access(machine, os.W_OK):
        return f"RFS needs {machine}, which is for the whole machine, and cannot be written here"
    return ""


def _shell(hosts: Hosts, host: int, script: str, words: Sequence[str] = ()) -> str:
    try:
        done = hosts.execute(host, ["/bin/sh", "-c", script, "sh", *words], timeout=20)
    except subprocess.TimeoutExpired as error:
        raise HostsError(f"{hosts.names[host]}: packets cannot be steered: no answer") from error
    if done.returncode != 0:
        raise HostsError(f"{hosts.names[host]}: packets cannot be steered: {done.stderr.strip()}")
    return done.stdout


def _settings(way: str, files: Iterable[str], cores: Sequence[int]) -> list[str]:
    name, value = ("rps_cpus", cpus.mask_text(cores)) if way == "rps" else ("rps_flow_cnt", str(FLOWS))
    return [word for file in files if file.endswith(f"/{name}") for word in (file, value)]


@contextmanager
def _remembered(machine: Path) -> Iterator[None]:
    """The machine's memory of connections, where it has none."""
    before = machine.read_text().strip()
    if before == "0":
        machine.write_text(str(8 * FLOWS))
    try:
        yield
    finally:
        if before == "0":
            machine.write_text(before)


@contextmanager
def steered(hosts: Hosts, way: str, cores: Sequence[Sequence[int]], machine: Path = _MACHINE) -> Iterator[None]:
    """Within, packets that arrive at host i are handled on cores[i] (rps), or by the core of who reads them (rfs, which
    does not look at `cores`). Then all is as it was. HostsError: the kernel refuses it."""
    if way == "none":
        yield
        return
    with ExitStack() as restored:
        for host in range(hosts.count):
            before = _shell(hosts, host, _READ).split()
            restored.callback(_shell, hosts, host, _WRITE, before)
            _shell(hosts, host, _WRITE, _settings(way, before[::2], cores[host]))
        if way == "rfs":
            restored.enter_context(_remembered(machine))
        yield
