# SPDX-License-Identifier: BSD-3-Clause
"""Neighbourhood collectives inside a space: persistent ones by neighbourhood channels, the others by messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jobs import FULL, Mpi, cases, compiled, compiled_outside, drawn_seed, named, passes, run_job
from spaces import SPACE, nothing_stays, space_job

from urakata.report.summary import summarise

__all__ = ["nothing_stays"]  # around every test here


MOST_AT_ONCE = 2500  # topologies: a job of them takes a minute or two


def refused(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("refused")]


def numbers(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("topology")]


@pytest.mark.parametrize(
    ("name", "ranks"),
    [(name, ranks) for name in ("openmpi", "mpich", "impi") for ranks in (2, 3, 4, 6)]
    if FULL
    else [("openmpi", 4), ("mpich", 3)],
)
def test_random_neighbourhoods_equal_the_librarys(folder: Path, tmp_path: Path, name: str, ranks: int) -> None:
    mpi = named(name)
    topologies, drawn = int(cases(60, 25000, name, ranks)), int(drawn_seed())
    for first in range(0, topologies, MOST_AT_ONCE):
        seed = str(drawn + first)
        program = [str(compiled(mpi, "random_neighbours", folder)), str(min(MOST_AT_ONCE, topologies - first)), seed]
        folder_of_reports = tmp_path / str(first)
        equal_to_the_library(mpi, ranks, program, folder_of_reports)


def equal_to_the_library(mpi: Mpi, ranks: int, program: list[str], reports: Path) -> None:
    of_library = run_job(mpi, ranks, program, None, seconds=900)
    passes(of_library)
    for way in ("always", "schedules", "native"):
        report = reports / way
        report.mkdir(parents=True)
        variables = {"URAKATA_NEIGHBORHOOD": way, "URAKATA_REPORT": str(report)}
        outcome = space_job(mpi, ranks, program, seconds=900, environment=variables)
        passes(outcome)
        assert numbers(outcome.output) == numbers(of_library.output) != [], program
        said = "".join(file.read_text() for file in report.glob("*.json"))
        assert ('"channels"' in said) == (way == "always")
        assert ("all ranks are in one space" in said) == (way == "always")
        ours = {row.operation for row in summarise(report).rows if "eighbor_" in row.operation}
        assert ("Ineighbor_alltoallw" in ours) == (way != "native"), ours
        assert ("Neighbor_alltoallw" in ours) == (way == "always"), ours
        assert ours if way != "native" else not ours


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_neighbourhoods_by_threads_at_once(folder: Path, name: str) -> None:
    """And the same is refused, in the same way."""
    mpi = named(name)
    program = [str(compiled(mpi, "blocking_neighbours", folder)), "2", "500" if FULL else "50"]
    of_library = run_job(mpi, 3, program, None)
    passes(of_library)
    outcome = space_job(mpi, 3, program, seconds=120, environment={"URAKATA_NEIGHBORHOOD": "always"})
    passes(outcome)
    assert refused(outcome.output) == refused(of_library.output) != []


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_costs_change_how_payloads_go_and_no_result(folder: Path, name: str) -> None:
    """Payloads beyond a line are pulled, put straight, copied by rendezvous in pieces of a line, or always land."""
    mpi = named(name)
    program = [str(compiled(mpi, "random_neighbours", folder)), "40", drawn_seed()]
    of_library = run_job(mpi, 3, program, None, seconds=300)
    passes(of_library)
    for costs in (
        "channel.pull_least=0",
        "channel.pull_least=1G,channel.direct_least=0",
        "channel.pull_least=1G,channel.bounce_most=0,channel.short_bounce_most=0,copy.piece_least=64,copy.piece_most=64",
        "channel.bounce_total=0,copy.piece_most=1G",
        "channel.pull_least=1G,channel.bounce_most=1G,channel.bounce_budget=1G",
    ):
        outcome = space_job(mpi, 3, program, seconds=300, environment={"URAKATA_COSTS": costs})
        passes(outcome)
        assert numbers(outcome.output) == numbers(of_library.output) != [], (program, costs)


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_ranks_outside_of_the_space(folder: Path, name: str) -> None:
    """Communicators of both kinds have no neighbourhood channels, and all ranks know."""
    mpi = named(name)
    arguments = ["60", drawn_seed()]
    inside = [str(compiled(mpi, "random_neighbours", folder)), *arguments]
    outside = [*SPACE, str(compiled_outside(mpi, "random_neighbours", folder)), *arguments]
    of_library = run_job(mpi, 4, inside, None, seconds=300)
    outcome = run_job(mpi, 2, [*SPACE, *inside, ":", "-n", "2", *outside], None, seconds=300)
    passes(outcome)
    assert numbers(outcome.output) == numbers(of_library.output) != [], arguments


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_the_library_moves_while_one_is_tested(folder: Path, name: str) -> None:
    mpi = named(name)
    outcome = space_job(mpi, 2, [str(compiled(mpi, "polling_moves_library_messages", folder))])
    passes(outcome)
    assert outcome.output.count("polling_moves_library_messages: right") == 2


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_what_a_neighbour_never_gives_back_ends_in_finalize(folder: Path, name: str) -> None:
    mpi = named(name)
    never_pulled = {"URAKATA_COSTS": "channel.pull_least=1G"}
    passes(space_job(mpi, 2, [str(compiled(mpi, "channels_freed_at_finalize", folder))], environment=never_pulled))


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_arguments_that_are_wrong_on_one_rank(folder: Path, name: str) -> None:
    """As under the MPI library alone: an error there, whether the others call or not, and nobody waits for anybody."""
    mpi = named(name)
    program = [str(compiled(mpi, "wrong_arguments_on_one_rank", folder))]
    for outcome in (run_job(mpi, 3, program), space_job(mpi, 3, program)):
        passes(outcome)
        assert "wrong_arguments_on_one_rank: right" in outcome.output, outcome.output


@pytest.mark.parametrize("ranks", (3, 4))
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_messages_of_an_exchange_are_its_own(folder: Path, tmp_path: Path, name: str, ranks: int) -> None:
    mpi = named(name)
    program = [str(compiled(mpi, "neighbour_messages", folder))]
    inside = space_job(mpi, ranks, [*program, "long"], environment={"URAKATA_REPORT": str(tmp_path)})
    rows = [site for file in tmp_path.glob("*.json") for site in json.loads(file.read_text()).get("call_sites", ())]
    ways = {site["operation"]: site["algorithm"] for site in rows}
    assert ways["Ineighbor_alltoall"] == ways["Neighbor_alltoallv"] == "messages", ways
    for outcome in (inside, run_job(mpi, ranks, program, None)):
        passes(outcome)
        assert outcome.output.count("neighbour_messages: right") == ranks, outcome.output
