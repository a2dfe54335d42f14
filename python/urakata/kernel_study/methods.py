"""Who carries a collective on: the program itself, the host, and Urakata's engines."""

from __future__ import annotations

from collections.abc import Mapping
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
    "host": Method("the host's own"),
    "poll": Method("engine poll", ("--engine", "poll")),
    "thread": Method("engine thread", ("--engine", "thread")),
    "kernel": Method("engine kernel", ("--engine", "kernel")),
}


@dataclass(frozen=True)
class Part:
    """A part of bench/kernel with its own arguments, over so many hosts; `methods`: those that it has."""

    name: str
    title: str
    hosts: int
    arguments: tuple[str, ...]
    methods: tuple[str, ...]
    options: tuple[str, ...] = field(default=())
    """Of urakata-exec, whatever the method."""


_CHAIN = ("--algorithm", "bcast:chain")

PARTS: Mapping[str, Part] = {
    "hop": Part(
        "hop",
        "A relay that computes without a call",
        3,
        ("--part", "hop"),
        ("explicit", "thread", "kernel"),
        _CHAIN,
    ),
    "fine": Part(
        "fine",
        "Broadcast by a relay that tests after each product of 4 x 4",
        3,
        ("--part", "lost", "--product", "4"),
        ("explicit", "blocked", "host", "poll", "thread", "kernel"),
        _CHAIN,
    ),
    "coarse": Part(
        "coarse",
        "The same with products of 40 x 40",
        3,
        ("--part", "lost", "--product", "40"),
        ("explicit", "blocked", "host", "poll", "thread", "kernel"),
        _CHAIN,
    ),
    "group": Part(
        "group",
        "Two ranks that compute without a call until all has come",
        2,
        ("--part", "group"),
        ("thread", "kernel"),
    ),
}
