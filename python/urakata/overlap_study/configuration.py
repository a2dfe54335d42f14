# SPDX-License-Identifier: BSD-3-Clause
"""One configuration of the study: who progresses communication, with how many ranks and threads, by which algorithm."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

# What each engine of the study is. Those of Urakata come with options of urakata-exec.
ENGINES = {
    "none": "the MPI library's own, without Urakata",
    "poll": "Urakata, inside MPI calls only",
    "spare": "Urakata's progress thread on a core of its own",
    "shared": "Urakata's progress thread on the computing cores",
    "async": "the MPI library's own progress thread on the computing cores",
    "async-spare": "the MPI library's own progress thread, with a core left free for it",
}
# As they are called in legends.
LABELS = {
    "none": "MPI library alone",
    "poll": "Urakata, poll",
    "spare": "Urakata, spare core",
    "shared": "Urakata, shared core",
    "async": "MPI library's thread, shared core",
    "async-spare": "MPI library's thread, spare core",
}
OF_URAKATA = {
    "poll": ["--engine", "poll"],
    "spare": ["--engine", "thread", "--placement", "spare"],
    "shared": ["--engine", "thread", "--placement", "shared"],
}
WITH_SPARE_CORE = ("spare", "async-spare")
OF_MPI_ASYNC = ("async", "async-spare")

OPERATIONS = (
    "iallgather",
    "iallgatherv",
    "iallreduce",
    "ialltoall",
    "ialltoallv",
    "ibarrier",
    "ibcast",
    "iexscan",
    "igather",
    "ineighbor_alltoall",
    "ineighbor_alltoallv",
    "ireduce",
    "ireduce_scatter_block",
    "iscan",
    "iscatter",
    "isend",
    "sockets",
)
KINDS = ("paper", "compute", "memory")
DEFAULT_ALGORITHM = "default"


@dataclass(frozen=True)
class Configuration:
    """`threads` is the study's t_calc, `ranks_per_node` its p_node. `algorithm` is "default" or one of Urakata's."""

    operation: str
    kind: str
    ranks_per_node: int
    threads: int
    engine: str
    algorithm: str = DEFAULT_ALGORITHM

    @property
    def line(self) -> str:
        """Name in a table that has one p_node."""
        return self._named(self.engine)

    @property
    def label(self) -> str:
        """Name in a legend."""
        return self._named(LABELS[self.engine])

    def _named(self, engine: str) -> str:
        algorithm = "" if self.algorithm == DEFAULT_ALGORITHM else f", {self.algorithm}"
        return f"{engine}{algorithm}, {self.threads} thread{'s' if self.threads > 1 else ''}"

    @property
    def place(self) -> str:
        """Name among all p_node."""
        return f"{self.ranks_per_node} x {self.line}"

    @property
    def shares_cores(self) -> bool:
        """Whether a background thread takes its CPU time from the computation."""
        return self.engine in ("shared", "async")

    def options(self) -> list[str]:
        """Options of urakata-exec; empty where Urakata is not loaded."""
        if self.engine not in OF_URAKATA:
            return []
        algorithm = (
            [] if self.algorithm == DEFAULT_ALGORITHM else ["--algorithm", f"{self.operation[1:]}:{self.algorithm}"]
        )
        return OF_URAKATA[self.engine] + algorithm

    def as_json(self) -> dict[str, Any]:
        """Its fields."""
        return asdict(self)
