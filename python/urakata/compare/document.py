# SPDX-License-Identifier: BSD-3-Clause
"""The comparison as JSON, and as one HTML file that needs nothing else."""

from __future__ import annotations

import shlex
import statistics
from pathlib import Path
from typing import Any

from urakata.compare import figure, tables
from urakata.compare.session import Question
from urakata.compare.trials import Session, Trials
from urakata.compare.verdict import Verdict, command_line
from urakata.measure import page
from urakata.measure.machine import Machine
from urakata.measure.text_table import time_text

# Starting a job takes a second or so. Without it a run may be shorter, but the scheduler's ticks count then.
SHORT_JOB_S = 5.0
SHORT_PROGRAM_S = 0.5


def _side(question: Question, session: Session, trials: Trials) -> dict[str, Any]:
    said: dict[str, Any] = {
        "name": trials.side.name,
        "title": trials.side.title,
        "command": question.shell_line(trials.side),
        "rounds": list(trials.runs),
        "seconds": [run.seconds for run in trials.runs.values()],
        "after_init": [run.inside for run in trials.runs.values()],
        "notes": trials.lines,
        "failure": trials.failure,
        "refusal": trials.refusal,
    }
    if trials.usable and session.rounds(trials):
        said["ratio"] = vars(session.ratio(trials))
        start = session.start(trials)
        said["start"] = vars(start) if start else None
    return said


def _warnings(question: Question, session: Session, machine: Machine) -> list[str]:
    warnings = machine.warnings()
    if question.ranks > machine.cores:
        warnings.append(f"{question.ranks} ranks share {machine.cores} cores: times are the scheduler's, too")
    if not session.alone.runs:
        return warnings
    usual = statistics.median(session.times(session.alone))
    if session.inside and usual < SHORT_PROGRAM_S:
        warnings.append(
            f"between MPI_Init and MPI_Finalize the program takes {time_text(1e6 * usual)}: take a longer input"
        )
    if not session.inside and usual < SHORT_JOB_S:
        warnings.append(
            f"runs of less than {SHORT_JOB_S:g} s are to a large part the starting of the job, which a space shortens: "
            "take a longer input where that is not what you want to know"
        )
    return warnings


def as_json(question: Question, session: Session, verdict: Verdict, compared: str, machine: Machine) -> dict[str, Any]:
    """All that was measured and concluded; times in seconds."""
    return {
        "program": shlex.join(question.program),
        "ranks": question.ranks,
        "machine": machine.as_json(),
        "verdict": verdict.text,
        "side": verdict.side.name,
        "compared": "after MPI_Init" if session.inside else "whole job",
        "nothing_to_progress": session.nothing_to_progress,
        "use": shlex.join(command_line(verdict.use, question)),
        "ratio": vars(verdict.ratio) if verdict.ratio else None,
        "ended": session.ended,
        "output": compared,
        "sides": [_side(question, session, trials) for trials in session.trials],
        "warnings": _warnings(question, session, machine),
        "refused": [vars(one) for one in session.refused()],
        "failed": [vars(one) for one in session.failed()],
    }


def write_page(document: dict[str, Any], session: Session, verdict: Verdict, folder: Path) -> None:
    """index.html with its figure, compare.svg, beside."""
    title = f"{document['program']}, {document['ranks']} ranks"
    image = folder / "compare.svg"
    drawn = figure.draw(session, verdict.side, title if len(title) <= 200 else title[:197] + "...", image)
    page.write_page(
        folder / "index.html",
        "urakata.compare",
        "compare.html.j2",
        document=document,
        shown=tables.table(session, verdict, document["output"]),
        notes=tables.notes(session),
        figure=page.data_uri(image) if drawn else "",
    )
