# SPDX-License-Identifier: BSD-3-Clause
"""Where the jobs of a session run: opened for it, and closed behind it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence

from urakata import paths
from urakata.goals.errors import CannotMeasureError, MeasurementError
from urakata.goals.first_demo import FreshClone
from urakata.goals.installing import EmptyEnvironment
from urakata.goals.jobs import AcrossHosts, Node, Place
from urakata.hosts import Hosts, HostsError, Sites, available, ebpf


@contextlib.contextmanager
def open_places(
    wanted: set[str],
    hosts: int,
    rate: str,
    sites: Sites | None = None,
    with_ebpf: bool = False,
    congestion: str | None = None,
    operations: Sequence[str] = (),
) -> Iterator[dict[str, Place]]:
    """The places named node, environment, clone, hosts and sites, as far as wanted, not both of the latter.

    CannotMeasureError where test hosts are not possible. with_ebpf: that for small collectives is attached on
    them, with operations of programs' own of these names. congestion: TCP's control towards other sites; None: the
    machine's.
    """
    here: dict[str, Place] = {"node": Node(), "environment": EmptyEnvironment(), "clone": FreshClone()}
    places = {name: place for name, place in here.items() if name in wanted}
    across = wanted & {"hosts", "sites"}
    if not across:
        yield places
        return
    possible, reason = available(sites=sites is not None)
    if not possible:
        raise CannotMeasureError(f"test hosts are not possible here: {reason}")
    try:
        made = Hosts(count=hosts, rate=rate) if sites is None else Hosts(sites=sites, congestion=congestion)
    except ValueError as error:
        raise CannotMeasureError(str(error)) from error
    try:
        with made as opened:
            if with_ebpf:
                ebpf.attach(opened, [f"{name}={paths.program(f'bench/{name}.bpf.o')}" for name in operations])
            places[across.pop()] = AcrossHosts(opened)
            yield places
    except HostsError as error:
        raise MeasurementError(f"test hosts: {error}") from error
