# SPDX-License-Identifier: BSD-3-Clause
"""Running the jobs: all sides of a partition in turn, round after round, every other round backwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from urakata import launcher
from urakata.launcher import Mpi
from urakata.measure import jobs
from urakata.measure.jobs import measured, records, run_bound, run_on_hosts
from urakata.measure.rounds import Progress, Turn, in_turns
from urakata.measure.running import Done, JobError, run
from urakata.measure.session import Refused, Session
from urakata.measure.sides import Side
from urakata.solver_study.results import Results

if TYPE_CHECKING:
    from urakata.hosts import Hosts


@dataclass(frozen=True)
class Amounts(jobs.Amounts):
    """What bench/solver is told besides partition and ways."""

    n: int
    iterations: int
    turns: int
    operations: int
    measure: list[str]


@dataclass(frozen=True)
class Job:
    """A side with a partition into so many parts, a rank for each."""

    side: Side
    partition: str
    parts: int
    ways: Sequence[str]

    @property
    def label(self) -> str:
        """Of the progress bar and of failures."""
        return f"{self.partition}, {self.parts} parts, {self.side.title}"


@dataclass(frozen=True)
class Place:
    """Where jobs run: hosts by family with the program for each, on this machine or over test hosts."""

    hosts: Mapping[str, Mpi]
    programs: Mapping[str, Path]
    timeout_s: float
    test_hosts: Hosts | None = None


def jobs_of(places: Sequence[tuple[str, int]], sides: Sequence[Side], ways: Sequence[str]) -> list[Job]:
    """One round: the sides of a partition one after the other, so that what is compared runs close together."""
    return [Job(side, partition, parts, ways) for partition, parts in places for side in sides]


def rank_command(job: Job, place: Place, amounts: Amounts) -> list[str]:
    """What the launcher starts for each rank."""
    own = ["--partition", job.partition, "--ways", ",".join(job.ways)]
    return job.side.command(place.programs[job.side.family], [*amounts.arguments(), *own])


def count(place: Place, n: int, partition: str, parts: Sequence[int], results: Results) -> None:
    """Takes the counts of partitions, which need no rank for each part. Raises JobError."""
    family, mpi = next(iter(place.hosts.items()))
    listed = ",".join(map(str, parts))
    program = [str(place.programs[family]), "--n", str(n), "--partition", partition, "--count", listed]
    done = run(mpi.command(1, program), mpi.environment(), place.timeout_s).checked()
    for record in records(done.said):
        if "measure" in record:
            results.take(Side(family, "alone"), partition, 0, record)


def _run(job: Job, place: Place, amounts: Amounts) -> Done:
    mpi = place.hosts[job.side.family]
    ranks = rank_command(job, place, amounts)
    if place.test_hosts is None:
        return run_bound(mpi, job.parts, ranks, place.timeout_s)
    return run_on_hosts(place.test_hosts, 1, ranks, mpi, {}, place.timeout_s).checked()


def _measure(job: Job, place: Place, amounts: Amounts, session: Session[Results]) -> None:
    found = measured(_run(job, place, amounts).said, job.side.urakata, job.side.space)
    for record in found:
        if record["measure"] == "skip":
            refused = Refused(f"{job.side.title}, {record['way']}", record["reason"])
            if refused not in session.refused:
                session.refused.append(refused)
    if not any("us" in record for record in found):
        raise JobError("the program wrote no result")
    for record in found:
        session.results.take(job.side, job.partition, job.parts, record)


def run_session(
    jobs: Sequence[Job], place: Place, amounts: Amounts, repeats: int, progress: Progress
) -> Session[Results]:
    """Runs every job `repeats` times. What is refused are ways that an MPI library does not have."""
    session = Session(Results())
    turns = [Turn(job.label, partial(_measure, job, place, amounts, session)) for job in jobs]
    session.failed += in_turns(turns, repeats, progress)
    session.failed += [
        Refused("Solvers that end differently", difference) for difference in session.results.differing()
    ]
    return session


def crowded(parts: Sequence[int]) -> list[int]:
    """Numbers of parts above the cores of this machine."""
    return [one for one in parts if one > launcher.usable_cores()]
