# SPDX-License-Identifier: BSD-3-Clause
"""What to change at a call site. Who follows an advice does not get the same one again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LEAVE = "no change"
LATE = "no: most of the waiting is for ranks that begin later than others. Balance the work; no engine can hide it"
ALSO_LATE = "of the waiting are for ranks that begin later than others: balance the work; no engine can hide those"
LITTLE = "no: the program computes too little between start and wait to hide anything. Start earlier"
BLOCKING = "no: nothing can be hidden in a blocking call. Its non-blocking form can be started earlier"
SHARED_COST = (
    "A progress thread beside the program costs its wake-ups, "
    "and small operations of the MPI library take up to a fifth longer"
)
HALO_MESSAGES = "this halo uses the MPI library's persistent messages, since its ranks share no space"


@dataclass(frozen=True)
class Facts:
    """Of a call site; times are means of an instance in ns."""

    engine: str  # that ran it: poll, thread/spare, thread/shared; native: the MPI library
    asked: Mapping[str, str]  # options: ENGINE, PLACEMENT, ALGORITHM
    waits: int
    gap: float
    wait: float
    late: float | None
    hidden: float | None
    blocking: bool = False  # a blocking call: all of it is waiting
    algorithm: str = ""

    @property
    def own(self) -> float:
        """Of the wait: what is the operation's, and not for ranks that begin later."""
        return max(0.0, self.wait - (self.late or 0.0))


# Algorithms whose messages no progress thread moves.
_BY_RANKS = ("messages", "channels")
_SHORT = 20_000.0  # ns of waiting that are left alone
_LARGE = 0.25  # a part of the wait that is worth a word beside the other


def _computes(facts: Facts) -> bool:
    return facts.gap > 0.5 * facts.own and facts.gap > 10_000


def _without_progress_thread(facts: Facts) -> str:
    if facts.asked.get("ENGINE") != "thread":
        waiting, computing = f"{facts.own / 1e3:.0f} us of waiting", f"{facts.gap / 1e3:.0f} us of computing"
        return f"yes: run with --engine thread. {waiting} could be hidden behind {computing}"
    if facts.asked.get("PLACEMENT", "auto") == "auto":
        return (
            f"yes: run with --placement shared, or with fewer ranks or threads so that a core is spare. {SHARED_COST}"
        )
    return f"{LEAVE}: a progress thread was asked for and cannot be had here. The line on engines says why"


def _with_progress_thread(facts: Facts) -> str:
    if facts.engine == "thread/shared":
        known = "Little is hidden" if facts.hidden is not None else "It waits"
        return f"yes: run with fewer ranks or threads so that a core is spare. {known} though there is computing"
    if not facts.asked.get("ALGORITHM"):
        return "yes: try another algorithm (URAKATA_ALGORITHM). Little is hidden though there is computing"
    return f"{LEAVE}: little is hidden, with a core for the progress thread and an algorithm that was chosen"


def _of_the_engine(facts: Facts) -> str:
    """What to do about the part of the waiting that is the operation's."""
    if facts.blocking:
        return BLOCKING
    if not _computes(facts):
        return (
            f"{LITTLE}. Or run with --engine poll, without a progress thread"
            if facts.engine.startswith("thread/")
            else LITTLE
        )
    if facts.algorithm in _BY_RANKS:
        thread = "" if facts.asked.get("ENGINE") == "thread" else "--engine thread and "
        return (
            f"yes: run with {thread}--set NEIGHBORHOOD=schedules, then a progress thread moves it. "
            "Or test it now and then while you compute: only its ranks move it, in calls of MPI"
        )
    if facts.engine == "poll":
        return _without_progress_thread(facts)
    unknown = facts.hidden is None and facts.engine == "thread/shared"  # then its waiting is what shows
    if unknown or (facts.hidden is not None and facts.hidden < 0.3):
        return _with_progress_thread(facts)
    return LEAVE


def advise(facts: Facts) -> str:
    """Yes or no first, reasons after: one or two sentences, without the last full stop."""
    if facts.engine == "native":
        return _of_the_library(facts)
    if facts.waits == 0:
        return "no: no instance was waited for"
    if facts.wait < _SHORT:
        return LEAVE
    late = facts.late or 0.0
    if facts.own < max(_SHORT, _LARGE * facts.wait):
        return LATE
    text = _of_the_engine(facts)
    if late < max(_SHORT, _LARGE * facts.wait):
        return text
    return f"{text}. {late / 1e3:.0f} us {ALSO_LATE}"


def _of_the_library(facts: Facts) -> str:
    """What the MPI library runs."""
    if facts.algorithm == "persistent messages":
        if facts.asked.get("SPACE", "0") == "0":
            return f"yes: run with --space where ranks share a node. Now {HALO_MESSAGES}"
        return f"no: {HALO_MESSAGES}"
    if facts.asked.get("ENGINE") == "native":
        return "yes: run without --engine native, to see what can be hidden. Now the MPI library runs it"
    return "no: the MPI library runs it"
