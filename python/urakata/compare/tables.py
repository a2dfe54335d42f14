"""The comparison as text, for the terminal and the page alike."""

from __future__ import annotations

from urakata.compare.interval import interval
from urakata.compare.session import Session, Trials
from urakata.compare.verdict import Verdict
from urakata.study.text_table import TextTable, time_text


def _seconds(seconds: float) -> str:
    return time_text(1e6 * seconds)


def _row(session: Session, trials: Trials) -> list[str]:
    if trials.failure:
        return [trials.side.title, "failed", "", "", ""]
    if not trials.usable:
        return [trials.side.title, "not possible here" if trials.refusal else "not run", "", "", ""]
    times = interval(trials.seconds)
    row = [trials.side.title, _seconds(times.median), f"{_seconds(times.low)} .. {_seconds(times.high)}"]
    if trials is session.host:
        return [*row, "1", ""]
    ratio = session.ratio(trials)
    return [*row, f"{ratio.median:.3f}", f"{ratio.low:.3f} .. {ratio.high:.3f}"]


def table(session: Session, verdict: Verdict, compared: str) -> TextTable:
    """A row for each side."""
    rounds = len(session.host.seconds)
    note = (
        f"Medians of {rounds} rounds, in which all sides ran in turn, from the launcher's start to its end; "
        f"the ratio is that of each round to the host's run in it. Ended because {session.ended}. Output: {compared}."
    )
    if verdict.ratio:
        note += f" The true median lies in its interval with a probability of {100 * verdict.ratio.coverage:.0f} %"
        note += "." if verdict.ratio.coverage >= 0.95 else ": six rounds or more would make it 95 % (--runs 6)."
    return TextTable(
        "Run time by side",
        ["side", "time", "interval", "/ host", "interval of it"],
        [_row(session, trials) for trials in session.trials],
        note,
        textual=("interval", "interval of it"),
    )


def notes(session: Session) -> list[str]:
    """What Urakata said under a side, each line once."""
    lines: dict[str, list[str]] = {}
    for trials in session.trials:
        for line in trials.lines:
            lines.setdefault(line.partition(": ")[2].strip(), []).append(trials.side.title)
    return [f"{line} ({', '.join(titles)})" for line, titles in lines.items()]
