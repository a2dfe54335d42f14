# SPDX-License-Identifier: BSD-3-Clause
"""Running a launcher to its end, and ending all of it where it hangs."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass

from urakata import job_guard

_GLANCE = 0.2  # seconds between two looks at whether to stop


class JobError(Exception):
    """A job failed; the text is one line of why."""


class JobTimeoutError(JobError):
    """A job took too long, and was ended."""

    def __init__(self, timeout_s: float) -> None:
        super().__init__(f"not done after {timeout_s:g} s")


@dataclass(frozen=True)
class Done:
    """A launcher that has ended: its exit code, what it and its ranks wrote, and the time from its start to its end."""

    code: int
    said: str
    complaints: str
    seconds: float

    def checked(self) -> Done:
        """Itself. Raises JobError where the exit code says that it failed."""
        if self.code != 0:
            raise JobError(why(self.code, self.complaints))
        return self


def run(
    command: list[str],
    environment: dict[str, str],
    timeout_s: float,
    look: Callable[[], None] | None = None,
    guarded: bool = True,
) -> Done:
    """Runs a launcher to its end. Raises JobError where it cannot be started or takes too long. Nothing of the job
    outlives the call, nor, where it is `guarded`, this process; a guard is forked, so other threads must not run then.

    `look` is called while the job runs, and may raise to end it. A signal's handler must not: Python drops what it
    raises inside the callbacks of a fork."""
    begin = time.monotonic()
    with job_guard.Guard() if guarded else nullcontext() as guard:
        try:
            job = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                errors="replace",
                env=environment,
                start_new_session=True,
                preexec_fn=guard.announce if guard else None,
            )
        except OSError as error:
            raise JobError(f"{command[0]}: {error.strerror}") from error
        try:
            said, complaints = _wait(job, begin + timeout_s, look)
        except subprocess.TimeoutExpired as error:
            raise JobTimeoutError(timeout_s) from error
        finally:
            _end(job)
    return Done(job.returncode, said, complaints, time.monotonic() - begin)


def _wait(job: subprocess.Popen[str], deadline: float, look: Callable[[], None] | None) -> tuple[str, str]:
    while look:
        look()
        with suppress(subprocess.TimeoutExpired):
            return job.communicate(timeout=max(0.0, min(_GLANCE, deadline - time.monotonic())))
        if time.monotonic() >= deadline:
            break
    return job.communicate(timeout=max(0.0, deadline - time.monotonic()))


def _end(job: subprocess.Popen[str]) -> None:
    """Ends what is left of a job: the launcher first, which takes its ranks along, then its whole group."""
    if job.poll() is not None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(job.pid, number)
        with suppress(subprocess.TimeoutExpired):
            job.wait(5)


def why(code: int, complaints: str) -> str:
    """An exit code with the last lines that say something."""
    said = [line.strip() for line in complaints.splitlines() if any(letter.isalnum() for letter in line)]
    return f"exit code {code}" + (f": {' / '.join(said[-3:])}" if said else "")
