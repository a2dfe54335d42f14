"""urakata compare with real jobs: the clock sees the ranks of each side, and the report what they call."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import compiled, named


@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_the_time_after_mpi_init_is_known_on_both_sides(folder: Path, name: str) -> None:
    """A program that only sends and reduces, blocking: the engine has nothing to do, so a space is compared alone."""
    program = compiled(named(name), "send_and_reduce", folder)
    words = ["--host", named(name).launcher, "--runs", "1", "--json", "-", "-n", "2", "--", str(program)]
    done = subprocess.run(
        [sys.executable, "-m", "urakata", "compare", *words],
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["compared"] == "after MPI_Init" and said["nothing_to_progress"]
    assert [side["name"] for side in said["sides"]] == ["host", "space"]
    for side in said["sides"]:
        assert 0 < side["after_init"][0] < side["seconds"][0], side
