"""What a comparison says: which side to use, or that none is worth it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from urakata.compare.interval import Interval, rounds_for
from urakata.compare.output import Reference
from urakata.compare.session import Question
from urakata.compare.side import HOST, SPACE, Side
from urakata.compare.trials import Session, Trials
from urakata.estimate import Estimate, mean_ratio

# From so many rounds on their spread says something.
_FEW = 3


@dataclass(frozen=True)
class Verdict:
    """`side`: the one to use, HOST where none is faster. `ratio`: of the best side; None where nothing was compared."""

    side: Side
    ratio: Interval | None
    text: str


def judge_outputs(session: Session, ignored: Sequence[str]) -> str:
    """A side that wrote something else than the host has failed. What was compared, in words. Raises re.error."""
    if not session.host.outputs:
        return "not compared: the host alone has written none"
    reference = Reference(session.host.outputs, ignored)
    for trials in session.trials[1:]:
        if trials.usable and (found := next(filter(None, map(reference.difference, trials.outputs)), "")):
            trials.failure = f"its output differs from the host's. {found[0].upper()}{found[1:]}"
    return reference.compared


def _percent(part: float) -> str:
    return f"{100 * part:.2g} %" if part < 0.095 else f"{100 * part:.0f} %"


def _in_words(side: Side, only_space: bool) -> str:
    """`only_space`: the engine has nothing to progress, so the space is what does it."""
    if side is SPACE or (only_space and side.space):
        return "a space"
    return f"engine {side.title.removesuffix(', space')}{', in a space,' if side.space else ''}"


def start_text(session: Session, trials: Trials) -> str:
    """What a side adds to the start and end of a job; empty where that is not known, or cannot be told from nothing."""
    start = session.start(trials)
    if start is None or start.low <= 0 <= start.high:
        return ""
    within = f" ({start.low:+.2g} to {start.high:+.2g} s)" if len(session.rounds(trials)) > 1 else ""
    return f" Start and end of the job: {start.median:+.2g} s, once{within}."


def _known(session: Session, trials: Trials) -> Estimate:
    """Between what the true ratio lies. Of fewer rounds than an interval of order statistics takes, each may be below 1
    by luck: there Student's, which is the wider the fewer there are. One round tells nothing of noise."""
    ratio = session.ratio(trials)
    if ratio.coverage >= session.wanted:
        return Estimate(ratio.median, ratio.low, ratio.high)
    return mean_ratio(session.ratios(trials), len(session.compared())) or Estimate(ratio.median, 0.0, math.inf)


def _how_sure(best: Interval, rounds: int, wanted: float) -> str:
    if best.coverage >= wanted:
        return ""
    return "Probably " if rounds >= _FEW else "Perhaps "


def verdict(session: Session) -> Verdict:
    """Faster is a side whose whole interval lies below the host's time; of those that cannot be told from the fastest,
    the cheapest is named. A side that cannot matter is not named."""
    compared = session.compared()
    if session.host.failure or not compared:
        return Verdict(HOST, None, "Nothing could be compared.")
    idle = session.nothing_to_progress
    usable = [(one, session.ratio(one)) for one in compared]
    able = [(one, ratio) for one, ratio in usable if one.side.space or not idle]
    best_side, best = min(able or usable, key=lambda pair: pair[1].median)
    rounds = len(session.rounds(best_side))
    where = "after MPI_Init" if session.inside else "in the time of the whole job"
    sure = _how_sure(best, rounds, session.wanted)
    for trials, ratio in able:
        if _known(session, trials).high < 1 and ratio.median <= best.high:
            text = (
                f"{sure}faster: {_in_words(trials.side, idle)} takes {_percent(1 - ratio.median)} off the time "
                f"{'after MPI_Init' if session.inside else 'of the whole job'} "
                f"({_percent(1 - ratio.high)} to {_percent(1 - ratio.low)}, {rounds} rounds)."
            )
            return Verdict(trials.side, ratio, text[0].upper() + text[1:] + start_text(session, trials))
    leave = "Leave Urakata off for this program."
    if _known(session, best_side).low > 1:
        every = "every side takes" if len(usable) > 1 else f"{_in_words(best_side.side, idle)} takes"
        text = f"{sure}slower: {every} {_percent(best.median - 1)} longer {where}, or more. {leave}"
        return Verdict(HOST, best, text[0].upper() + text[1:] + start_text(session, best_side))
    if rounds == 1:
        more = f"{_percent(abs(1 - best.median))} {'less' if best.median < 1 else 'more'}"
        text = f"One round cannot be told from noise: {_in_words(best_side.side, idle)} took {more} {where}."
    else:
        noise = max(1 - best.low, best.high - 1)
        text = f"No difference {where} that can be told from noise ({_percent(noise)}, {rounds} rounds). {leave}"
    if best.coverage < session.wanted:
        text += f" More rounds may tell: --runs {rounds_for(session.wanted)}."
    if not able:
        text = f"The program leaves an engine nothing to progress. {text}"
    return Verdict(HOST, best, text + start_text(session, best_side))


def command_line(chosen: Side, question: Question) -> list[str]:
    """What to type for the side that was chosen; empty for the host alone."""
    if chosen is HOST:
        return []
    own = [f"--launcher-argument={one}" for one in question.launcher_arguments]
    return ["urakata", "run", "-n", str(question.ranks), *question.words, *chosen.words, *own, "--", *question.program]
