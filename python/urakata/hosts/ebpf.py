# SPDX-License-Identifier: BSD-3-Clause
"""eBPF code for small collectives at the interfaces of test hosts, as `urakata kernel attach` puts it at real ones."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from urakata import paths
from urakata.hosts.command import HostsError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from urakata.hosts.instance import Hosts


def file() -> str:
    """The eBPF code. NotFoundError: it was left out when Urakata was built."""
    path = paths.preload_libraries() / "reduce.bpf.o"
    if not path.is_file():
        raise paths.NotFoundError(
            f"there is no {path}: Urakata was built without eBPF code (it takes clang, libbpf-dev and libxdp-dev)"
        )
    return str(path)


def attach(hosts: Hosts, operations: Sequence[str] = ()) -> None:
    """On every host, for who calls, with operations of programs' own, each NAME=FILE; in the kernel's own part, since a
    link of test hosts sends nothing from a driver's eBPF code unless both of its ends run some. HostsError: the kernel
    refuses it, or the right is missing."""
    if os.geteuid() != 0:
        raise HostsError("eBPF code is attached by root only")
    # Tables are kept in a file system of each host's own, with which they go.
    own = "mkdir -p /run/urakata/bpf && mount -t bpf -o mode=0755 bpf /run/urakata/bpf"
    own_operations = [word for operation in operations for word in ("--op", operation)]
    kernel = str(paths.program("urakata-kernel"))
    attach_words = shlex.join([kernel, "attach", "eth0", file(), "--generic", *own_operations])
    for host, name in enumerate(hosts.names):
        done = hosts.execute(host, ["sh", "-c", f"{own} && exec {attach_words}"])
        if done.returncode != 0:
            raise HostsError(f"{name}: {done.stderr.strip().removeprefix('urakata-kernel: ')}")
