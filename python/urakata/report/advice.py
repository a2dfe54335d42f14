"""What to change at a call site. Who follows an advice does not get the same one again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LEAVE = "leave as it is"
LATE = "most of the waiting is for ranks that begin later than others: balance the work; no engine can hide it"
ALSO_LATE = "of the waiting are for ranks that begin later than others: balance the work; no engine can hide those"
LITTLE = "the program computes too little between start and wait to hide anything: start earlier"
BLOCKING = "a blocking call, in which nothing can be hidden: its non-blocking form can be started earlier"
SHARED_COST = (
    "a helper beside the program: it costs its wake-ups, and the host's small operations take up to a fifth longer"
)


@dataclass(frozen=True)
class Facts:
    """Of a call site; times are means of an instance in ns."""

    engine: str  # that ran it: poll, thread/spare, thread/shared, host
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


# Algorithms whose messages no helper moves, and the option without which they are a schedule's.
_BY_RANKS = {"messages": "EXCHANGE_MESSAGES", "exchange plan": "EXCHANGE_PLANS"}
_SHORT = 20_000.0  # ns of waiting that are left alone
_LARGE = 0.25  # a part of the wait that is worth a word beside the other


def _computes(facts: Facts) -> bool:
    return facts.gap > 0.5 * facts.own and facts.gap > 10_000


def _without_helper(facts: Facts) -> str:
    if facts.asked.get("ENGINE") != "thread":
        waiting, computing = f"{facts.own / 1e3:.0f} us of waiting", f"{facts.gap / 1e3:.0f} us of computing"
        return f"run with --engine thread: {waiting} stand against {computing}"
    if facts.asked.get("PLACEMENT", "auto") == "auto":
        return f"run with --placement shared ({SHARED_COST}), or with fewer ranks or threads, so that a core is spare"
    return f"{LEAVE}: a helper was asked for and is not to be had here (see the line on engines)"


def _with_helper(facts: Facts) -> str:
    if facts.engine == "thread/shared":
        return "little is hidden though there is computing: run with fewer ranks or threads, so that a core is spare"
    if not facts.asked.get("ALGORITHM"):
        return "little is hidden though there is computing: try another algorithm (URAKATA_ALGORITHM)"
    return f"{LEAVE}: little is hidden, with a core of the helper's own and an algorithm that was chosen"


def _of_the_engine(facts: Facts) -> str:
    """What to do about the part of the waiting that is the operation's."""
    if facts.blocking:
        return BLOCKING
    if not _computes(facts):
        return f"{LITTLE}, or run with --engine poll" if facts.engine.startswith("thread/") else LITTLE
    if facts.algorithm in _BY_RANKS:
        thread = "" if facts.asked.get("ENGINE") == "thread" else "--engine thread and "
        return (
            "only its ranks move it, in calls of MPI: test it now and then while you compute, or run with "
            f"{thread}--set {_BY_RANKS[facts.algorithm]}=0, by which a helper does"
        )
    if facts.engine == "poll":
        return _without_helper(facts)
    if facts.hidden is not None and facts.hidden < 0.3:
        return _with_helper(facts)
    return LEAVE


def advise(facts: Facts) -> str:
    """One sentence without its full stop."""
    if facts.engine == "host":
        return "runs on the host: with --engine poll or thread this report can say more"
    if facts.waits == 0:
        return "no instance was waited for: nothing to say"
    if facts.wait < _SHORT:
        return LEAVE
    late = facts.late or 0.0
    if facts.own < max(_SHORT, _LARGE * facts.wait):
        return LATE
    text = _of_the_engine(facts)
    if late < max(_SHORT, _LARGE * facts.wait):
        return text
    if text == LEAVE:
        return f"{late / 1e3:.0f} us {ALSO_LATE}"
    return f"{text}; besides, {late / 1e3:.0f} us {ALSO_LATE}"
