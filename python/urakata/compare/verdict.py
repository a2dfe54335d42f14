"""What a comparison says: which side to use, or that none is worth it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from urakata.compare.interval import WANTED, Interval
from urakata.compare.output import Reference
from urakata.compare.session import Question, Session
from urakata.compare.side import HOST, Side


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


def _in_words(side: Side) -> str:
    return f"engine {side.title.removesuffix(', space')}{', in a space,' if side.space else ''}"


def verdict(session: Session) -> Verdict:
    """Faster is a side whose whole interval lies below the host's time; of those that cannot be told from the fastest,
    the cheapest is named."""
    usable = [(one.side, session.ratio(one)) for one in session.trials[1:] if one.usable]
    if session.host.failure or not usable:
        return Verdict(HOST, None, "Nothing could be compared.")
    best = min((ratio for _, ratio in usable), key=lambda ratio: ratio.median)
    rounds = len(session.host.seconds)
    sure = "" if best.coverage >= WANTED else "Probably "
    for side, ratio in usable:
        if ratio.high < 1 and ratio.median <= best.high:
            text = (
                f"{sure}faster: {_in_words(side)} takes {_percent(1 - ratio.median)} off the run time "
                f"({_percent(1 - ratio.high)} to {_percent(1 - ratio.low)} in {rounds} rounds)."
            )
            return Verdict(side, ratio, text[0].upper() + text[1:])
    if best.low > 1:
        text = f"{sure}slower: every side takes {_percent(best.median - 1)} longer than the host alone, or more."
        return Verdict(HOST, best, f"{text[0].upper()}{text[1:]} Leave Urakata off for this program.")
    noise = max(1 - best.low, best.high - 1)
    text = f"No difference that can be told from noise ({_percent(noise)} in {rounds} rounds): leave Urakata off."
    return Verdict(HOST, best, text)


def command_line(chosen: Side, question: Question) -> list[str]:
    """What to type for the side that was chosen; empty for the host alone."""
    if chosen is HOST:
        return []
    own = [f"--launcher-argument={one}" for one in question.launcher_arguments]
    return ["urakata", "run", "-n", str(question.ranks), *question.words, *chosen.words, *own, "--", *question.program]
