# SPDX-License-Identifier: BSD-3-Clause
"""Links between test hosts that break under a job."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

import pytest
from spaces import until

from urakata.hosts import Hosts


def cut(hosts: Hosts, one: int, other: int) -> None:
    """From now on no packet of one of the two hosts reaches the other: they have wrong addresses of each other."""
    for here, there in ((one, other), (other, one)):
        words = ["ip", "neigh", "replace", hosts.addresses[there], "lladdr", "02:00:00:00:00:01", "dev", "eth0"]
        hosts.execute(here, [*words, "nud", "permanent"])


def refuse_connections(hosts: Hosts, host: int) -> None:
    """A firewall: nobody opens a TCP connection to this host any more, but to ports below 32768, which its listeners
    get only where they ask for one (Open MPI's do). What the host opens itself goes both ways."""
    opening = "match ip protocol 6 0xff match u8 0x02 0x12 at 33 match u16 0x8000 0x8000 at 22"  # SYN, but no ACK
    for line in (
        "ip tuntap add dev nowhere mode tap",
        "ip link set dev nowhere up",
        "tc qdisc add dev eth0 clsact",
        f"tc filter add dev eth0 ingress protocol ip prio 1 u32 {opening} action mirred egress redirect dev nowhere",
    ):
        done = hosts.execute(host, line.split())
        if done.returncode != 0:
            pytest.skip(f"no such firewall here: {line}: {done.stderr.strip()}")


def wait_until_it_works(job: Future[tuple[int, str]], folder: Path, ranks: int) -> None:
    """So many ranks have made their file works.RANK in the folder, or the job is over."""
    until(lambda: job.done() or len(list(folder.glob("works.*"))) >= ranks, "the job does not come to work", 120)
