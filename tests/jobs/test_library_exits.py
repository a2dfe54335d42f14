# SPDX-License-Identifier: BSD-3-Clause
"""The MPI library ends the process from within a progress thread of Urakata."""

from __future__ import annotations

from pathlib import Path

import pytest
from jobs import named, run_job
from test_tools import build, linked


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_a_progress_thread_does_not_wait_for_itself(folder: Path, name: str) -> None:
    mpi = named(name)
    build(mpi, folder / f"libexits-{name}.so", "-shared", "-fPIC", "-DLIBRARY", "library_exits.c")
    # Linked although the program needs nothing of it.
    words = ["-Wl,--no-as-needed", *linked(folder, f"exits-{name}")]
    program = build(mpi, folder / f"library_exits.{name}", "library_exits.c", *words)
    outcome = run_job(mpi, 2, [program], "thread", 20, {"MPIR_CVAR_CH4_CMA_ENABLE": "1"})
    assert "library_exits: on a progress thread" in outcome.output, outcome.output
    assert outcome.code == 17, outcome.output
    assert "memory" not in outcome.output, outcome.output
