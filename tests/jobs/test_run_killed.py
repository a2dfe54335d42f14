# SPDX-License-Identifier: BSD-3-Clause
"""`urakata run` is killed, and can tell nobody: the job ends all the same."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import compiled, named, temporary_files
from spaces import nobody_lives, nothing_stays, pids, until

from urakata import job_guard

__all__ = ["nothing_stays"]  # around every test here

RUN = [sys.executable, "-m", "urakata", "run", "-n", "2"]


@pytest.mark.parametrize("where", ([], ["--space"]), ids=("apart", "space"))
@pytest.mark.parametrize(("name", "number"), [
    ("openmpi", signal.SIGKILL),
    ("mpich", signal.SIGKILL),
    ("impi", signal.SIGKILL),
    ("impi", signal.SIGTERM),  # its launcher is a shell script, which ends alone
])  # fmt: skip
def test_the_job_ends_with_the_command(folder: Path, name: str, number: signal.Signals, where: list[str]) -> None:
    mpi = named(name)
    program = str(compiled(mpi, "space_end", folder))
    output = folder / f"output-{name}-{number.name}-{len(where)}"
    with temporary_files() as files:
        with output.open("w") as sink:
            command = subprocess.Popen(
                [*RUN, "--host", mpi.launcher, *where, "--", program, "wait"],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                env={**os.environ, **mpi.environment, **files},
            )
        try:
            until(lambda: len(pids(output.read_text())) == 2 or command.poll() is not None, "the job does not start")
            assert command.poll() is None, output.read_text()
            job = job_guard.with_descendants([command.pid])
            assert set(pids(output.read_text())) <= job or where
            command.send_signal(number)
            command.wait(30)
            nobody_lives([*job, *pids(output.read_text())])
        finally:
            command.kill()
            command.wait()
