# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that would run for nothing end in MPI_Init, with exit code 2 and the reason."""

from __future__ import annotations

import os
import platform
import subprocess
from pathlib import Path

import pytest
from jobs import compiled, named, run_job

from urakata import paths

EXEC = str(paths.program("urakata-exec"))


@pytest.mark.parametrize(
    ("library", "launcher_of", "said"),
    [
        ("openmpi", "mpich", "the program loads Open MPI v"),
        ("openmpi", "impi", "the program loads Open MPI v"),
        ("mpich", "openmpi", "the program loads MPICH "),
        ("impi", "openmpi", "the program loads Intel(R) MPI Library "),
        ("system-openmpi", "system-mpich", "the program loads Open MPI v"),
        ("system-mpich", "system-openmpi", "the program loads MPICH "),
    ],
)
def test_ranks_that_another_familys_launcher_started(folder: Path, library: str, launcher_of: str, said: str) -> None:
    """Each would be a job of its own. One line says what the program loads and what to type; MPI says nothing."""
    mpi = named(library)
    program = str(compiled(mpi, "space_end", folder))
    started = named(launcher_of)
    files = {"LD_LIBRARY_PATH": str(Path(mpi.compiler).parents[1] / "lib")} if library == "impi" else {}
    outcome = run_job(started, 3, [EXEC, "--engine", "poll", "--", program, "code", "0"], environment=files)
    assert outcome.code == 2, outcome.output
    assert outcome.output.count(said) == 1 and "started its 3 ranks" in outcome.output, outcome.output
    family = "Open MPI's mpirun" if started.family == "openmpi" else "Hydra, the launcher of MPICH and Intel MPI,"
    assert f"but {family} started" in outcome.output
    own = Path(mpi.launcher).resolve() if "/" in mpi.launcher else Path("/usr/bin") / mpi.launcher
    assert f"Start it with {own} (urakata run --mpi {own})" in outcome.output
    assert "MPI_Init" not in outcome.output and "MPI_Abort" not in outcome.output, outcome.output


def test_tasks_of_srun_that_are_jobs_of_their_own_are_warned(folder: Path) -> None:
    """Without a PMI plugin that the MPI library knows. They run: several jobs of one rank each may be meant."""
    program = str(compiled(named("mpich"), "space_end", folder))
    for rank, times in ((0, 1), (1, 0)):
        tasks = {"SLURM_PROCID": str(rank), "SLURM_LOCALID": str(rank), "SLURM_STEP_NUM_TASKS": "4"}
        environment = {name: value for name, value in os.environ.items() if not name.startswith("PMI")} | tasks
        command = [EXEC, "--engine", "poll", "--", program, "code", "0"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        assert done.stderr.count("each of the 4 tasks of srun is a job of its own") == times, done.stderr


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_no_spare_core_for_a_progress_thread_that_must_have_one(folder: Path, name: str) -> None:
    """A rank that computes with 5000 threads leaves none; the program does not get beyond MPI_Init."""
    mpi = named(name)
    program = str(compiled(mpi, "space_end", folder))  # says "pid" after MPI_Init
    command = [EXEC, "--engine", "thread", "--placement", "spare", "--", program]
    outcome = run_job(mpi, 2, command, environment={"OMP_NUM_THREADS": "5000"})
    assert outcome.code == 2, outcome.output
    assert outcome.output.count(f"{platform.node()}: --placement spare: no core is spare: ") == 1, outcome.output
    assert "5000 computing threads" in outcome.output and "pid " not in outcome.output
    assert run_job(mpi, 2, [EXEC, "--engine", "thread", "--placement", "shared", "--", program, "code", "0"]).code == 0
