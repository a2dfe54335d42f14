# SPDX-License-Identifier: BSD-3-Clause
"""The comparison as text, for the terminal and the page alike."""

from __future__ import annotations

import statistics

from urakata.compare.interval import rounds_for
from urakata.compare.trials import Session, Trials
from urakata.compare.verdict import Verdict
from urakata.measure.text_table import TextTable, time_text


def _short(ratio: float) -> str:
    return f"{ratio:.3f}" if ratio < 10 else f"{ratio:.2g}"


def _row(session: Session, trials: Trials) -> list[str]:
    if trials.failure:
        return [trials.side.title, "failed", "", "", ""]
    if not trials.usable:
        return [trials.side.title, "not possible here" if trials.refusal else "not run", "", "", ""]
    row = [trials.side.title, time_text(1e6 * statistics.median(session.times(trials)))]
    if trials is session.alone:
        return [*row, "1", "", ""]
    if not session.rounds(trials):
        return [*row, "", "", ""]
    ratio, start = session.ratio(trials), session.start(trials)
    more = f"{start.median:+.2f} s" if start else ""
    within = f"{_short(ratio.low)} .. {_short(ratio.high)}" if len(session.rounds(trials)) > 1 else ""
    return [*row, f"{ratio.median:.3f}", within, more]


def _coverage(session: Session, verdict: Verdict) -> str:
    """How sure the intervals are."""
    if not verdict.ratio or len(session.alone.runs) < 2:
        return ""
    sides = len(session.compared())
    if verdict.ratio.coverage < session.wanted:
        needed = rounds_for(session.wanted)
        return (
            f" Intervals by Student's t, since the rounds are few: {needed} or more would do without (--runs {needed})."
        )
    each = f" Each interval holds its true median with a probability of {100 * verdict.ratio.coverage:.3g} %"
    return f"{each}, all {sides} at once with 95 %." if sides > 1 else f"{each}."


def table(session: Session, verdict: Verdict, compared: str) -> TextTable:
    """A row for each side."""
    rounds = len(session.alone.runs)
    if session.inside:
        time = "after MPI_Init"
        what = (
            "from MPI_Init's return to MPI_Finalize's beginning, of the slowest rank; start, end: what the rest of the "
            "job takes longer than the MPI library's"
        )
    else:
        time, what = "whole job", "from the launcher's start to its end, since no rank told when MPI_Init returned"
    count = "1 round" if rounds == 1 else f"{rounds} rounds"
    note = (
        f"Medians of {count}, in which all sides ran in turn: {what}; / alone: each round's ratio to the MPI library's "
        f"in it. Ended because {session.ended}. Output: {compared}.{_coverage(session, verdict)}"
    )
    return TextTable(
        "Time by side",
        ["side", time, "/ alone", "interval", "start, end"],
        [_row(session, trials) for trials in session.trials],
        note,
        textual=("interval",),
    )


def notes(session: Session) -> list[str]:
    """What Urakata said under a side, each line once."""
    lines: dict[str, list[str]] = {}
    for trials in session.trials:
        for line in trials.lines:
            lines.setdefault(line.partition(": ")[2].strip(), []).append(trials.side.title)
    return [f"{line} ({', '.join(titles)})" for line, titles in lines.items()]
