# SPDX-License-Identifier: BSD-3-Clause
"""Halos of urakata.h: against plain messages, in a space and out of it, on all ranks alike."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jobs import (
    FULL,
    LONG_TEST_NAMES,
    MPI_NAMES,
    PROGRAMS,
    Mpi,
    Outcome,
    cases,
    compiled,
    compiled_example,
    compiled_outside,
    drawn_seed,
    named,
    passes,
    run_job,
)
from spaces import SPACE, lives_in_a_space, nothing_stays, space_job
from test_mpi4py import library, suite

from urakata import paths
from urakata.report.summary import Row, summarise

__all__ = ["nothing_stays"]  # around every test here


def is_right(outcome: Outcome) -> None:
    passes(outcome)
    assert "random_halos: right" in outcome.output, outcome.output


def rows(folder: Path) -> list[Row]:
    return [row for row in summarise(folder).rows if row.operation in ("ura_halo", "random halo")]


def job(mpi: Mpi, ranks: int, command: list[str], way: str, environment: dict[str, str] | None = None) -> Outcome:
    """In a space, with an engine, or under Urakata with all left to the MPI library."""
    if way == "space":
        return space_job(mpi, ranks, command, seconds=900, environment=environment)
    if way != "native":
        return run_job(mpi, ranks, command, way, seconds=900, environment=environment)
    under = [str(paths.program("urakata-exec")), "--engine", "native", "--"]
    return run_job(mpi, ranks, [*under, *command], seconds=900, environment=environment)


@pytest.mark.parametrize("ranks", (1, 2, 3, 4, 6) if FULL else (1, 4))
@pytest.mark.parametrize("way", ("native", "poll", "thread", "space") if FULL else ("native", "thread", "space"))
@pytest.mark.parametrize("name", MPI_NAMES if FULL else ("openmpi", "mpich"))
def test_random_halos_equal_plain_messages(folder: Path, name: str, way: str, ranks: int) -> None:
    mpi = named(name)
    is_right(
        job(mpi, ranks, [str(compiled(mpi, "random_halos", folder)), cases(60, 3000, name, ranks), drawn_seed()], way)
    )


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_the_report_says_which_way_halos_go(folder: Path, tmp_path: Path, name: str) -> None:
    """By a neighbourhood channel in a space, by messages without one."""
    mpi = named(name)
    program = [str(compiled(mpi, "random_halos", folder)), "12", drawn_seed()]
    for wish in ("auto", "schedules", "native"):
        variables = {"URAKATA_NEIGHBORHOOD": wish, "URAKATA_REPORT": str(tmp_path / wish)}
        is_right(space_job(mpi, 3, program, environment=variables))
        found = {
            (row.algorithm, row.engine, re.sub(r"^\d+ neighbours? (.*);.*", r"\1", row.why))
            for row in rows(tmp_path / wish)
        }
        refused = ("persistent messages", "native", "a rank cannot have a neighbourhood channel for it")
        together = ("channels", "poll", "by stores")
        assert found == {together if wish == "auto" else refused}
    assert {row.operation for row in rows(tmp_path / "auto")} == {"ura_halo", "random halo"}
    assert all("random_halos" in row.place for row in rows(tmp_path / "auto"))


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_ranks_outside_of_the_space(folder: Path, tmp_path: Path, name: str) -> None:
    """Communicators of both kinds have messages, and all ranks know. The ranks inside have channels with each other."""
    mpi = named(name)
    arguments = ["60", drawn_seed()]
    inside = [str(compiled(mpi, "random_halos", folder)), *arguments]
    outside = [*SPACE, str(compiled_outside(mpi, "random_halos", folder)), *arguments]
    variables = {"URAKATA_REPORT": str(tmp_path)}
    is_right(run_job(mpi, 2, [*SPACE, *inside, ":", "-n", "2", *outside], seconds=300, environment=variables))
    assert {row.algorithm for row in rows(tmp_path)} == {"channels", "persistent messages"}


@pytest.mark.parametrize("way", ("native", "poll", "space"))
@pytest.mark.parametrize("name", MPI_NAMES if FULL else ("openmpi", "mpich"))
def test_what_does_not_fit_is_refused_on_all_ranks(folder: Path, name: str, way: str) -> None:
    mpi = named(name)
    outcome = job(mpi, 2, [str(compiled(mpi, "bad_halos", folder))], way)
    passes(outcome)
    assert outcome.output.count("bad_halos: right") == 2, outcome.output
    for words in (
        "index -7, number 1 in the list of send neighbour 0 (rank 0), is not in a vector of 10 elements",
        "index 10, number 0 in the list of receive neighbour 1 (rank 0), is not in a vector of 10 elements",
        "index 9 stands twice in the lists of the receive neighbours",
        "send neighbour 1 (rank 2) is not in the communicator, which has 2 ranks",
        "-1 elements for send neighbour 1 (rank 0)",
        "rank 0 sends 16 bytes, and receive neighbour 0 here is to get 8",
        "rank 0 names this rank 2 times",
    ):
        assert f"ura_halo_create: {words}" in outcome.output, outcome.output


@pytest.mark.parametrize("way", ("poll", "space"))
@pytest.mark.parametrize("name", LONG_TEST_NAMES)
def test_a_solver_that_overlaps_its_inner_rows(folder: Path, tmp_path: Path, name: str, way: str) -> None:
    """Every digit as on one rank; also with more ranks than rows of cells, and on one rank."""
    mpi = named(name)
    program = str(compiled_example(mpi, "jacobi", folder))
    for ranks, edge in ((4, 30), (4, 3), (1, 5)):
        variables = {"URAKATA_REPORT": str(tmp_path / f"{ranks}-{edge}")}
        outcome = job(mpi, ranks, [program, "--edge", str(edge)], way, variables)
        passes(outcome)
        assert f"jacobi: {edge} x {edge} cells on {ranks} ranks, 200 iterations: right" in outcome.output
    (row,) = (row for row in summarise(tmp_path / "4-30").rows if row.operation.startswith("halo"))
    by = "channels" if way == "space" else "persistent messages"
    assert (row.operation, row.algorithm, row.started, row.ranks) == ("halo of x", by, 800, 4)


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_the_same_solver_in_python(name: str) -> None:
    mpi = named(name)
    python = suite()[0]
    variables = {"MPI4PY_LIBMPI": str(library(mpi))}
    for way in ("poll", "space") if lives_in_a_space(python) else ("poll",):
        outcome = job(mpi, 3, [python, str(PROGRAMS.parents[1] / "examples" / "jacobi.py")], way, variables)
        passes(outcome)
        assert "jacobi.py: right" in outcome.output, outcome.output
