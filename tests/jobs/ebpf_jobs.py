# SPDX-License-Identifier: BSD-3-Clause
"""Jobs under engine kernel on test hosts that have eBPF code at their interfaces, for tests of small collectives."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pytest
from jobs import FULL, compiled, named

from urakata import paths
from urakata.hosts import Hosts, HostsError, ebpf

EXEC = str(paths.program("urakata-exec"))
try:
    KERNEL = str(paths.program("urakata-kernel"))
except paths.NotFoundError as error:
    pytest.skip(f"built without eBPF code: {error}", allow_module_level=True)
EBPF = "MPI_COMM_WORLD has a channel set, and eBPF code for small collectives"
CASES = "20000" if FULL else "500"
SECONDS = 1500.0 if FULL else 120.0


def attach(hosts: Hosts, operations: Sequence[str] = ()) -> None:
    """Skips where the right or what builds it is missing."""
    try:
        ebpf.attach(hosts, operations)
    except (HostsError, paths.NotFoundError) as error:
        pytest.skip(f"no eBPF code here: {error}")


def run(
    hosts: Hosts, program: list[str], *options: str, name: str = "openmpi", before: Sequence[str] = ()
) -> tuple[int, str]:
    """Exit code and output. `before`: words of a program that starts each rank."""
    mpi = named(name)
    words = [*before, EXEC, "--engine", "kernel", "--verbose", "2", *options]
    done = hosts.run([*words, "--", *program], mpi_name=mpi.launcher, env=mpi.environment, timeout=SECONDS)
    return done.returncode, done.stdout + done.stderr


def skip_without_a_ring(hosts: Hosts, folder: Path) -> None:
    """eBPF code comes with engine kernel only."""
    _, output = run(hosts, [str(compiled(named("openmpi"), "requests_exhausted", folder))])
    if EBPF not in output and (said := re.search(r"engine \w+ instead of kernel: .*(uring|URAKATA_KERNEL).*", output)):
        pytest.skip(said.group())
