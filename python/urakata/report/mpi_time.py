# SPDX-License-Identifier: BSD-3-Clause
"""What a program's time in MPI is: waiting for ranks that compute longer, and the rest by kind of call.

The rank with the least time in MPI is the one that the others wait for. What each other rank has more in MPI than that
one is imbalance; what that one has itself, times the ranks, is communication. (Ranks leave MPI_Finalize together, so a
rank that gets there earlier has waited there, which is not in its time in MPI.) Lateness in turn, now of this rank and
now of that one, shows in the collectives of which the report knows when each rank began them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from urakata.report.units import of_ranks, percent, time_text
from urakata.report.whole import CallRow, RankShare, Whole

MESSAGES = "messages"
SMALL, LARGE, STARTED = "small collectives", "large collectives", "non-blocking collectives"
FILES, WINDOWS, OTHER = "files", "one-sided communication", "other calls of MPI"

_SMALL_MOST = 4096  # bytes that a call hands over
_LATE_PART = 0.25  # ranks this near to the least time in MPI, between it and the mean, are those that are waited for
_COLLECTIVES = (
    "Allgather",
    "Allreduce",
    "Alltoall",
    "Barrier",
    "Bcast",
    "Exscan",
    "Gather",
    "Reduce",
    "Scan",
    "Scatter",
)
_MESSAGES = (
    *("Bsend", "Improbe", "Iprobe", "Mprobe", "Mrecv", "Neighbor", "Probe", "Recv", "Rsend", "Send", "Sendrecv"),
    *("Ssend", "Start", "ura_halo", "Ibsend", "Imrecv", "Irecv", "Irsend", "Isend", "Issend", "Ineighbor"),
)
_WINDOWS = ("Accumulate", "Compare_and_swap", "Fetch_and_op", "Get", "Put", "Raccumulate", "Rget", "Rput", "Win_")
_COMPLETION = ("Wait", "Test")


def kind_of(row: CallRow) -> str:
    """Of waits and tests it is MESSAGES; whose they are is not known from the call."""
    name = row.operation
    if name.startswith(_COLLECTIVES) and not name.endswith(("_init", "_init_c")):
        if name.startswith("Barrier") or (row.bytes is not None and row.bytes <= _SMALL_MOST * row.calls):
            return SMALL
        return LARGE
    if name.startswith(_MESSAGES + _COMPLETION):
        return MESSAGES
    if name.startswith(tuple(f"I{one.lower()}" for one in _COLLECTIVES)) or name.startswith("ura_"):
        return STARTED
    if name.startswith("File_"):
        return FILES
    return WINDOWS if name.startswith(_WINDOWS) else OTHER


@dataclass(frozen=True)
class MpiTime:
    """Over all ranks, in ns."""

    run: int
    mpi: int
    imbalance: int  # waiting for ranks that come later; a part of `mpi`, as the kinds are
    imbalance_words: str  # who waits for whom; empty where imbalance is 0
    kinds: Mapping[str, int]  # the rest, by kind
    operations: Mapping[str, str] = field(default_factory=dict)  # of each kind the one that takes longest

    def share(self, kind: str) -> float:
        return self.kinds.get(kind, 0) / self.run if self.run else 0.0

    @property
    def imbalance_share(self) -> float:
        return self.imbalance / self.run if self.run else 0.0


def _longer_words(late: list[RankShare], waiting: list[RankShare]) -> str:
    """Such as "rank 1 computes 30 % longer than rank 0, which waits for it"; of several the means are compared."""
    if len(late) > len(waiting):
        late = late[:1]
    more = sum(rank.mpi_ns for rank in waiting) / len(waiting) - sum(rank.mpi_ns for rank in late) / len(late)
    computing = sum(max(0, rank.run_ns - rank.mpi_ns) for rank in waiting) / len(waiting)
    they = of_ranks([rank.rank for rank in late])
    plural = len(late) > 1
    if computing and more < computing:
        longer = f"{percent(more / computing)} longer than"
    elif computing and more < 10 * computing:
        longer = f"{1 + more / computing:.1f} times as long as"
    else:
        longer = f"{time_text(more)} longer than"
    few = len(waiting) <= 2
    waits = of_ranks([rank.rank for rank in waiting]) if few else "the others"
    wait = "waits" if len(waiting) == 1 else "wait"
    return f"{they} compute{'' if plural else 's'} {longer} {waits}, which {wait} for {'them' if plural else 'it'}"


def mpi_time(whole: Whole, waits_of_started: int = 0, late_of_started: int = 0) -> MpiTime:
    """`waits_of_started`: ns in waits and tests of non-blocking collectives; `late_of_started`: of these, for ranks
    that began later."""
    ranks = sorted(whole.ranks, key=lambda rank: (rank.mpi_ns, rank.rank))
    least = ranks[0]
    imbalance = sum(rank.mpi_ns - least.mpi_ns for rank in ranks)
    words = ""
    if imbalance:
        mean = least.mpi_ns + imbalance / len(ranks)
        late = [rank for rank in ranks if rank.mpi_ns <= least.mpi_ns + _LATE_PART * (mean - least.mpi_ns)]
        words = _longer_words(late, [rank for rank in ranks if rank not in late])
    kinds: defaultdict[str, float] = defaultdict(float)
    longest: dict[str, tuple[float, str]] = {}
    completion = sum(row.ns for row in whole.rows if row.operation.startswith(_COMPLETION))
    started = min(1.0, waits_of_started / completion) if completion else 0.0  # of the time in waits and tests
    if not _has_messages(whole.rows):
        started = 1.0
    for row in whole.rows:
        kind, ns = kind_of(row), float(row.by_rank.get(least.rank, 0) * len(ranks))
        if row.operation.startswith(_COMPLETION):
            kinds[STARTED] += ns * started
            ns *= 1 - started
        kinds[kind] += ns
        longest[kind] = max(longest.get(kind, (-1.0, "")), (ns, row.operation))
    if late_of_started > imbalance:
        kinds[STARTED] = max(0.0, kinds[STARTED] - (late_of_started - imbalance))
        imbalance, words = (
            late_of_started,
            "ranks begin their collectives at different times, and wait for the last one",
        )
    operations = {kind: name.removesuffix("_c") for kind, (_, name) in longest.items()}
    return MpiTime(
        whole.run_ns, whole.mpi_ns, imbalance, words, {kind: round(ns) for kind, ns in kinds.items()}, operations
    )


def _has_messages(rows: Iterable[CallRow]) -> bool:
    return any(row.operation.startswith(_MESSAGES) for row in rows)
