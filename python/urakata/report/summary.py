# SPDX-License-Identifier: BSD-3-Clause
"""Merges the ranks' reports: one row for each call site, and what to switch on or off there.

What was hidden, and for how long late ranks were waited for: hidden.py.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from urakata import typed
from urakata.report.advice import Facts, advise
from urakata.report.calls import RankCalls, read_all_calls
from urakata.report.ending import ending, is_noted
from urakata.report.errors import ReportError
from urakata.report.files import Faults, read_ranks
from urakata.report.gaps import gap_lines
from urakata.report.hang import next_steps
from urakata.report.hidden import Hidden, Seen, mean_late, measure, samples_of
from urakata.report.messages import MessageRow, merge_messages, messages_json
from urakata.report.places import place_of, resolve
from urakata.report.units import time_text
from urakata.report.verdict import verdict
from urakata.report.whole import Whole, merge_calls, whole_json

_PREDICTED = re.compile(r"predicted: [^,;]*? ([0-9.e+-]+) ms")
_TIMES = ("start", "gap", "test", "wait", "in_flight", "overlapped")


@dataclass
class Times:
    """Number, sum and extremes of a time in ns."""

    count: int = 0
    sum: int = 0
    min: int = 0
    max: int = 0

    def add(self, other: dict[str, int]) -> None:
        if other["count"] == 0:
            return
        self.min = other["min"] if self.count == 0 else min(self.min, other["min"])
        self.max = max(self.max, other["max"])
        self.count += other["count"]
        self.sum += other["sum"]

    @property
    def mean(self) -> float:
        return self.sum / self.count if self.count else 0.0


@dataclass
class Row:
    """One call site over all ranks."""

    place: str
    operation: str
    bytes: int
    engine: str
    algorithm: str
    why: str
    asked: dict[str, str] = field(default_factory=dict)  # options by name
    setting: tuple[str, ...] | None = ()  # options of bench overlap for a job like this; None: it has none like this
    ranks: int = 0
    started: int = 0
    progress_thread_ns: int = 0
    seen: list[Seen] = field(default_factory=list)
    late_of_rank: list[tuple[int, float | None]] = field(default_factory=list)  # of each: waits, mean ns of lateness
    hidden: Hidden = field(default_factory=Hidden)
    times: dict[str, Times] = field(default_factory=lambda: {name: Times() for name in _TIMES})

    @property
    def helped(self) -> bool:
        """Progress threads took it on: engines "thread/spare" and "thread/shared"."""
        return self.engine.startswith("thread/")

    @property
    def blocking(self) -> bool:
        """Blocking calls, which have no start."""
        return self.times["wait"].count != 0 and self.times["start"].max == 0

    @property
    def late_ns(self) -> float | None:
        """Of a wait, the mean until the last rank had begun; None: a rank does not know."""
        told = [(waits, late) for waits, late in self.late_of_rank if late is not None]
        if not told or len(told) < len(self.late_of_rank):
            return None
        return sum(waits * late for waits, late in told) / sum(waits for waits, _ in told)

    @property
    def exposed_ns(self) -> float:
        """Mean time that an instance kept the program inside MPI."""
        ended = self.times["wait"].count
        return sum(self.times[name].sum for name in ("start", "test", "wait")) / ended if ended else 0.0

    @property
    def predicted_ns(self) -> float | None:
        """What a model said that an instance would take; None: it was not asked."""
        found = _PREDICTED.search(self.why)
        return float(found[1]) * 1e6 if found else None

    @property
    def measured_ns(self) -> float | None:
        """What stands beside that: the operation itself, once all wait for it; of a blocking call for which that is not
        known the mean call, without what late ranks were waited for. None: neither is known."""
        if self.hidden.own_ns is not None:
            return self.hidden.own_ns
        return max(self.exposed_ns - (self.late_ns or 0.0), 0.0) if self.blocking else None

    @property
    def reason(self) -> str:
        """Why this algorithm; where a model was asked, with what it took."""
        measured = self.measured_ns
        if self.predicted_ns is None or measured is None:
            return self.why
        return f"{self.why}; measured: {time_text(measured)}"

    @property
    def switch(self) -> str:
        """What to change: yes or no first."""
        wait, gap, hidden = self.times["wait"], self.times["gap"], self.hidden
        facts = Facts(
            self.engine,
            self.asked,
            wait.count,
            gap.mean,
            wait.mean,
            self.late_ns,
            hidden.share,
            self.blocking,
            self.algorithm,
        )
        return advise(facts)

    @property
    def unknown(self) -> str:
        """Why it is not known what was hidden; empty: it is, or there was nothing to hide."""
        asks = self.hidden.share is None and self.times["wait"].count and not self.blocking and self.engine != "native"
        return self.hidden.why if asks else ""

    @property
    def measured_by(self) -> str:
        """The operation by which urakata bench overlap measures what can be hidden; empty: it has none like this."""
        operation = self.operation.removesuffix("_c").lower()
        return operation if self.unknown and operation.startswith("i") and self.setting is not None else ""

    @property
    def measured_with(self) -> tuple[str, ...]:
        """The options that make bench overlap measure what this program had: engine, ranks of a node, MPI."""
        engine = _ENGINE_OF_BENCH.get(self.engine)
        return (*(("--engine", f"none,{engine}") if engine else ()), *(self.setting or ()))

    @property
    def advice(self) -> str:
        """All of that, for JSON and the page."""
        text = self.switch
        if self.unknown:
            text += f". Hidden is unknown: {self.unknown}"
        if self.measured_by:
            text += f". To measure it: {overlap_command(self.measured_by, [self.bytes], self.measured_with)}"
        return text


_ENGINE_OF_BENCH = {"poll": "poll", "thread/spare": "spare", "thread/shared": "shared"}


def overlap_command(operation: str, sizes: list[int], setting: Sequence[str] = ()) -> str:
    words = ["--operation", operation, "--sizes", ",".join(map(str, sizes)), *setting]
    return f"{typed.command()} bench overlap {shlex.join(words)}"


def _setting(ranks: list[dict[str, Any]]) -> tuple[str, ...] | None:
    """Options of bench overlap for a job like this one; None: ranks shared a space, which it has not."""
    if any((rank.get("space") or {}).get("ranks") for rank in ranks):
        return None
    words: list[str] = []
    if per_node := max((int(rank.get("node_ranks", 0)) for rank in ranks), default=0):
        words += ["--ranks-per-node", str(per_node)]
    if (nodes := len({rank["host"] for rank in ranks})) > 1:
        words += ["--nodes", str(nodes)]
    library = str(ranks[0].get("mpi_library", "")) if ranks else ""
    for name, family in (("Open MPI", "openmpi"), ("MPICH", "mpich"), ("Intel", "impi")):
        if library.startswith(name):
            words += ["--mpi", family]
    return tuple(words)


@dataclass
class Summary:
    """A whole run. At least one of `ranks` and `whole` tells of it."""

    ranks: list[dict[str, Any]]  # that reached MPI_Finalize
    rows: list[Row]
    messages: list[MessageRow] = field(default_factory=list)
    whole: Whole | None = None
    gaps: list[str] = field(default_factory=list)  # what is missing, and why
    next: tuple[str, str] | None = None  # of a job that hangs or was killed: what to type next

    @property
    def program(self) -> str:
        """Its command line."""
        return str(self.ranks[0].get("program", "")) if self.ranks else self.whole.program if self.whole else ""

    @property
    def size(self) -> int:
        """Of MPI_COMM_WORLD."""
        return int(self.ranks[0]["ranks"]) if self.ranks else self.whole.size if self.whole else 0

    @property
    def mpi_library(self) -> str:
        return str(self.ranks[0].get("mpi_library", "")) if self.ranks else ""

    @property
    def missing(self) -> list[int]:
        """Ranks that did not tell what Urakata did: they did not reach MPI_Finalize."""
        present = {rank["rank"] for rank in self.ranks}
        return [number for number in range(self.size) if number not in present]


def _read(folder: Path) -> tuple[list[dict[str, Any]], list[RankCalls], Faults]:
    """What all ranks of the newest job in the folder have written."""
    if not folder.is_dir():
        raise ReportError(f"{folder}: no such folder; run with --report DIR first")
    faults: Faults = []
    try:
        calls = read_all_calls(folder, faults)
        ranks = read_ranks(folder, faults, calls[0].key if calls else None)
    except OSError as error:
        raise ReportError(f"{folder}: {error.strerror}") from error
    if not ranks and not calls:
        if faults:
            raise ReportError(f"{faults[0].path} {faults[0].why}; {folder} holds nothing else that can be shown")
        if is_noted(folder):
            raise ReportError(f"{folder}: no rank of that run called MPI_Init with Urakata loaded")
        raise ReportError(f"{folder}: holds no rank-*.json; run with --report {folder} first")
    return ranks, calls, faults


def summarise(folder: Path) -> Summary:
    """Rows are sorted by the time that they kept the program inside MPI, longest first."""
    ranks, calls, faults = _read(folder)
    whole = merge_calls(calls, ending(folder, calls))
    names = resolve(site for rank in ranks for site in rank["call_sites"] + rank.get("messages", []))
    seen = samples_of(ranks)
    rows: dict[tuple[Any, ...], Row] = {}
    setting = _setting(ranks)
    for rank in ranks:
        asked = {option["name"]: option["value"] for option in rank["options"]}
        for site in rank["call_sites"]:
            place = place_of(site, names)
            row = Row(
                place, site["operation"], site["bytes"], site["engine"], site["algorithm"], site["why"], asked, setting
            )
            row = rows.setdefault((place, row.operation, row.bytes, row.engine, row.algorithm), row)
            if row.predicted_ns is None and _PREDICTED.search(site["why"]):
                row.why = site["why"]  # of a scatterv the root alone knows what crosses
            row.ranks += 1
            row.started += site["started"]
            row.progress_thread_ns += site["progress_thread_ns"]
            own = seen.get((rank["rank"], site["number"]), [])
            row.seen += own
            waits = site["wait"]["count"]
            if waits and own:
                row.late_of_rank.append((waits, mean_late(own, site["wait"]["sum"] / waits)))
            for name, times in row.times.items():
                times.add(site[name])
    for row in rows.values():
        row.hidden = measure(row.seen, row.helped)
        if row.blocking:
            row.hidden = replace(row.hidden, share=None, why="a blocking call: nothing can be hidden")
    ordered = sorted(rows.values(), key=lambda row: row.exposed_ns * row.times["wait"].count, reverse=True)
    summary = Summary(ranks, ordered, merge_messages(ranks, names), whole)
    states = {rank.rank: rank.state for rank in calls}
    summary.gaps = gap_lines(folder, summary.size, {rank["rank"] for rank in ranks}, states, faults)
    summary.next = next_steps(whole, folder) if whole is not None else None
    return summary


def as_json(summary: Summary) -> dict[str, Any]:
    """The summary as plain data; times in ns."""
    said = verdict(summary)
    return {
        "ranks": [
            {name: value for name, value in rank.items() if name not in ("call_sites", "messages", "tracks")}
            for rank in summary.ranks
        ],
        "missing_ranks": summary.missing,
        "gaps": summary.gaps,
        "next": {"why": summary.next[0], "command": summary.next[1]} if summary.next is not None else None,
        "verdict": {"try": said.what, "sentences": said.sentences, "command": said.command} if said else None,
        "whole": whole_json(summary.whole) if summary.whole is not None else None,
        "messages": messages_json(summary.messages),
        "call_sites": [
            {
                **{name: getattr(row, name) for name in ("place", "operation", "bytes", "engine", "algorithm", "why")},
                "ranks": row.ranks,
                "started": row.started,
                "progress_thread_ns": row.progress_thread_ns,
                "exposed_mean_ns": row.exposed_ns,
                "hidden": row.hidden.share,
                "hidden_unknown_why": row.hidden.why,
                "own_ns": row.hidden.own_ns,
                "late_mean_ns": row.late_ns,
                "predicted_ns": row.predicted_ns,
                "measured_ns": row.measured_ns,
                "advice": row.advice,
                **{name: {**vars(times), "mean": times.mean} for name, times in row.times.items()},
            }
            for row in summary.rows
        ],
    }
