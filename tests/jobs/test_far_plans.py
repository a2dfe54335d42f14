# SPDX-License-Identifier: BSD-3-Clause
"""Neighbourhood channels over test hosts: put frames between nodes, with a space on each node and without."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import FULL, compiled, drawn_seed, named, passes, run_job
from killing import output_where_the_library_sees_no_end

from urakata import paths
from urakata.hosts import Hosts, available
from urakata.report.summary import summarise

pytestmark = pytest.mark.skipif(not available()[0], reason=f"no test hosts here: {available()[1]}")

EXEC = str(paths.program("urakata-exec"))
SECONDS = 600.0 if FULL else 100.0


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with Hosts(count=3) as made:
        yield made


def run(hosts: Hosts, name: str, program: list[str], *options: str, per_host: int = 2) -> tuple[int, str]:
    mpi = named(name)
    done = hosts.run(
        [EXEC, *options, "--", *program],
        ranks_per_host=per_host,
        mpi_name=mpi.launcher,
        env=mpi.environment,
        timeout=SECONDS,
    )
    return done.returncode, done.stdout + done.stderr


def numbers(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("topology")]


WAYS = {
    "apart": ("--engine", "poll"),
    "spaces": ("--engine", "poll", "--space"),
    "thread": ("--engine", "thread"),
    "asking": ("--engine", "poll", "--space", "--set", "COSTS=channel.bounce_budget=0"),
}


@pytest.mark.parametrize(
    ("way", "per_host"),
    [(way, per_host) for way in WAYS for per_host in (1, 2)]
    if FULL
    else [("apart", 2), ("spaces", 2), ("thread", 1), ("asking", 2)],
)
def test_random_neighbourhoods_equal_the_librarys(
    hosts: Hosts, folder: Path, tmp_path: Path, way: str, per_host: int
) -> None:
    """Without a space, ranks of a node that are neighbours have schedules, and all ranks know."""
    program = [str(compiled(named("openmpi"), "random_neighbours", folder)), "600" if FULL else "20", drawn_seed()]
    options = (*WAYS[way], "--set", f"REPORT={tmp_path}")
    code, output = run(hosts, "openmpi", program, *options, per_host=per_host)
    assert code == 0, output[-3000:]
    of_library = run_job(named("openmpi"), 3 * per_host, program, seconds=900)
    passes(of_library)
    alone = of_library.output
    assert numbers(alone) == numbers(output) and len(numbers(alone)) == int(program[1]), program
    said = [row.why for row in summarise(tmp_path).rows if row.algorithm == "channels"]
    if "--space" in options or per_host == 1:
        assert any("by put frames" in why for why in said)
    if "--space" in options:  # without one a rank's channels to itself are by stores
        assert any("by stores, " in why for why in said)
    budget = "of 0 KiB of a rank, none for " if way == "asking" else "of 16384 KiB of a rank"
    assert all(budget in why for why in said if "by put frames" in why)
    if way == "asking":
        assert any(" for want of room)" in why for why in said)


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
@pytest.mark.parametrize("way", ("apart", "spaces"))
def test_random_halos_equal_plain_messages(hosts: Hosts, folder: Path, tmp_path: Path, name: str, way: str) -> None:
    program = [str(compiled(named(name), "random_halos", folder)), "1000" if FULL else "30", "9"]
    per_host = 2 if way == "spaces" else 1
    code, output = run(hosts, name, program, *WAYS[way], "--set", f"REPORT={tmp_path}", per_host=per_host)
    assert code == 0 and "random_halos: right" in output, output[-3000:]
    assert any("by put frames" in row.why for row in summarise(tmp_path).rows)


@pytest.mark.parametrize("where", ("neighbours", "halo"))
@pytest.mark.parametrize("way", ("apart", "spaces"))
def test_a_killed_neighbour_ends_the_job(hosts: Hosts, folder: Path, way: str, where: str) -> None:
    program = [str(compiled(named("openmpi"), "killed_in_exchange", folder)), where]
    code, output = run(hosts, "openmpi", program, *WAYS[way], per_host=2 if way == "spaces" else 1)
    assert code not in (0, 124), output[-3000:]


@pytest.mark.parametrize("where", ("neighbours", "halo"))
@pytest.mark.parametrize("way", ("apart", "thread"))
def test_whoever_exchanges_with_a_killed_one_gets_an_error(
    hosts: Hosts, folder: Path, tmp_path: Path, way: str, where: str
) -> None:
    """The neighbourhood channel reports the failure."""
    mpi = named("openmpi")
    program = compiled(mpi, "killed_in_exchange", folder)
    output = output_where_the_library_sees_no_end(hosts, mpi, program, [where, str(tmp_path)], list(WAYS[way]), SECONDS)
    assert sorted(re.findall(r"rank (\d): the exchange ended with class [1-9]", output)) == ["0", "1"], output[-3000:]


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
@pytest.mark.parametrize("way", ("apart", "asking"))
def test_a_plan_moves_while_its_rank_is_blocked_in_the_library(folder: Path, name: str, way: str) -> None:
    """Also a large payload, for which the receiver has to say that it is there."""
    program = [str(compiled(named(name), "halo_while_blocked", folder))]
    with Hosts(count=2) as two:
        code, output = run(two, name, program, *WAYS[way], per_host=1)
    assert code == 0 and output.count("halo_while_blocked: right") == 2, output[-3000:]


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_long_payloads_move_while_their_ranks_compute(folder: Path, name: str) -> None:
    """2 MiB, of a halo and of a persistent collective, and no rank calls MPI until they are here."""
    program = [str(compiled(named(name), "exchange_while_computing", folder))]
    with Hosts(count=2) as two:
        code, output = run(two, name, program, *WAYS["thread"], per_host=1)
    assert code == 0 and output.count("exchange_while_computing: right") == 2, output[-3000:]


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_arguments_that_are_wrong_on_one_rank(hosts: Hosts, folder: Path, name: str) -> None:
    program = [str(compiled(named(name), "wrong_arguments_on_one_rank", folder))]
    code, output = run(hosts, name, program, *WAYS["apart"], per_host=1)
    assert code == 0 and "wrong_arguments_on_one_rank: right" in output, output[-3000:]
