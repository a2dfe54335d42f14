"""Running a launcher to its end, and ending all of it where it hangs."""

from __future__ import annotations

import os
import signal
import subprocess
from contextlib import suppress


class JobError(Exception):
    """A job failed; the text is one line of why."""


def run_to_end(command: list[str], environment: dict[str, str], timeout_s: float) -> str:
    """Runs a launcher and gives what it wrote to stdout. Raises JobError where it fails or takes too long."""
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
    )
    try:
        said, complaints = job.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        raise JobError(f"not done after {timeout_s:g} s") from error
    finally:
        _end(job)
    if job.returncode != 0:
        raise JobError(why(job.returncode, complaints))
    return said


def _end(job: subprocess.Popen[str]) -> None:
    """Ends what is left of a job: the launcher first, which takes its ranks along, then its whole group."""
    if job.poll() is not None:
        return
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(job.pid, number)
        with suppress(subprocess.TimeoutExpired):
            job.wait(5)
            return


def why(code: int, complaints: str) -> str:
    """An exit code with the last lines that say something."""
    said = [line.strip() for line in complaints.splitlines() if any(letter.isalnum() for letter in line)]
    return f"exit code {code}" + (f": {' / '.join(said[-3:])}" if said else "")
