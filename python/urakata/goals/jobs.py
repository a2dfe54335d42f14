# SPDX-License-Identifier: BSD-3-Clause
"""Running one job of one side, on this node or across the test hosts."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from urakata import launcher, paths
from urakata.goals import reported
from urakata.goals.definitions import Side
from urakata.goals.errors import MeasurementError
from urakata.goals.flows import Watch
from urakata.hosts import Hosts
from urakata.measure.jobs import Record, bound_command, is_loaded, records, run_on_hosts, with_urakata
from urakata.measure.running import Done, JobTimeoutError, run
from urakata.stepped_back import stepped_back

Records = list[Record]

JOB_SECONDS = 45.0
"""A job that takes longer is ended, and the measurement fails: it hangs."""

LINES_SHOWN = 32
"""Of what a job that failed has said last: a stack of calls and the launcher's words about it."""

WHOLE = frozenset({"empty"})
"""Programs of which the whole job is measured, launcher included: its seconds are one more record."""


@dataclass(frozen=True)
class Job:
    """A program of bench/ on one side. `place` is a key of the session's places."""

    side: Side
    place: str
    ranks: int
    program: str
    arguments: tuple[str, ...]
    label: str
    """What differs between the jobs of a side, such as "node, 4 ranks"; the first part of its points."""
    link: Mapping[str, float] = field(default_factory=dict)
    """Of jobs over sites: delay_ms, link_mbit, flow_mbit."""


class Place(Protocol):
    """Where jobs run."""

    def run(self, job: Job) -> Records:
        """Runs the job to its end and returns the objects that it printed."""


def program_line(job: Job) -> list[str]:
    """The rank's command: the program itself, or urakata-exec before it."""
    return with_urakata(job.side.options, [str(paths.program(f"bench/{job.side.mpi}/{job.program}")), *job.arguments])


def read_records(job: Job, output: str, said: str = "") -> Records:
    """The JSON lines of a job. MeasurementError where there are none, or where Urakata was not as the side says, as the
    program's output or what is `said` beside it tells."""
    if (line := stepped_back(said)) is not None:
        raise MeasurementError(f"{job.program}, side {job.side.name}: {line}")
    try:
        found = records(output)
    except json.JSONDecodeError as error:
        raise MeasurementError(f"{job.program}, side {job.side.name}: cannot read {error.doc!r}: {error}") from error
    wanted = job.side.options is not None
    for record in found:
        if "mpi" in record and is_loaded(record) != wanted:
            state = "not loaded" if wanted else "loaded"
            raise MeasurementError(f"{job.program}, side {job.side.name}: Urakata is {state} (MPI is {record['mpi']})")
    results = [record for record in found if "mpi" not in record]
    if not results:
        raise MeasurementError(f"{job.program}, side {job.side.name}: printed no results")
    return results


def _run_reported(job: Job, run: Callable[[Job], Records]) -> Records:
    """Runs it with a folder in place of reported.FOLDER, where the side asks for one, and adds what is in it then."""
    if reported.FOLDER not in (job.side.options or ()):
        return run(job)
    with tempfile.TemporaryDirectory(prefix="report-", ignore_cleanup_errors=True) as folder:
        options = tuple(folder if word == reported.FOLDER else word for word in job.side.options or ())
        found = run(replace(job, side=replace(job.side, options=options)))
        reported.add(job.program, found, Path(folder))
        return found


def _failure(job: Job, reason: str, said: str) -> MeasurementError:
    lines = "\n".join(said.strip().splitlines()[-LINES_SHOWN:])
    return MeasurementError(f"{job.program}, {job.label}, side {job.side.name}: {reason}\n{lines}".rstrip())


def _finish(job: Job, run: Callable[[], Done]) -> Records:
    """Runs it to its good end, and gives what it printed."""
    try:
        done = run()
    except JobTimeoutError:
        raise _failure(job, f"still running after {JOB_SECONDS:.0f} s, ended", "") from None
    if done.code != 0:
        raise _failure(job, f"exit code {done.code}", done.complaints or done.said)
    found = read_records(job, done.said, done.complaints)
    return [*found, {"job_seconds": done.seconds}] if job.program in WHOLE else found


class Node:
    """This machine. As many ranks as cores are bound to one each; more are left to the scheduler, on every side."""

    def __init__(self) -> None:
        self._hosts: dict[str, launcher.Mpi] = {}

    def run(self, job: Job) -> Records:
        return _run_reported(job, self._start)

    def _start(self, job: Job) -> Records:
        mpi = self._hosts.setdefault(job.side.mpi, launcher.find_mpi(job.side.mpi))
        environment = {**mpi.environment(), **job.side.environment, "OMP_NUM_THREADS": "1"}
        # What a launcher that was killed has left in the usual folder makes one of the same pid fail.
        with tempfile.TemporaryDirectory(prefix="job-", ignore_cleanup_errors=True) as files:
            command = bound_command(mpi, job.ranks, program_line(job))
            # Several jobs may run at once, each in a thread: no guard may be forked.
            return _finish(job, lambda: run(command, {**environment, "TMPDIR": files}, JOB_SECONDS, guarded=False))


class AcrossHosts:
    """The test hosts, with equally many ranks on each."""

    def __init__(self, hosts: Hosts) -> None:
        self._hosts = hosts

    def run(self, job: Job) -> Records:
        if job.side.flows:
            with Watch(self._hosts, job.side.flows):
                return _run_reported(job, self._run)
        return _run_reported(job, self._run)

    def _run(self, job: Job) -> Records:
        environment = {**job.side.environment, "OMP_NUM_THREADS": "1"}
        per_host = job.ranks // self._hosts.count
        command = program_line(job)
        return _finish(
            job, lambda: run_on_hosts(self._hosts, per_host, command, job.side.mpi, environment, JOB_SECONDS)
        )
