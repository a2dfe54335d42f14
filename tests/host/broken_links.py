"""Links between test hosts that break under a job."""

from __future__ import annotations

from concurrent.futures import Future
from pathlib import Path

from spaces import until

from urakata.hosts import Hosts


def cut(hosts: Hosts, one: int, other: int) -> None:
    """From now on no packet of one of the two hosts reaches the other: they have wrong addresses of each other."""
    for here, there in ((one, other), (other, one)):
        words = ["ip", "neigh", "replace", hosts.addresses[there], "lladdr", "02:00:00:00:00:01", "dev", "eth0"]
        hosts.execute(here, [*words, "nud", "permanent"])


def wait_until_it_works(job: Future[tuple[int, str]], folder: Path, ranks: int) -> None:
    """So many ranks have made their file works.RANK in the folder, or the job is over."""
    until(lambda: job.done() or len(list(folder.glob("works.*"))) >= ranks, "the job does not come to work", 120)
