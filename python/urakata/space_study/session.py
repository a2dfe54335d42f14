# SPDX-License-Identifier: BSD-3-Clause
"""Running the parts: every side in turn, round after round, every other round backwards."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from urakata.launcher import Mpi
from urakata.measure.rounds import Progress, in_turns
from urakata.measure.running import JobError, run_to_end
from urakata.measure.session import Refused
from urakata.space_study.part import Part, Run
from urakata.space_study.results import Results
from urakata.space_study.side import Side


@dataclass(frozen=True)
class Job:
    """A run of a part on one side."""

    part: Part
    run: Run
    side: Side

    @property
    def label(self) -> str:
        """Of the progress bar and of failures."""
        return ", ".join(filter(None, (self.part.name, self.run.label, self.side.name)))


@dataclass(frozen=True)
class Place:
    """Where jobs run: hosts by family, and a part's program for each. `timeout_s` is a job's."""

    hosts: Mapping[str, Mpi]
    programs: Mapping[tuple[str, str], Path]
    timeout_s: float


@dataclass
class Session:
    """What was measured, and which jobs failed."""

    results: Results = field(default_factory=Results)
    failed: list[Refused] = field(default_factory=list)


def jobs_of(parts: Sequence[Part], sides: Sequence[Side], quick: bool) -> list[Job]:
    """One round: the sides of a run one after the other, so that what is compared runs close together."""
    return [Job(part, run, side) for part in parts for run in part.runs(quick) for side in sides]


def command(job: Job, place: Place) -> list[str]:
    """The launcher's command line. As many ranks as cores are bound to one each; more are left to the scheduler."""
    mpi = place.hosts[job.side.family]
    ranks = job.side.command(place.programs[job.part.program, job.side.family], list(job.run.arguments))
    return mpi.command(job.run.ranks, ranks, mpi.binding(job.run.ranks))


def _records(job: Job, said: str) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
    for record in records:
        if "mpi" in record and ("liburakata" in record["mpi"]) != job.side.space:
            raise JobError(f"Urakata is {'not ' if job.side.space else ''}loaded: MPI is {record['mpi']}")
        if record.get("space", job.side.space) != job.side.space:
            raise JobError("the ranks are not in a space" if job.side.space else "the ranks are in a space")
    return [record for record in records if "mpi" not in record]


def _measure(job: Job, place: Place, results: Results) -> None:
    mpi = place.hosts[job.side.family]
    line = command(job, place)
    begin = time.monotonic()
    said = run_to_end(line, mpi.environment(), place.timeout_s)
    seconds = time.monotonic() - begin
    records = _records(job, said)
    if job.part.whole:
        records.append({"job_seconds": seconds, "ranks": job.run.ranks})
    values = [value for record in records for value in job.part.read(record)]
    if not values:
        raise JobError("the program wrote no result")
    for value in values:
        results.add(job.side, value)


def run_session(jobs: Sequence[Job], place: Place, repeats: int, progress: Progress) -> Session:
    """Runs every job `repeats` times. One that fails is not tried again."""
    session = Session()
    session.failed += in_turns(
        [(job.label, partial(_measure, job, place, session.results)) for job in jobs], repeats, progress
    )
    return session
