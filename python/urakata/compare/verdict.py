# SPDX-License-Identifier: BSD-3-Clause
"""What a comparison says: which side to use, or that none is worth it."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from urakata import typed
from urakata.compare.interval import Interval, rounds_for
from urakata.compare.output import Reference
from urakata.compare.session import Question
from urakata.compare.side import ALONE, SPACE, Side
from urakata.compare.trials import Session, Trials

# From so many rounds on their spread says something.
_FEW = 3
# Of the job's time: less that its start takes is not worth a word.
_WORTH = 0.01


@dataclass(frozen=True)
class Verdict:
    """`side`: the fastest, HOST where none is faster. `ratio`: of the best side; None where nothing was compared.
    `starts`: where none is faster, one with which only the start of a job is shorter."""

    side: Side
    ratio: Interval | None
    text: str
    starts: Side | None = None

    @property
    def use(self) -> Side:
        """The side whose command is shown."""
        return self.starts or self.side


def judge_outputs(session: Session, ignored: Sequence[str]) -> str:
    """A side that wrote something else than the MPI library has failed. What was compared, in words. Raises
    re.error."""
    if not session.alone.outputs:
        return "not compared: the MPI library alone has written none"
    reference = Reference(session.alone.outputs, ignored)
    for trials in session.trials[1:]:
        if trials.usable and (found := next(filter(None, map(reference.difference, trials.outputs)), "")):
            trials.failure = f"its output differs from the MPI library's. {found[0].upper()}{found[1:]}"
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


def _how_sure(best: Interval, rounds: int, wanted: float) -> str:
    if best.coverage >= wanted:
        return ""
    return "Probably " if rounds >= _FEW else "Perhaps "


def _less_to_more(known: Interval) -> str:
    """Such as "12 % less to 3 % more"."""

    def text(one: float) -> str:
        return f"{one:.2g} times as long" if one > 2 else f"{_percent(abs(1 - one))} {'less' if one < 1 else 'more'}"

    return f"{text(known.low)} to {text(known.high)}"


def _of_start(session: Session, compared: Sequence[Trials]) -> Trials | None:
    """The cheapest side with which a job starts and ends sooner, as far as can be told; None if it hardly matters."""
    if len(session.alone.runs) < 2:
        return None
    worth = _WORTH * statistics.median(run.seconds for run in session.alone.runs.values())
    gains = [(one, start) for one in compared if (start := session.start(one)) and start.high < 0]
    best = min((start for _, start in gains), key=lambda one: one.median, default=None)
    if best is None or -best.median < worth:
        return None
    return next(one for one, start in gains if start.median <= best.high)


def _only_start(session: Session, trials: Trials) -> str:
    start = session.start(trials)
    assert start is not None
    return (
        f"Only the start of the job gains: {' '.join(trials.side.words)} saves {-start.median:.2g} s a job "
        f"({-start.high:.2g} to {-start.low:.2g} s)."
    )


def verdict(session: Session) -> Verdict:
    """Faster is a side whose whole interval lies below the MPI library's time; of those that cannot be told from the
    fastest, the cheapest is named. A side that cannot matter is not named."""
    compared = session.compared()
    if session.alone.failure or not compared:
        return Verdict(ALONE, None, "Nothing could be compared.")
    idle = session.nothing_to_progress
    usable = [(one, session.ratio(one)) for one in compared]
    able = [(one, ratio) for one, ratio in usable if one.side.space or not idle]
    best_side, best = min(able or usable, key=lambda pair: pair[1].median)
    rounds = len(session.rounds(best_side))
    where = "after MPI_Init" if session.inside else "in the time of the whole job"
    sure = _how_sure(best, rounds, session.wanted)
    for trials, ratio in able:
        if len(session.rounds(trials)) > 1 and ratio.high < 1 and ratio.median <= best.high:
            text = (
                f"{sure}faster: {_in_words(trials.side, idle)} takes {_percent(1 - ratio.median)} off the time "
                f"{'after MPI_Init' if session.inside else 'of the whole job'} "
                f"({_percent(1 - ratio.high)} to {_percent(1 - ratio.low)}, {rounds} rounds)."
            )
            return Verdict(trials.side, ratio, text[0].upper() + text[1:] + start_text(session, trials))
    leave = "Leave Urakata off for this program."
    if rounds > 1 and best.low > 1:
        every = "every side takes" if len(usable) > 1 else f"{_in_words(best_side.side, idle)} takes"
        text = f"{sure}slower: {every} {_percent(best.median - 1)} longer {where}, or more. {leave}"
        return Verdict(ALONE, best, text[0].upper() + text[1:] + start_text(session, best_side))
    of_start = _of_start(session, compared)
    if rounds == 1:
        more = f"{_percent(abs(1 - best.median))} {'less' if best.median < 1 else 'more'}"
        text = f"One round cannot be told from noise: {_in_words(best_side.side, idle)} took {more} {where}."
    elif not able:
        text = f"The program leaves an engine nothing to progress. {leave}"
    else:
        text = f"No difference {where} that can be told from noise ({_less_to_more(best)}, {rounds} rounds)."
        text += f" {_only_start(session, of_start) if of_start else leave}"
    if best.coverage < session.wanted:
        text += f" More rounds may tell: --runs {rounds_for(session.wanted)}."
    if of_start and able:
        return Verdict(ALONE, best, text, of_start.side)
    return Verdict(ALONE, best, text + start_text(session, best_side))


def command_line(chosen: Side, question: Question) -> list[str]:
    """What to type for the side that was chosen; empty for the MPI library alone."""
    if chosen is ALONE:
        return []
    own = [f"--launcher-argument={one}" for one in question.launcher_arguments]
    words = ["-n", str(question.ranks), *question.words, *chosen.words, *own]
    return [*typed.command_words(), "run", *words, "--", *question.program]
