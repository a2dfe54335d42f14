"""Jobs that would run for nothing end in MPI_Init, with exit code 2 and the reason."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest
from jobs import compiled, named, run_job

from urakata import paths

EXEC = str(paths.program("urakata-exec"))


@pytest.mark.parametrize("launcher_of", ("mpich", "impi"))
def test_ranks_that_another_familys_launcher_started(folder: Path, launcher_of: str) -> None:
    """Each would be alone in a world of its own, and end well. MPICH's own MPI_Init fails where it is so."""
    program = str(compiled(named("openmpi"), "space_end", folder))
    outcome = run_job(named(launcher_of), 2, [EXEC, "--engine", "poll", "--", program, "code", "0"])
    assert outcome.code not in (0, None), outcome.output
    assert "is of another family, and each rank is alone" in outcome.output


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_no_spare_core_for_a_helper_that_must_have_one(folder: Path, name: str) -> None:
    """A rank that computes with 5000 threads leaves none; the program does not get beyond MPI_Init."""
    host = named(name)
    program = str(compiled(host, "space_end", folder))  # says "pid" after MPI_Init
    command = [EXEC, "--engine", "thread", "--placement", "spare", "--", program]
    outcome = run_job(host, 2, command, environment={"OMP_NUM_THREADS": "5000"})
    assert outcome.code == 2, outcome.output
    assert outcome.output.count(f"{platform.node()}: --placement spare: no core is spare: ") == 1, outcome.output
    assert "5000 threads to compute" in outcome.output and "pid " not in outcome.output
    assert run_job(host, 2, [EXEC, "--engine", "thread", "--placement", "shared", "--", program, "code", "0"]).code == 0
