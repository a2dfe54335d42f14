# SPDX-License-Identifier: BSD-3-Clause
"""Who carries a collective on: the program itself, the MPI library, and Urakata's engines; and what they are measured
with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Method:
    """`options`: of urakata-exec; None: Urakata is not there. `how`: --method of bench/kernel."""

    title: str
    options: tuple[str, ...] | None = None
    how: str = "collective"


METHODS: Mapping[str, Method] = {
    "explicit": Method("Isend, Irecv and Test", how="explicit"),
    "blocked": Method("a thread that blocks in recv()", how="blocked"),
    "host": Method("the MPI library's own"),
    "poll": Method("engine poll", ("--engine", "poll")),
    "thread": Method("engine thread", ("--engine", "thread")),
    "kernel": Method("engine kernel", ("--engine", "kernel")),
}

WOKEN = ("thread", "kernel")
"""Methods that go on when a packet comes: what steering is measured with, and whose interrupts are shown."""


@dataclass(frozen=True)
class Algorithm:
    """How a broadcast goes from rank to rank. `of_host`: variables with which a family of MPI takes it, too; another
    family's own broadcast goes its own way."""

    title: str
    of_mpi: Mapping[str, Mapping[str, str]]


ALGORITHMS: Mapping[str, Algorithm] = {
    "chain": Algorithm("pipeline", {"openmpi": {"OMPI_MCA_coll_libnbc_ibcast_algorithm": "3"}}),
    "binomial": Algorithm("tree", {"openmpi": {"OMPI_MCA_coll_libnbc_ibcast_algorithm": "2"}}),
}

STEERING: Mapping[str, str] = {"none": "as they come", "rps": "RPS", "rfs": "RFS"}
"""What decides on which core a host's packets are handled (urakata.hosts.steering)."""


@dataclass(frozen=True)
class Part:
    """A part of bench/kernel with its own arguments, over so many hosts unless others are asked for; `methods`: those
    that it has."""

    name: str
    title: str
    hosts: int
    arguments: tuple[str, ...]
    methods: tuple[str, ...]
    algorithms: tuple[str, ...] = ()
    """That its broadcast can have; none: chosen by size, and the part has other operations, too."""
    relays: bool = True
    """All hosts but the first and the last hand messages on."""
    fixed: bool = False
    """Always of so many hosts."""
    of_method: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Further arguments of a method."""

    def host_count(self, wanted: int | None) -> int:
        """Of how many hosts it is."""
        return self.hosts if self.fixed or wanted is None else wanted

    def relay_hosts(self, count: int) -> list[int]:
        """Of so many hosts those that hand messages on."""
        return list(range(1, count - 1)) if self.relays else []


# Nothing moves what these do before a rank makes a call.
_AWAITED = ("--compute-ms", "5")

PARTS: Mapping[str, Part] = {
    "hop": Part(
        "hop",
        "A relay that computes without a call",
        3,
        ("--part", "hop"),
        ("explicit", "host", "poll", "thread", "kernel"),
        ("chain",),
        fixed=True,
        of_method={"host": _AWAITED, "poll": _AWAITED},
    ),
    "fine": Part(
        "fine",
        "Broadcast by relays that test after each product of 4 x 4",
        3,
        ("--part", "lost", "--product", "4"),
        ("explicit", "blocked", "host", "poll", "thread", "kernel"),
        ("chain", "binomial"),
    ),
    "coarse": Part(
        "coarse",
        "The same with products of 40 x 40",
        3,
        ("--part", "lost", "--product", "40"),
        ("explicit", "blocked", "host", "poll", "thread", "kernel"),
        ("chain", "binomial"),
    ),
    "group": Part(
        "group",
        "Ranks that compute without a call until all has come",
        2,
        ("--part", "group"),
        ("host", "poll", "thread", "kernel"),
        relays=False,
        of_method={"host": _AWAITED, "poll": _AWAITED},
    ),
}


@dataclass(frozen=True)
class Variant:
    """How a job of a part is run."""

    method: str
    algorithm: str = ""
    steering: str = "none"

    @property
    def title(self) -> str:
        """Of a job, for people."""
        words = [METHODS[self.method].title]
        if self.algorithm:
            words.append(self.algorithm)
        if self.steering != "none":
            words.append(STEERING[self.steering])
        return ", ".join(words)


def variants(part: Part, methods: Sequence[str], algorithms: Sequence[str], steering: Sequence[str]) -> list[Variant]:
    """What is run of a part: the program's own messages go along the chain only; steering is for WOKEN."""
    found = []
    for algorithm in [one for one in algorithms if one in part.algorithms] or list(part.algorithms[:1]) or [""]:
        for method in (one for one in part.methods if one in methods):
            if METHODS[method].how != "collective" and algorithm not in ("", "chain"):
                continue
            wanted = [one for one in steering if one == "none" or method in WOKEN]
            found += [Variant(method, algorithm, one) for one in wanted]
    return found


@dataclass(frozen=True)
class Bed:
    """What is run of a part, over how many hosts."""

    part: Part
    hosts: int
    variants: Sequence[Variant]
