# SPDX-License-Identifier: BSD-3-Clause
"""The whole program: how much of its time is in MPI, of which rank, and at which call sites."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from urakata.report.calls import Call, RankCalls
from urakata.report.ending import Ending
from urakata.report.places import Place, place_of, resolve


@dataclass
class CallRow:
    """One call site over all ranks: one place in the program and one operation. Times in ns."""

    operation: str
    place: str
    calls: int = 0
    least_ns: int = 0
    most_ns: int = 0
    sized: int = 0
    sized_bytes: int = 0
    by_rank: dict[int, int] = field(default_factory=dict)  # of those that called
    untimed: int = 0  # of the calls: have not returned, and nobody knows how long they lasted

    def add_open(self, rank: int, ns: int | None) -> None:
        """A call that has not returned; None: it is not known how long it lasted."""
        if ns is None:
            self.untimed += 1
        else:
            self.least_ns = ns if self.timed == 0 else min(self.least_ns, ns)
            self.most_ns = max(self.most_ns, ns)
        self.calls += 1
        self.by_rank[rank] = self.by_rank.get(rank, 0) + (ns or 0)

    @property
    def timed(self) -> int:
        """Calls whose times are known: `ns`, `least_ns` and `most_ns` are of these."""
        return self.calls - self.untimed

    @property
    def ns(self) -> int:
        """Over all ranks."""
        return sum(self.by_rank.values())

    @property
    def mean_ns(self) -> float | None:
        """Of the calls whose times are known; None: of no call."""
        return self.ns / self.timed if self.timed else None

    @property
    def bytes(self) -> int | None:
        """What the calls sent, or read or wrote of a file; None: not known of all."""
        return self.sized_bytes if self.sized == self.calls else None

    def imbalance(self, ranks: int) -> float | None:
        """(most - mean) / most of the ranks' times, by ranks / (ranks - 1): 0 all alike, 1 all of it on one."""
        most = max(self.by_rank.values(), default=0)
        if ranks < 2 or most == 0 or self.untimed:
            return None
        return (most - self.ns / ranks) / most * ranks / (ranks - 1)


@dataclass(frozen=True)
class RankShare:
    """One rank. Times in ns."""

    rank: int
    host: str
    state: str
    run_ns: int
    mpi_ns: int
    calls: int  # with the one that it did not return from
    inside: str = ""  # the call that it did not return from, and where that is
    inside_after_ns: int = 0  # when that began, after MPI_Init
    last: str = ""  # the call that ended last, and where that is
    last_after_ns: int = 0  # when that ended
    for_ns: int | None = None  # how long it has been inside that call, or in none; None: not known
    alive: bool | None = None  # its process runs; False: it has ended; None: not known
    pid: int = 0
    python: bool = False  # a Python program's

    @property
    def share(self) -> float:
        return self.mpi_ns / self.run_ns if self.run_ns else 0.0

    @property
    def end_known(self) -> bool:
        """Is it known how long it ran? Otherwise `run_ns` goes to its last known moment."""
        return self.state != "not finished" or self.for_ns is not None


@dataclass(frozen=True)
class Whole:
    program: str
    size: int  # of MPI_COMM_WORLD
    ranks: list[RankShare]
    rows: list[CallRow]  # those that last for an unknown time first, then the longest

    @property
    def run_ns(self) -> int:
        """Over all ranks."""
        return sum(rank.run_ns for rank in self.ranks)

    @property
    def mpi_ns(self) -> int:
        return sum(rank.mpi_ns for rank in self.ranks)

    @property
    def share(self) -> float:
        return self.mpi_ns / self.run_ns if self.run_ns else 0.0

    @property
    def alive(self) -> bool:
        """Does the job run still?"""
        return any(rank.alive for rank in self.ranks)

    @property
    def end_known(self) -> bool:
        """Is it known of all ranks how long they ran?"""
        return all(rank.end_known for rank in self.ranks)


def _share(rank: RankCalls, names: Mapping[Place, str], end: Ending) -> RankShare:
    def said(call: Call | None) -> str:
        return f"{call.operation} at {place_of(call.site, names)}" if call is not None else ""

    finished = rank.state == "finished"
    run = rank.ns
    mpi = sum(call.ns for call in rank.calls)
    long: int | None = None
    if not finished and end.until_ns is not None:
        run = max(run, end.until_ns - rank.wall - rank.begin_ns)
        long = run - (rank.inside_after_ns if rank.inside is not None else rank.last_after_ns)
        if rank.inside is not None:
            mpi += long
    sites = [call.site for call in (rank.inside, rank.last, *rank.calls[:1]) if call is not None]
    return RankShare(
        rank.rank,
        rank.host,
        rank.state,
        run,
        mpi,
        sum(call.calls for call in rank.calls) + (rank.inside is not None),
        said(rank.inside),
        rank.inside_after_ns,
        said(rank.last),
        rank.last_after_ns,
        long,
        True if rank.rank in end.alive else False if rank.rank in end.gone else None,
        rank.pid,
        any("python" in site for site in sites),
    )


def _names(ranks: list[RankCalls]) -> dict[Place, str]:
    open_calls = [call for rank in ranks for call in (rank.inside, rank.last) if call is not None]
    return resolve(call.site for call in itertools.chain(open_calls, *(rank.calls for rank in ranks)))


def merge_calls(ranks: list[RankCalls], end: Ending | None = None) -> Whole | None:
    """None: there is no profile."""
    if not ranks:
        return None
    names = _names(ranks)
    rows: dict[tuple[str, str], CallRow] = {}
    for rank in ranks:
        for call in rank.calls:
            key = (call.operation, place_of(call.site, names))
            row = rows.setdefault(key, CallRow(*key))
            row.least_ns = call.least_ns if row.calls == 0 else min(row.least_ns, call.least_ns)
            row.most_ns = max(row.most_ns, call.most_ns)
            row.calls += call.calls
            row.sized += call.sized
            row.sized_bytes += call.bytes
            row.by_rank[rank.rank] = row.by_rank.get(rank.rank, 0) + call.ns
    shares = [_share(rank, names, end or Ending()) for rank in ranks]
    for rank, share in zip(ranks, shares, strict=True):
        if rank.inside is not None:
            key = (rank.inside.operation, place_of(rank.inside.site, names))
            rows.setdefault(key, CallRow(*key)).add_open(rank.rank, share.for_ns)
    ordered = sorted(rows.values(), key=lambda row: (row.untimed, row.ns, row.calls), reverse=True)
    return Whole(ranks[0].program, ranks[0].ranks, shares, ordered)


def whole_json(whole: Whole) -> dict[str, Any]:
    """Plain data; times in ns, null is not known."""
    return {
        "run_ns": whole.run_ns,
        "mpi_ns": whole.mpi_ns,
        "share": whole.share if whole.end_known else None,
        "ranks": [{**vars(rank), "share": rank.share if rank.end_known else None} for rank in whole.ranks],
        "calls": [
            {
                "operation": row.operation,
                "place": row.place,
                "calls": row.calls,
                "untimed": row.untimed,
                "ns": row.ns,
                "mean_ns": row.mean_ns,
                "least_ns": row.least_ns if row.timed else None,
                "most_ns": row.most_ns if not row.untimed else None,
                "bytes": row.bytes,
                "imbalance": row.imbalance(len(whole.ranks)),
                "by_rank": row.by_rank,
            }
            for row in whole.rows
        ],
    }


_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def _cell(text: str) -> str:
    """What a spreadsheet would take for a formula and run, such as a program's name, is text to it (OWASP, CSV
    injection)."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def calls_csv(ranks: list[RankCalls]) -> str:
    """A line for each rank and call site; bytes are empty where they are not known of all calls. A call that has not
    returned counts; `ns` and `least_ns` are of the others, and `most_ns` is empty."""
    names = _names(ranks)
    out = io.StringIO()
    lines = csv.writer(out, lineterminator="\n")
    lines.writerow(("rank", "host", "operation", "place", "calls", "ns", "least_ns", "most_ns", "bytes"))
    for rank in ranks:
        never_returned = [rank.inside] if rank.inside is not None and rank.inside.calls == 0 else []
        for call in sorted([*rank.calls, *never_returned], key=lambda call: call.ns, reverse=True):
            is_open = call is rank.inside
            count = call.calls + is_open
            known = call.bytes if call.sized == count else ""
            ns, least = (call.ns, call.least_ns) if call.calls else ("", "")
            times = (count, ns, least, "" if is_open else call.most_ns, known)
            words = (rank.host, call.operation, place_of(call.site, names))
            lines.writerow((rank.rank, *map(_cell, words), *times))
    return out.getvalue()
