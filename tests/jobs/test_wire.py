# SPDX-License-Identifier: BSD-3-Clause
"""Transport wire: jobs over several test hosts whose collectives travel over TCP connections of Urakata's own."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from broken_links import cut, wait_until_it_works
from jobs import FULL, compiled, drawn_seed, named, run_job

from urakata import paths
from urakata.hosts import Hosts, available

pytestmark = pytest.mark.skipif(not available()[0], reason=f"no test hosts here: {available()[1]}")

EXEC = str(paths.program("urakata-exec"))
LONG = ("1500" if FULL else "300", "900" if FULL else "120")


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with Hosts(count=3) as made:
        yield made


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


def run(hosts: Hosts, name: str, program: list[str], *options: str, per_host: int = 1) -> tuple[int, str]:
    mpi = named(name)
    done = hosts.run(
        [EXEC, "--verbose", "2", *options, "--", *program],
        ranks_per_host=per_host,
        mpi_name=mpi.launcher,
        env=mpi.environment,
        timeout=float(LONG[1]),
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("per_host", (1, 2))
@pytest.mark.parametrize("engine", ("poll", "thread"))
def test_collectives_by_wire_are_right(hosts: Hosts, folder: Path, engine: str, per_host: int) -> None:
    program = [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", LONG[0], "--seed", str(per_host)]
    code, output = run(hosts, "openmpi", program, "--engine", engine, per_host=per_host)
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert output.count("transport wire: ") == 3 * per_host, output[:3000]


@pytest.mark.parametrize("engine", ("poll", "thread"))
def test_neighbourhoods_by_wire_are_right(hosts: Hosts, folder: Path, engine: str) -> None:
    """The same numbers come out of what all ranks got as under the MPI library alone."""
    program = [str(compiled(named("openmpi"), "random_neighbours", folder)), "300" if FULL else "30", drawn_seed()]
    code, output = run(hosts, "openmpi", program, "--engine", engine, "--neighborhood", "always", per_host=2)
    assert code == 0, output[-3000:]
    assert output.count("transport wire: ") == 6, output[:3000]
    alone = run_job(named("openmpi"), 6, program).output
    lines = [[line for line in of.splitlines() if line.startswith("topology")] for of in (alone, output)]
    assert lines[0] == lines[1] and len(lines[0]) == int(program[1]), program


@pytest.mark.parametrize("engine", ("poll", "thread"))
def test_mpich_by_wire(hosts: Hosts, folder: Path, engine: str) -> None:
    """Not random_nbc: MPICH 5.0.2 itself hangs in it between hosts, over its UCX's TCP."""
    program = [str(compiled(named("mpich"), "threads_nbc", folder)), "3", "50"]
    code, output = run(hosts, "mpich", program, "--engine", engine)
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert output.count("transport wire: ") == 3, output[:3000]


@pytest.mark.parametrize(
    ("per_host", "options", "said"),
    (
        (1, (), "the MPI library has 0, progress threads: 1"),
        (1, ("--transport", "native"), "the MPI library has 3, progress threads: 1"),
        (2, (), "the MPI library has 3, progress threads: 1"),
    ),
)
def test_a_progress_thread_that_needs_no_library_asks_for_no_thread_level(
    hosts: Hosts, folder: Path, per_host: int, options: tuple[str, ...], said: str
) -> None:
    """All that a rank alone on its node sends goes by wire; beside others its progress thread has the MPI library's
    messages, too."""
    program = [str(compiled(named("openmpi"), "thread_level", folder)), "0"]
    code, output = run(hosts, "openmpi", program, *options, per_host=per_host)
    assert code == 0 and output.count(said) == 3 * per_host, output[-3000:]


@pytest.mark.parametrize("engine", ("poll", "thread"))
def test_forks_while_collectives_are_in_progress(hosts: Hosts, folder: Path, engine: str) -> None:
    """The children have the descriptors of the connections, and stay longer than the collectives."""
    program = [str(compiled(named("openmpi"), "forks", folder)), "300" if FULL else "12"]
    code, output = run(hosts, "openmpi", program, "--engine", engine)
    assert code == 0, output[-3000:]
    assert output.count("transport wire: ") == 3, output[:3000]


def test_where_no_address_leads_to_the_others_the_library_carries(hosts: Hosts, folder: Path) -> None:
    program = [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", "30"]
    code, output = run(hosts, "openmpi", program, "--transport", "wire", "--wire-interface", "none0")
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    why = "no transport wire (rank 0 has none: its node has no network interface none0 (WIRE_INTERFACE))"
    assert output.count(why) == 1, output[:3000]


def test_a_node_that_nobody_reaches_leaves_the_others_their_wire(hosts: Hosts, folder: Path) -> None:
    mpi = named("openmpi")
    program = f"{compiled(mpi, 'random_nbc', folder)} --cases {LONG[0]} --seed 5"
    alone = '[ "$(hostname)" != host2 ] || alone="--wire-interface none0"'
    done = hosts.run(
        ["sh", "-c", f"{alone}; exec {EXEC} --verbose 2 --transport wire $alone -- {program}"],
        mpi_name=mpi.launcher,
        env=mpi.environment,
        timeout=float(LONG[1]),
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0 and " 0 wrong" in output, output[-3000:]
    assert output.count("not all by transport wire: 1 of 3 pairs of nodes; ") == 1, output[:3000]


@pytest.mark.parametrize("how", ("exit", "kill"))
def test_a_rank_that_ends_early_ends_the_job(hosts: Hosts, folder: Path, tmp_path: Path, how: str) -> None:
    program = [str(compiled(named("openmpi"), "early_exit", folder)), how, str(tmp_path)]
    code, output = run(hosts, "openmpi", program, "--transport", "wire")
    assert code != 0, output[-3000:]  # which code differs from job to job, also without Urakata
    assert {path.name for path in tmp_path.iterdir()} == {"0", "1", "2"}, output[-3000:]
    assert output.count("transport wire: ") == 3, output[:3000]


@pytest.mark.parametrize(
    ("engine", "what"),
    (("poll", "all"), ("thread", "all"), ("thread", "neighbours"), ("poll", "neighbours"), ("poll", "halo")),
)
def test_where_one_link_breaks_every_rank_gets_an_error(folder: Path, tmp_path: Path, engine: str, what: str) -> None:
    """Host 0 has no part in the link between 1 and 2."""
    program = [str(compiled(named("openmpi"), "lost_link", folder)), str(tmp_path), what]
    with Hosts(count=3) as own, ThreadPoolExecutor(1) as pool:
        options = ("--engine", engine, "--set", "PEER_TIMEOUT=4")
        job = pool.submit(run, own, "openmpi", program, *options)
        wait_until_it_works(job, tmp_path, 3)
        cut(own, 1, 2)
        _, output = job.result()  # the launcher finds fault with ranks that end without MPI_Finalize
    assert len(list(tmp_path.glob("failed.*"))) == 3, output[-3000:]


@pytest.mark.parametrize("how", ("wait", "test"))
@pytest.mark.parametrize("engine", ("poll", "thread"))
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_who_waits_for_the_wire_moves_the_librarys_messages(
    hosts: Hosts, folder: Path, name: str, engine: str, how: str
) -> None:
    program = [str(compiled(named(name), "wait_properties", folder)), "order", how]
    code, output = run(hosts, name, program, "--engine", engine)
    assert code == 0, output[-3000:]
    assert output.count("transport wire: ") == 3, output[:3000]
