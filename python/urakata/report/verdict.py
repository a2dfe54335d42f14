# SPDX-License-Identifier: BSD-3-Clause
"""What to try for this program: the last lines of the report. Yes or no first, the reasons after, then the command."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from urakata import typed
from urakata.report.cpu_share import starved
from urakata.report.mpi_time import FILES, LARGE, MESSAGES, OTHER, SMALL, STARTED, WINDOWS, MpiTime, mpi_time
from urakata.report.units import of_ranks, percent

if TYPE_CHECKING:
    from urakata.report.summary import Row, Summary

_WORTH = 0.05  # of the run: less is not worth a try
_HIDEABLE = 0.02  # of the run: waiting that computation could hide
_FEWER = "fewer ranks"
_ALGORITHM = "another algorithm (URAKATA_ALGORITHM)"
_SCHEDULES = "--set NEIGHBORHOOD=schedules"
_NOT_COMPARED = (_ALGORITHM, _SCHEDULES, f"--engine thread {_SCHEDULES}")  # by urakata compare
_KINDS = {
    MESSAGES: "messages",
    SMALL: "small collectives",
    LARGE: "large collectives",
    STARTED: "non-blocking collectives",
    FILES: "files",
    WINDOWS: "one-sided communication",
    OTHER: "other calls",
}


_COMPARE = "Whether it pays: run both, and compare the times of the whole program:"


@dataclass(frozen=True)
class Verdict:
    what: str  # to try: "--space"; empty: nothing
    reasons: list[str] = field(default_factory=list)  # sentences without their full stops
    command: str = ""  # that measures whether it pays; of two runs that are to be compared two lines
    doubt: str = ""  # why the times that this rests on may mislead: a sentence, too

    @property
    def sentences(self) -> list[str]:
        head, *rest = self.reasons
        begin = f"Try {self.what}" if self.what else "Nothing is worth a try"
        said = [f"{begin}: {head}.", *(f"{one}." for one in rest)]
        if self.doubt:
            said.insert(0, f"{_capital(self.doubt)}.")
        if not self.command:
            return said
        return [*said, "Whether it pays:" if "\n" not in self.command else _COMPARE]


def _hideable(row: Row) -> float:
    """ns of waiting, over all ranks, that computation stands against and that was not hidden."""
    if row.blocking or not row.times["wait"].count:
        return 0.0
    own = max(0.0, row.times["wait"].mean - (row.late_ns or 0.0))
    return min(own, row.times["gap"].mean) * row.times["wait"].count


def _shares_nodes(summary: Summary) -> bool:
    """Is any rank on a node with another one?"""
    hosts = [rank.host for rank in summary.whole.ranks] if summary.whole is not None else []
    return max(Counter(hosts).values(), default=0) > 1


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _largest(time: MpiTime) -> tuple[str, str]:
    """The kind that takes longest, and in words how much of the run it is."""
    kind = max(time.kinds, key=lambda one: time.kinds[one])
    operation = time.operations.get(kind, "")
    name = operation if operation.startswith("ura_") else f"MPI_{operation}"
    of = f" (most of it in {name})" if operation else ""
    return kind, f"{percent(time.share(kind))} of the run is {_KINDS[kind]}{of}"


def _advised(summary: Summary) -> list[Row]:
    """The rows that say yes. Only these can be a reason here; a space helps only where ranks share a node."""
    shared = _shares_nodes(summary)
    rows = [row for row in summary.rows if row.switch.startswith("yes")]
    return [row for row in rows if shared or _switch(row) != "--space"]


def _switch(row: Row) -> str:
    """What the row advises."""
    if row.algorithm == "persistent messages":
        return "--space"
    if row.engine == "native":
        return "it without --engine native"
    if row.engine == "thread/shared":
        return _FEWER
    if row.engine == "thread/spare":
        return _ALGORITHM
    thread = "" if row.asked.get("ENGINE") == "thread" else "--engine thread"
    if row.algorithm in ("messages", "channels"):
        return f"{thread} {_SCHEDULES}".strip()
    if thread:
        return f"a progress thread ({thread})"
    return "a progress thread (--placement shared) or fewer ranks"


def _hideable_share(summary: Summary, time: MpiTime) -> float:
    """Of the run: waiting that the rows' advice could hide."""
    return sum(_hideable(row) for row in _advised(summary)) / time.run if time.run else 0.0


def _of_threads(summary: Summary, time: MpiTime) -> Verdict | None:
    """Non-blocking collectives that were waited for although there was computation to hide them behind."""
    rows = [row for row in _advised(summary) if _hideable(row) > 0]
    part = _hideable_share(summary, time)
    if part < _HIDEABLE:
        return None
    longest = max(rows, key=_hideable)
    name = longest.operation.removesuffix("_c")
    reason = f"{percent(part)} of the run is waiting for {name if name.startswith('halo') else f'MPI_{name}'}"
    reason += " and its like" * (len({row.operation for row in rows}) > 1)
    reason += ", with computation to hide it behind"
    if longest.engine == "thread/shared":
        reason += "; the progress threads share the ranks' cores"
    return Verdict(_switch(longest), [reason])


def _of_space(summary: Summary, time: MpiTime) -> Verdict | None:
    """Messages inside a node that do not go through one address space."""
    spaces = [rank.get("space") or {"asked": False, "ranks": 0} for rank in summary.ranks]
    if time.share(MESSAGES) < _WORTH or not _shares_nodes(summary) or any(space["asked"] for space in spaces):
        return None
    kinds = f"{percent(time.share(MESSAGES))} of the run is messages"
    one_node = summary.whole is not None and len({rank.host for rank in summary.whole.ranks}) == 1
    return Verdict("--space", [f"{kinds}, and {'the' if one_node else 'some'} ranks share a node"])


def _of_ranks(summary: Summary) -> Verdict | None:
    """More ranks than cores."""
    crowded = [rank for rank in summary.ranks if 0 < rank.get("node_cores", 0) < rank.get("node_ranks", 0)]
    if not crowded:
        return None
    rank = min(crowded, key=lambda one: int(one["node_cores"]))
    cores = f"{rank['node_cores']} core{'s' if rank['node_cores'] > 1 else ''}"
    return Verdict(_FEWER, [f"{rank['host']} has {cores} for {rank['node_ranks']} ranks, which wait for their turns"])


def _fewer(summary: Summary) -> int:
    """Ranks of the job such that each has a core, or else half as many."""
    parts = [
        rank["node_cores"] / rank["node_ranks"]
        for rank in summary.ranks
        if 0 < rank.get("node_cores", 0) < rank.get("node_ranks", 0)
    ]
    return max(1, int(summary.size * min(parts, default=0.5)))


def _fewer_commands(summary: Summary) -> str:
    """The runs whose times tell; empty: there cannot be fewer ranks."""
    few = _fewer(summary)
    if few == summary.size:
        return ""
    return "\n".join(
        f"{typed.command()} run -n {ranks} --report report-{ranks} -- {summary.program}"
        for ranks in (summary.size, few)
    )


def _nothing(summary: Summary, time: MpiTime, doubt: str) -> Verdict:
    if time.imbalance_share >= max(_WORTH, max(time.kinds.values(), default=0) / time.run):
        if doubt:
            waiting = f"{percent(time.imbalance_share)} of the run is waiting for ranks that come later"
            return Verdict("", [f"{waiting}, perhaps only since they did not get their cores"])
        return Verdict(
            "",
            [f"{time.imbalance_words} ({percent(time.imbalance_share)} of the run on average). Balance the work"],
        )
    kind, words = _largest(time)
    if kind in (SMALL, LARGE):
        words += ". Their non-blocking forms, started earlier, can be hidden"
    elif kind == MESSAGES and any((rank.get("space") or {}).get("ranks") for rank in summary.ranks):
        words += ", which go through one address space already"
    elif kind == MESSAGES and not _shares_nodes(summary):
        words += " between nodes"
    return Verdict("", [words])


def _rests_on(summary: Summary) -> list[str]:
    """Which ranks this rests on, where not on all."""
    told = [rank.rank for rank in summary.whole.ranks] if summary.whole is not None else []
    if len(told) == summary.size and (not summary.ranks or len(summary.ranks) == summary.size):
        return []
    both = [rank["rank"] for rank in summary.ranks if rank["rank"] in told]
    return [f"This rests on {of_ranks(both or told)} of {summary.size}"]


def verdict(summary: Summary) -> Verdict | None:
    """None: there is no profile, or the job did not get to its end."""
    whole = summary.whole
    if whole is None or any(rank.state != "finished" for rank in whole.ranks):
        return None
    started = [row for row in summary.rows if not row.blocking and not row.operation.startswith("halo")]
    waits = sum(row.times["wait"].sum + row.times["test"].sum for row in started)
    late = sum((row.late_ns or 0.0) * row.times["wait"].count for row in summary.rows)
    time = mpi_time(whole, waits, round(late))
    rests = _rests_on(summary)
    doubt = starved(summary.ranks, whole.ranks)
    crowded = _of_ranks(summary)  # which is why its ranks do not get their cores
    told = "" if crowded is not None else doubt
    yes = []
    if _advised(summary):
        yes = [f"What the call sites with a yes could hide is {percent(_hideable_share(summary, time))} of the run"]
    if time.run == 0 or time.mpi < _WORTH * time.run:
        share = percent(time.mpi / time.run if time.run else 0.0)
        reasons = [f"only {share} of the run is in MPI, so little can be gained", *yes, *rests]
        return Verdict("", reasons, doubt=told)
    found = (crowded or _of_threads(summary, time) or _of_space(summary, time)) if summary.ranks else None
    if found is None:
        found = _nothing(summary, time, doubt)
        imbalanced = time.imbalance_words and time.imbalance_words in found.reasons[0]
    else:
        imbalanced = False
    reasons = list(found.reasons)
    if not imbalanced and not doubt and time.imbalance_share >= _WORTH:
        share = percent(time.imbalance_share)
        reasons.append(f"{_capital(time.imbalance_words)} ({share} of the run on average): balance the work")
    if not found.what:
        reasons += yes
    command = ""
    if found.what == _FEWER:
        command = _fewer_commands(summary)
    elif found.what and found.what not in _NOT_COMPARED:
        command = f"{typed.command()} compare -n {summary.size} -- {summary.program}"
    return Verdict(found.what, [*reasons, *rests], command, told)
