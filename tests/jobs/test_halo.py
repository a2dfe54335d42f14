# SPDX-License-Identifier: BSD-3-Clause
"""The halo exchanges of examples/ and the benchmark of messages: the same results in a space and out of it."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from jobs import FULL, MPI_NAMES, PROGRAMS, Outcome, compiled_example, named, passes, run_job
from spaces import space_job

from urakata import paths

EXAMPLES = {
    "halo_rows": ["--rows", "3", "--columns", "20000"],
    "halo_faces": ["--x", "6", "--y", "7", "--z", "20", "--values", "3"],
}


def checksum(outcome: Outcome) -> str:
    passes(outcome)
    found = re.search(r'"checksum": (\S+)}', outcome.output)
    assert found, outcome.output
    return found[1]


@pytest.mark.parametrize("ranks", (1, 2, 4, 6) if FULL else (3,))
@pytest.mark.parametrize("example", EXAMPLES)
@pytest.mark.parametrize("name", MPI_NAMES)
def test_checksums_are_the_same_in_a_space(folder: Path, name: str, example: str, ranks: int) -> None:
    """Every digit: 20 steps of rows and of faces across x, y and z, contiguous and of derived types."""
    mpi = named(name)
    command = [str(compiled_example(mpi, example, folder)), *EXAMPLES[example], "--iterations", "20", "--json"]
    within, alone = (job(mpi, ranks, command, seconds=120) for job in (space_job, run_job))
    assert checksum(within) == checksum(alone)


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_wrong_option_shows_the_right_ones(folder: Path, example: str) -> None:
    mpi = named("mpich")
    program = str(compiled_example(mpi, example, folder))
    for wrong in (["--iterations", "0"], ["--iterations"], ["--rowz", "3"], ["--iterations", "x"]):
        outcome = run_job(mpi, 2, [program, *wrong])
        assert outcome.code == 2 and "[--iterations N]" in outcome.output, outcome.output


@pytest.mark.parametrize("within", (False, True))
@pytest.mark.parametrize("name", ("openmpi", "mpich", "impi"))
def test_the_benchmark_of_messages_says_all_that_was_asked(name: str, within: bool) -> None:
    mpi = named(name)
    program = [str(paths.program(f"bench/{name}/space")), "--sizes", "0,8,64K", "--turns", "3"]
    # MPICH alone polls for a time slice in each of some 10 000 round trips, if other programs have the cores.
    yielding = {"MPIR_CVAR_POLLS_BEFORE_YIELD": "10"}
    outcome = (space_job if within else run_job)(mpi, 2, program, seconds=400, environment=yielding)
    passes(outcome)
    records = [json.loads(line) for line in outcome.output.splitlines() if line.startswith('{"measure"')]
    assert records[0]["measure"] == "setup" and records[0]["space"] is within
    per_size = ("persistent", "half-round-trip", "fresh", "memcpy", "stream")
    expected = [(measure, size) for size in (0, 8, 65536) for measure in (per_size if size else per_size[:3])]
    assert [(record["measure"], record["bytes"]) for record in records[1:]] == [*expected, ("line", 64)]
    assert all(0 < record["fast_ns"] <= record["low_ns"] <= record["ns"] <= record["high_ns"] for record in records[1:])


def test_examples_are_in_the_tree() -> None:
    """Each halo example is tested here."""
    assert {path.stem for path in (PROGRAMS.parents[1] / "examples").glob("halo_*.c")} == set(EXAMPLES)
