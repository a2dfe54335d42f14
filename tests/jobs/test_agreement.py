# SPDX-License-Identifier: BSD-3-Clause
"""Ranks whose options, masks or programs differ come to one choice: no job hangs, and results are right."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from jobs import FULL, Mpi, Outcome, compiled, named, passes, run_job

from urakata import paths

RANDOM = ("--cases", "150", "--no-early-free")


def by_rank(tmp_path: Path, *cases: str) -> list[str]:
    """A command that starts the rest of the line as the case of its rank says, the last one for all further ranks."""
    script = tmp_path / "by_rank"
    rank = "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}"
    branches = [f'{number}) exec {case} "$@";;' for number, case in enumerate(cases[:-1])]
    script.write_text("\n".join(["#!/bin/sh", f'case "{rank}" in', *branches, f'*) exec {cases[-1]} "$@";;', "esac"]))
    script.chmod(0o755)
    return [str(script)]


def random_job(mpi: Mpi, folder: Path, start: list[str], ranks: int = 3, *more: str) -> Outcome:
    return run_job(mpi, ranks, [*start, str(compiled(mpi, "random_nbc", folder)), *RANDOM, *more], seconds=120)


def under(*options: str) -> str:
    return " ".join([str(paths.program("urakata-exec")), *options, "--"])


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_one_rank_with_engine_native_leaves_all_to_the_library(folder: Path, tmp_path: Path, name: str) -> None:
    mpi = named(name)
    start = by_rank(tmp_path, under(), under("--engine", "native"), under())
    # A program that asks for the highest thread level: MPICH 5 alone hangs where the levels of the ranks differ.
    outcome = run_job(mpi, 3, [*start, str(compiled(mpi, "threads_nbc", folder)), "4", "50"])
    passes(outcome)
    assert outcome.output.count("urakata:") == 1, outcome.output
    assert "[rank 1] ENGINE is native on 1 of 3 ranks" in outcome.output


@pytest.mark.parametrize("engine", ("poll", "thread"))
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_algorithms_that_differ_by_rank(folder: Path, tmp_path: Path, name: str, engine: str) -> None:
    options = ("--engine", engine, "--placement", "shared")
    start = by_rank(tmp_path, under(*options), under(*options, "--algorithm", "allreduce:ring", "--segment", "1K"))
    outcome = random_job(named(name), folder, start, 3, "--no-persistent", "--no-derived")
    passes(outcome)
    assert outcome.output.count("urakata:") == 1, outcome.output
    assert "[rank 1] other values than rank 0's: ranks 1-2: ALGORITHM and SEGMENT;" in outcome.output


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_costs_that_differ_by_rank(folder: Path, tmp_path: Path, name: str) -> None:
    """What a file says counts, not what it is called."""
    one, same, other = (tmp_path / f"{which}.toml" for which in ("one", "same", "other"))
    one.write_text("[node]\nstep = 0\nbyte = 10\n")
    same.write_text("[node]\nstep = 0.0\nbyte = 10  # a comment\n")
    other.write_text("[node]\nstep = 1e6\nbyte = 0\n")
    options = ("--engine", "poll", "--costs")
    start = by_rank(tmp_path, under(*options, str(one)), under(*options, str(same)))
    outcome = random_job(named(name), folder, start, 3, "--no-persistent", "--no-derived")
    passes(outcome)
    assert "urakata:" not in outcome.output
    start = by_rank(tmp_path, under(*options, str(one)), under(*options, str(same)), under(*options, str(other)))
    outcome = random_job(named(name), folder, start, 3, "--no-persistent", "--no-derived")
    passes(outcome)
    assert outcome.output.count("urakata:") == 1, outcome.output
    assert "[rank 2] other values than rank 0's: rank 2: COSTS;" in outcome.output


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_ranks_that_differ_each_in_another_option(folder: Path, tmp_path: Path, name: str) -> None:
    options = ("--engine", "poll")
    start = by_rank(
        tmp_path, under(*options), under(*options, "--algorithm", "allreduce:ring"), under(*options, "--segment", "1K")
    )
    outcome = random_job(named(name), folder, start, 3, "--no-persistent", "--no-derived")
    passes(outcome)
    assert outcome.output.count("urakata:") == 1, outcome.output
    assert "[rank 1] other values than rank 0's: rank 1: ALGORITHM; rank 2: SEGMENT;" in outcome.output


def test_ranks_that_differ_in_options_with_a_new_name(folder: Path, tmp_path: Path) -> None:
    """Whichever name they were set by: those of rank 1 are rank 0's."""
    options = ("--engine", "poll")
    start = by_rank(
        tmp_path,
        under(*options, "--connections", "2", "--neighborhood", "schedules"),
        under(*options, "--set", "STREAMS=2", "--set", "EXCHANGE_PLANS=0"),
        under(*options),
    )
    outcome = random_job(named("openmpi"), folder, start, 3, "--no-persistent", "--no-derived")
    passes(outcome)
    assert "[rank 2] other values than rank 0's: rank 2: NEIGHBORHOOD and CONNECTIONS;" in outcome.output


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_masks_that_differ_by_rank(folder: Path, tmp_path: Path, name: str) -> None:
    """Preloaded by hand: without urakata-exec a rank takes the CPUs that it may use for the node's."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        pytest.skip("one CPU only")
    library = paths.program("urakata-exec").parents[1] / "lib" / "urakata" / f"liburakata-{name}.so"
    preloaded = f"env LD_PRELOAD={library}"
    start = by_rank(tmp_path, f"taskset -c {cpus[0]} {preloaded}", preloaded)
    passes(random_job(named(name), folder, start, 2))


@pytest.mark.parametrize("contexts", (1, 2, 5, 16))
@pytest.mark.parametrize("engine", ("poll", "thread"))
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_communicators_beyond_the_room_in_the_tags(folder: Path, name: str, engine: str, contexts: int) -> None:
    mpi = named(name)
    variables = {"URAKATA_TAG_UB": str((contexts << 16) - 1)}
    outcome = run_job(mpi, 3, [str(compiled(mpi, "many_communicators", folder))], engine, environment=variables)
    passes(outcome)
    assert "many_communicators: right" in outcome.output
    assert "they are left to the MPI library until others are freed" in outcome.output


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_many_communicators_with_room(folder: Path, name: str) -> None:
    mpi = named(name)
    outcome = run_job(mpi, 4, [str(compiled(mpi, "many_communicators", folder))], "poll")
    passes(outcome)
    assert "urakata:" not in outcome.output


@pytest.mark.parametrize("count", ("0", "1") if FULL else ("0",))  # 1: moves 2 GiB
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_a_type_that_cannot_be_described_goes_the_same_way(folder: Path, name: str, count: str) -> None:
    mpi = named(name)
    passes(
        run_job(mpi, 2, [str(compiled(mpi, "deeply_nested_type", folder)), count], "poll", seconds=120 if FULL else 30)
    )


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_what_is_said_of_a_node_is_said_once(folder: Path, tmp_path: Path, name: str) -> None:
    """Also where it is true of a rank that is not the first."""
    program = str(compiled(named(name), "space_end", folder))
    bad = under("--engine", "thread", "--placement", "shared", "--progress-cpus", "1000")
    words = "PROGRESS_CPUS=1000 is not within the node's CPUs"
    for cases, speaker in ((bad,), 0), ((under("--engine", "thread", "--placement", "shared"), bad, bad), 1):
        outcome = run_job(named(name), 3, [*by_rank(tmp_path, *cases), program, "code", "0"])
        passes(outcome)
        assert outcome.output.count(words) == 1, outcome.output
        assert f"[rank {speaker}] {words}" in outcome.output
