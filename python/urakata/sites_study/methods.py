"""Who carries a collective across a long link, and the links themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

OPERATIONS = ("scatter", "gather", "bcast", "reduce", "allgather", "allreduce", "alltoall")

FLOORED = ("scatter", "gather")
"""Operations whose remote bytes bench/sites also sends over plain sockets."""

MOST_SOCKETS = 1024


@dataclass(frozen=True)
class Method:
    """`options`: of urakata-exec; None: Urakata is not there."""

    name: str
    title: str
    options: tuple[str, ...] | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def carries(self, operation: str) -> bool:
        """Plain sockets are no collective: only what the bench says."""
        return "SITES_SOCKETS" not in self.environment or operation in FLOORED


def methods(sockets: Sequence[int], lanes: Sequence[int]) -> list[Method]:
    """The host as it comes and with several links a peer, plain sockets, Urakata's choice and forced ones."""
    return [
        Method("host", "the host's own"),
        Method("links", "the host's own, 4 links a peer", environment={"OMPI_MCA_btl_tcp_links": "4"}),
        *(Method(f"sockets {n}", f"{n} plain sockets", environment={"SITES_SOCKETS": str(n)}) for n in sockets),
        Method("urakata", "Urakata", ("--engine", "poll")),
        *(Method(f"lanes {n}", f"Urakata, LANES={n}", ("--engine", "poll", "--lanes", str(n))) for n in lanes),
    ]


@dataclass(frozen=True)
class Bed:
    """A link that jobs are run across."""

    delay: str
    loss: str

    @property
    def name(self) -> str:
        """As tables and figures call it."""
        return f"{self.delay} one way" + ("" if self.loss in ("0", "0%") else f", {self.loss} lost")
