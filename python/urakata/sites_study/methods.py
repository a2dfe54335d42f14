# SPDX-License-Identifier: BSD-3-Clause
"""Who performs a collective across a long link."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urakata.hosts import LinkSettings

OPERATIONS = ("scatter", "gather", "bcast", "reduce", "allgather", "allreduce", "alltoall")

STRAIGHT = ("scatter", "gather")
"""Operations that may go without leaders; bench/sites also sends their remote bytes over plain sockets."""

RELAYED = ("scatter", "bcast")
"""Operations that bench/sites runs while a leader computes."""

MOST_SOCKETS = 512
"""As bench/sites has it: rank 0 has a descriptor and a thread for each."""

MOST_STREAMS = 64
"""Of option CONNECTIONS."""

FORCED = ("lanes ", "straight ")
"""How names of methods begin whose lanes were asked for."""

_MOST_CHOSEN_STREAMS = 16
"""Connections of a pair of ranks that Urakata has by itself."""


@dataclass(frozen=True)
class Method:
    """`options`: of urakata-exec; None: Urakata is not there. `family`: of host that can do so; empty: all."""

    name: str
    title: str
    options: tuple[str, ...] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    family: str = ""
    operations: tuple[str, ...] = OPERATIONS

    def performs(self, operation: str) -> bool:
        """Can the operation go this way?"""
        return operation in self.operations


def _straight(streams: int) -> Method:
    options = ("--engine", "poll", "--connections", str(streams))
    return Method(f"straight S={streams}", f"Urakata, straight, CONNECTIONS={streams}", options, operations=STRAIGHT)


def _lanes(lanes: int, streams: int | None) -> Method:
    options = ("--engine", "poll", "--lanes", str(lanes))
    if streams is None:
        return Method(f"lanes {lanes}", f"Urakata, LANES={lanes}", options)
    title = f"Urakata, LANES={lanes} CONNECTIONS={streams}"
    return Method(f"lanes {lanes} S={streams}", title, (*options, "--connections", str(streams)))


def streams_that_fill(link: LinkSettings, ranks: int) -> int:
    """Connections of each of so many pairs of ranks that fill the link together; 4 where no rate says how many."""
    if not link.rate or not link.flow_rate:
        return 4
    return min(max(math.ceil(link.rate / link.flow_rate / ranks), 1), MOST_STREAMS)


def most_sockets(sizes: Sequence[int]) -> int:
    """As many as rank 0 has connections to the other sites, of so many hosts each, at the most."""
    return min(_MOST_CHOSEN_STREAMS * sum(sizes[1:]), MOST_SOCKETS)


def numbers_of_sockets(sizes: Sequence[int]) -> list[int]:
    """4, 16, 64 and so on up to the most that are worth comparing with."""
    most = most_sockets(sizes)
    return sorted({*(4**power for power in range(1, 5) if 4**power < most), most})


def methods(sockets: Sequence[int], lanes: Sequence[int], streams: Sequence[int], filling: int) -> list[Method]:
    """The MPI library as it comes and with several links a peer, plain sockets, Urakata's choice and forced ones: each
    number of lanes with each of `streams`, or, where that is empty, with as many connections as Urakata takes;
    straight ones have `filling` then."""
    links = {"OMPI_MCA_btl_tcp_links": "4"}
    plain = [
        Method(f"sockets {n}", f"{n} plain sockets", environment={"SITES_SOCKETS": str(n)}, operations=STRAIGHT)
        for n in sockets
    ]
    return [
        Method("host", "the MPI library's own"),
        Method("links", "the MPI library's own, 4 links a peer", environment=links, family="openmpi"),
        *plain,
        Method("urakata", "Urakata", ("--engine", "poll")),
        *(_straight(n) for n in streams or [filling]),
        *(_lanes(p, s) for p in lanes for s in streams or (None,)),
    ]


def leaders(milliseconds: float) -> list[Method]:
    """Urakata over two lanes, by each engine, while rank 1 computes for so long: it is the leader of the root's site
    that is not the root."""
    return [
        Method(
            engine,
            f"Urakata, engine {engine}, a site leader computes",
            ("--engine", engine, "--lanes", "2"),
            {"SITES_COMPUTE": f"1:{milliseconds:g}"},
            operations=RELAYED,
        )
        for engine in ("poll", "thread")
    ]
