# SPDX-License-Identifier: BSD-3-Clause
"""Running the parts: every side in turn, round after round, every other round backwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from urakata.launcher import Mpi
from urakata.measure.jobs import bound_command, measured, run_bound
from urakata.measure.rounds import Progress, Turn, in_turns
from urakata.measure.running import JobError
from urakata.measure.session import Session
from urakata.measure.sides import Side
from urakata.space_study.part import Part, Run
from urakata.space_study.results import Results


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


def jobs_of(parts: Sequence[Part], sides: Sequence[Side], quick: bool) -> list[Job]:
    """One round: the sides of a run one after the other, so that what is compared runs close together."""
    return [Job(part, run, side) for part in parts for run in part.runs(quick) for side in sides]


def command(job: Job, place: Place) -> list[str]:
    """The launcher's command line."""
    return bound_command(place.hosts[job.side.family], job.run.ranks, _ranks(job, place))


def _ranks(job: Job, place: Place) -> list[str]:
    return job.side.command(place.programs[job.part.program, job.side.family], job.run.arguments)


def _measure(job: Job, place: Place, results: Results) -> None:
    done = run_bound(place.hosts[job.side.family], job.run.ranks, _ranks(job, place), place.timeout_s)
    records = measured(done.said, job.side.urakata, job.side.space)
    if job.part.whole:
        records.append({"job_seconds": done.seconds, "ranks": job.run.ranks})
    values = [value for record in records for value in job.part.read(record)]
    if not values:
        raise JobError("the program wrote no result")
    for value in values:
        results.add(job.side, value)


def run_session(jobs: Sequence[Job], place: Place, repeats: int, progress: Progress) -> Session[Results]:
    """Runs every job `repeats` times."""
    session = Session(Results())
    turns = [Turn(job.label, partial(_measure, job, place, session.results)) for job in jobs]
    session.failed += in_turns(turns, repeats, progress)
    return session
