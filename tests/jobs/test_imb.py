# SPDX-License-Identifier: BSD-3-Clause
"""Intel's IMB-NBC, as its package ships it, on MPICH: a program that nobody here compiled."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from jobs import ENGINES, FULL, named, passes, run_job

from urakata import paths

OPERATIONS = ("Ibcast", "Iallgather", "Iallreduce", "Ialltoall", "Ireduce", "Igather", "Iscatter", "Ibarrier")


@pytest.mark.parametrize("engine", ENGINES if FULL else ENGINES[1:])
def test_imb_nbc(engine: str | None) -> None:
    mpi = named("mpich")
    named("impi")
    folder = paths.hosts()
    assert folder is not None
    program = folder / "impi" / "bin" / "IMB-NBC"
    if not program.is_file():
        pytest.skip("impi-devel came without IMB-NBC")
    libraries = next(folder.glob("mpich/lib/libmpi.so.12")).parent
    names = [f"{name}{kind}" for name in OPERATIONS for kind in ("", "_pure")]
    command = [str(program), "-npmin", "3", "-msglog", "10:16", "-iter", "20", "-time", "0.2", *names]
    variables = {
        "LD_LIBRARY_PATH": f"{libraries}{os.pathsep}{os.environ.get('LD_LIBRARY_PATH', '')}".rstrip(os.pathsep)
    }
    outcome = run_job(mpi, 3, command, engine, seconds=240, environment=variables, directory=Path("/"))
    passes(outcome)
    for name in names:
        assert f"# Benchmarking {name} " in outcome.output, outcome.output[-3000:]
    assert "All processes entering MPI_Finalize" in outcome.output
