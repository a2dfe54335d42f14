# SPDX-License-Identifier: BSD-3-Clause
"""Running one job of one side, on this node or across the test hosts."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from urakata import launcher, paths
from urakata.goals import reported
from urakata.goals.definitions import Side
from urakata.goals.errors import MeasurementError
from urakata.goals.flows import Watch
from urakata.hosts import Hosts
from urakata.stepped_back import stepped_back

Records = list[dict[str, Any]]

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
    program = str(paths.program(f"bench/{job.side.mpi}/{job.program}"))
    if job.side.options is None:
        return [program, *job.arguments]
    return [str(paths.program("urakata-exec")), *job.side.options, "--", program, *job.arguments]


def read_records(job: Job, output: str, said: str = "") -> Records:
    """The JSON lines of a job. MeasurementError where there are none, or where Urakata was not as the side says, as the
    program's output or what is `said` beside it tells."""
    if (line := stepped_back(said)) is not None:
        raise MeasurementError(f"{job.program}, side {job.side.name}: {line}")
    try:
        records: Records = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    except json.JSONDecodeError as error:
        raise MeasurementError(f"{job.program}, side {job.side.name}: cannot read {error.doc!r}: {error}") from error
    wanted = job.side.options is not None
    for record in records:
        if "mpi" in record and ("liburakata" in record["mpi"]) != wanted:
            state = "not loaded" if wanted else "loaded"
            raise MeasurementError(f"{job.program}, side {job.side.name}: Urakata is {state} (MPI is {record['mpi']})")
    records = [record for record in records if "mpi" not in record]
    if not records:
        raise MeasurementError(f"{job.program}, side {job.side.name}: printed no results")
    return records


def _run_reported(job: Job, run: Callable[[Job], Records]) -> Records:
    """Runs it with a folder in place of reported.FOLDER, where the side asks for one, and adds what is in it then."""
    if reported.FOLDER not in (job.side.options or ()):
        return run(job)
    with tempfile.TemporaryDirectory(prefix="report-", ignore_cleanup_errors=True) as folder:
        options = tuple(folder if word == reported.FOLDER else word for word in job.side.options or ())
        records = run(replace(job, side=replace(job.side, options=options)))
        reported.add(job.program, records, Path(folder))
        return records


def _failure(job: Job, reason: str, said: str) -> MeasurementError:
    lines = "\n".join(said.strip().splitlines()[-LINES_SHOWN:])
    return MeasurementError(f"{job.program}, {job.label}, side {job.side.name}: {reason}\n{lines}".rstrip())


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
            command = mpi.command(job.ranks, program_line(job), mpi.binding(job.ranks))
            return self._run(job, command, {**environment, "TMPDIR": files})

    def _run(self, job: Job, command: list[str], environment: dict[str, str]) -> Records:
        begin = time.monotonic()
        started = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        try:
            output, said = started.communicate(timeout=JOB_SECONDS)
        except subprocess.TimeoutExpired:
            end_group(started)
            raise _failure(job, f"still running after {JOB_SECONDS:.0f} s, ended", "") from None
        except BaseException:
            end_group(started)
            raise
        if started.returncode != 0:
            raise _failure(job, f"exit code {started.returncode}", said or output)
        seconds = time.monotonic() - begin
        records = read_records(job, output, said)
        return [*records, {"job_seconds": seconds}] if job.program in WHOLE else records


def end_group(process: subprocess.Popen[str]) -> None:
    """Ends a launcher that leads its own process group: it may clean up for a moment, then what is left is killed."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(3)
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


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
        try:
            done = self._hosts.run(
                program_line(job),
                ranks_per_host=per_host,
                mpi_name=job.side.mpi,
                env=environment,
                timeout=JOB_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise _failure(job, f"still running after {JOB_SECONDS:.0f} s, ended", "") from None
        if done.returncode != 0:
            raise _failure(job, f"exit code {done.returncode}", done.stderr or done.stdout)
        return read_records(job, done.stdout, done.stderr)
