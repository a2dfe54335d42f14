# SPDX-License-Identifier: BSD-3-Clause
"""urakata compare with real jobs: the clock sees the ranks of each side, and the report what they call."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jobs import compiled, compiled_library, named

LATE = """
#include <mpi.h>
int begin(void) { return MPI_Init(NULL, NULL); }
int (*end(void))(void) { return MPI_Finalize; }
"""

LATE_CALLER = """
import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.begin()
library.end.restype = ctypes.c_void_p
ctypes.CFUNCTYPE(ctypes.c_int)(library.end())()
"""


def compared(name: str, *program: str) -> dict[str, Any]:
    words = ["--host", named(name).launcher, "--runs", "1", "--json", "-", "-n", "2", "--", *program]
    done = subprocess.run(
        [sys.executable, "-m", "urakata", "compare", *words], capture_output=True, text=True, timeout=100
    )
    assert done.returncode == 0, done.stderr
    said: dict[str, Any] = json.loads(done.stdout)
    assert said["compared"] == "after MPI_Init" and said["nothing_to_progress"]
    assert [side["name"] for side in said["sides"]] == ["host", "space"]
    for side in said["sides"]:
        assert 0 < side["after_init"][0] < side["seconds"][0], side
    return said


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_the_time_after_mpi_init_is_known_on_both_sides(folder: Path, name: str) -> None:
    """A program that only sends and reduces, blocking: the engine has nothing to do, so a space is compared alone."""
    assert compared(name, str(compiled(named(name), "send_and_reduce", folder)))["output"] == "compared"


def test_an_mpi_library_that_is_loaded_late_for_one_library_alone_is_found(folder: Path) -> None:
    """As of Python's extension modules; MPI_Finalize is called from elsewhere, as Python's end does."""
    library = compiled_library(named("openmpi"), LATE, folder)
    compared("openmpi", sys.executable, "-c", LATE_CALLER, str(library))
