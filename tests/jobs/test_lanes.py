# SPDX-License-Identifier: BSD-3-Clause
"""Collectives between sites: jobs over two and three sites, whose results are those of the MPI library."""

from __future__ import annotations

import json
import random
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from broken_links import refuse_connections, wait_until_it_works
from jobs import FULL, compiled, drawn_seed, named
from spaces import until

from urakata import paths
from urakata.hosts import Hosts, LinkSettings, Sites, available, long_links

pytestmark = pytest.mark.skipif(not available(sites=True)[0], reason=f"no sites here: {available(sites=True)[1]}")

EXEC = str(paths.program("urakata-exec"))
CASES, LIMIT = ("2500", 900.0) if FULL else ("60", 120.0)
CASES_CUT, LIMIT_CUT = ("5000", 4 * 3600.0) if FULL else ("50", 300.0)  # with each of two engines
MOST_JOBS = 20
EPHEMERAL = 32768  # the first port that the kernel chooses; below are Open MPI's listeners


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("programs")


@pytest.fixture(scope="module")
def two_sites() -> Iterator[Hosts]:
    with Hosts(sites=Sites([2, 2], LinkSettings(delay_us=3000, rate=400_000_000, flow_rate=50_000_000))) as made:
        yield made


@pytest.fixture(scope="module")
def three_sites() -> Iterator[Hosts]:
    with Hosts(sites=Sites([2, 1, 2], LinkSettings(delay_us=2000, loss=0.001))) as made:
        yield made


def run(
    hosts: Hosts, program: list[str], *options: str, per_host: int = 1, name: str = "openmpi", seconds: float = LIMIT
) -> tuple[int, str]:
    mpi = named(name)
    done = hosts.run(
        [EXEC, "--verbose", "2", *options, "--", *program],
        ranks_per_host=per_host,
        mpi_name=mpi.launcher,
        env=mpi.environment,
        timeout=seconds,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("engine", ("poll", "thread"))
def test_collectives_between_sites_are_those_of_the_library(three_sites: Hosts, folder: Path, engine: str) -> None:
    """Non-blocking and persistent ones, against the MPI library's blocking ones."""
    program = [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", CASES]
    code, output = run(three_sites, program, "--engine", engine, "--blocking", "never")
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert "3 sites (0: 2 nodes, 1: 1 node, 2: 2 nodes)" in output, output[:3000]


def messages_hit(output: str) -> int:
    """How many messages of operations have lost a connection that was carrying them, by what ranks say of it."""
    given_up = r"connections to rank \d+ acknowledge nothing: what they had of (\d+) messages goes over the others"
    return sum(map(int, re.findall(given_up, output)))


class Scissors(threading.Thread):
    """Cuts single connections of a job between three sites, one way or both, and restores them, at random: of those
    that have just carried something, mostly longer than a lane may be silent, and much shorter than a node may. Open
    MPI's own are left alone: it has one for each pair, and what it does to compare would wait for minutes."""

    def __init__(self, hosts: Hosts, seed: int) -> None:
        super().__init__(daemon=True)
        self.cuts = 0
        self.failure: Exception | None = None
        self._hosts, self._random = hosts, random.Random(seed)
        self._carried: dict[tuple[int, int, int, str], int] = {}  # bytes of each connection, when last looked at
        self._end = threading.Event()

    def run(self) -> None:
        try:
            self._cut_and_restore()
        except Exception as error:  # told by end()
            self.failure = error

    def _cut_and_restore(self) -> None:
        while not self._end.wait(self._random.uniform(0.05, 0.5)):
            link = self._random.choice([(0, 1), (0, 2), (1, 2)])
            direction = self._random.randrange(2)
            flows = self._busy(link, direction)
            if not flows:
                continue
            flow = self._random.choice(flows)
            there, back = f"{flow['from']} {flow['to']}", f"{flow['to']} {flow['from']}"
            ways = [(direction, there), (1 - direction, back)][: self._random.choice((1, 2))]
            try:
                for way, ends in ways:
                    self._hosts.control(*link, f"cut {way} {ends}")
                self.cuts += 1
                self._end.wait(self._random.uniform(0.2, 1.5))
            finally:
                for way, ends in ways:
                    self._hosts.control(*link, f"restore {way} {ends}")

    def _busy(self, link: tuple[int, int], direction: int) -> list[dict[str, str]]:
        found = []
        for flow in self._hosts.control(*link, "stats")["directions"][direction]["flows"]:
            key = (*link, direction, f"{flow['from']} {flow['to']}")
            ports = [int(flow[end].rpartition(":")[2]) for end in ("from", "to")]
            if min(ports) < EPHEMERAL:
                continue
            if flow["delivered_bytes"] > self._carried.get(key, 0):
                found.append(flow)
            self._carried[key] = flow["delivered_bytes"]
        return found

    def end(self) -> None:
        self._end.set()
        self.join()
        assert self.failure is None, self.failure


@pytest.mark.parametrize("engine", ("poll", "thread"))
def test_lanes_that_are_cut_and_restored_at_random(
    three_sites: Hosts, folder: Path, engine: str, record_property: Callable[[str, object], None]
) -> None:
    """Jobs until a cut has hit an operation that was under way, as it does in the first one mostly.

    Each job has another seed: with one seed for all, cuts at the same moments may miss every operation.
    """
    program = [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", CASES_CUT, "--seed"]
    hit = cuts = jobs = 0
    while hit == 0 and jobs < MOST_JOBS:
        seed = str(int(drawn_seed()) + jobs)
        scissors = Scissors(three_sites, int(seed))
        scissors.start()
        try:
            words = ("--engine", engine, "--blocking", "never")
            code, output = run(three_sites, [*program, seed], *words, seconds=LIMIT_CUT)
        except subprocess.TimeoutExpired as late:
            said = f"{late.stdout}\n{late.stderr}"
            raise AssertionError(f"--seed {seed} has not ended in {LIMIT_CUT:.0f} s\n{said[-3000:]}") from None
        finally:
            scissors.end()
        assert code == 0 and " 0 wrong" in output, f"--seed {seed}\n{output[-3000:]}"
        hit, cuts, jobs = messages_hit(output), cuts + scissors.cuts, jobs + 1
    record_property("messages_that_lost_a_connection", hit)
    assert hit > 0, f"of {cuts} cuts in {jobs} jobs none was while an operation was under way"
    print(f"{engine}: {CASES_CUT} operations, {cuts} cuts, {hit} messages of operations lost a connection")


def test_blocking_collectives_are_the_non_blocking_ones(two_sites: Hosts, folder: Path) -> None:
    """Two ranks a node, over two site leaders a site."""
    program = [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", CASES]
    code, output = run(two_sites, program, "--engine", "poll", "--lanes", "2", per_host=2)
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert "2 sites" in output, output[:3000]


@pytest.mark.parametrize("engine", ("poll", "thread"))
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_blocking_collectives_between_sites_are_those_of_the_library(
    three_sites: Hosts, folder: Path, name: str, engine: str
) -> None:
    """Every operation, root and kind of type, in place and with no elements. With MPICH without messages beside them:
    MPICH 5.0.2 itself hangs in these between hosts, over its UCX's TCP."""
    program = [str(compiled(named(name), "random_nbc", folder)), "--blocking", "--cases", CASES, "--seed", drawn_seed()]
    program += ["--no-messages"] if name == "mpich" else []
    code, output = run(three_sites, program, "--engine", engine, name=name)
    assert code == 0 and " 0 wrong" in output, f"{program[1:]}\n{output[-3000:]}"
    assert "3 sites (0: 2 nodes, 1: 1 node, 2: 2 nodes)" in output, output[:3000]


@pytest.mark.parametrize(
    ("operation", "lanes"), [("scatter", "2"), ("gather", "2"), ("alltoall", "0"), ("reduce", "1")]
)
def test_blocking_collectives_are_right(two_sites: Hosts, operation: str, lanes: str) -> None:
    """bench/sites checks what it gets."""
    program = [str(paths.program("bench/openmpi/sites")), operation, "600000", "2", "2"]
    code, output = run(two_sites, program, "--engine", "poll", "--lanes", lanes)
    assert code == 0, output[-3000:]
    assert json.loads(next(line for line in output.splitlines() if line.startswith("{")))["ranks"] == 4


def test_sites_that_are_given(two_sites: Hosts, tmp_path: Path) -> None:
    """Also such as are none."""
    program = [str(paths.program("bench/openmpi/sites")), "allreduce", "4000", "2", "1"]
    listed = tmp_path / "sites.txt"
    listed.write_text("# each its own\nhere: host0 host2\nthere: host1\n\nfar: host3\n")
    code, output = run(two_sites, program, "--engine", "poll", "--sites", str(listed))
    assert code == 0 and "3 sites (here: 2 nodes, there: 1 node, far: 1 node): given by SITES" in output, output
    code, output = run(two_sites, program, "--engine", "poll", "--sites", "one")
    assert code == 0 and "sites (" not in output, output


@pytest.mark.parametrize(
    ("engine", "what", "cut"),
    [
        ("poll", "sites", "1-2"),
        ("thread", "sites", "1-2"),
        ("poll", "all", "1-2"),
        ("poll", "sites-fatal", "1-2"),
        ("thread", "all", "host1-host3"),
    ],
)
def test_silence_of_all_lanes_of_a_pair_is_an_error_everywhere(
    folder: Path, tmp_path: Path, engine: str, what: str, cut: str
) -> None:
    """Host 0 has no part in what is cut, nor has the launcher. After the option's time, and not after the usual one,
    every rank gets an error, or MPI ends the job."""
    program = [str(compiled(named("openmpi"), "lost_link", folder)), str(tmp_path), what]
    options = ("--engine", engine, "--connections", "2", "--set", "PEER_TIMEOUT=3")
    with Hosts(sites=Sites([1, 1, 2], LinkSettings(delay_us=2000))) as own, ThreadPoolExecutor(1) as pool:
        job = pool.submit(run, own, program, *options)
        wait_until_it_works(job, tmp_path, 4)
        long_links.command_all(own._folder, cut, "cut", one_way=False)
        code, output = job.result()
    assert re.search(r"lost (all connections|the connection) to rank \d: .* 3 s", output), output[-3000:]
    if what == "sites-fatal":
        assert code != 0 and "MPI_ERRORS_ARE_FATAL" in output, output[-3000:]
        return
    assert len(list(tmp_path.glob("failed.*"))) == 4, output[-3000:]


def test_a_lane_that_stalls_gives_its_pieces_to_the_others(two_sites: Hosts) -> None:
    """One connection of those that carry a scatter is held, without a word to either end, as soon as it has carried
    something, and stays so."""
    program = [str(paths.program("bench/openmpi/sites")), "scatter", "33554432", "2", "1"]

    def busy() -> list[str]:
        flows = two_sites.control(0, 1, "stats")["directions"][0]["flows"]
        return [f"{flow['from']} {flow['to']}" for flow in flows if flow["delivered_bytes"] > 1 << 20]

    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(run, two_sites, program, "--engine", "poll", "--connections", "4")
        until(lambda: busy() or job.done(), "no connection carries anything", 60)
        flow = busy()[0]
        two_sites.control(0, 1, f"cut 0 {flow}")
        try:
            code, output = job.result()
        finally:
            two_sites.control(0, 1, f"restore 0 {flow}")
    assert code == 0, output[-3000:]


@pytest.mark.parametrize("engine", ("poll", "thread"))
def test_who_has_all_answers_until_the_others_know(folder: Path, tmp_path: Path, engine: str) -> None:
    """What rank 1 acknowledges is lost with its lanes while it goes on to MPI_Finalize: rank 0 sends again."""
    program = [str(compiled(named("openmpi"), "finalize_before_acknowledgement", folder)), str(tmp_path)]
    options = ("--engine", engine, "--connections", "2", "--wire-messages", "0", "--set", "PEER_TIMEOUT=10")
    with Hosts(sites=Sites([1, 1], LinkSettings(delay_us=2000))) as own, ThreadPoolExecutor(1) as pool:
        job = pool.submit(run, own, program, *options)
        wait_until_it_works(job, tmp_path, 2)
        for flow in own.control(0, 1, "stats")["directions"][0]["flows"]:
            if flow["delivered_bytes"] > 1 << 20:
                own.control(0, 1, f"cut 1 {flow['to']} {flow['from']}")
        (tmp_path / "cut.0").touch()
        code, output = job.result()
    assert code == 0 and "rank 1 has 17" in output, output[-3000:]
    assert messages_hit(output) > 0 and "lost all connections" not in output, output[-3000:]


def test_a_link_that_comes_up_one_way_only_is_left_to_the_library(folder: Path) -> None:
    """Nobody gets into the second site."""
    program = [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", "40", "--seed", drawn_seed()]
    with Hosts(sites=Sites([2, 1], LinkSettings(delay_us=2000))) as own:
        refuse_connections(own, 2)
        code, output = run(own, program, "--engine", "poll")
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    said = (
        "the link between the sites 1 and 0 comes up one way only: TCP connections from the node of rank 2 to that of"
    )
    assert output.count(said) == 1, output[:3000]
    assert "sites (" not in output, output[:3000]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            "a: host0 host1\nb: host2 host3 host9",
            "line 2: no host of the job is called host9; its hosts are",
        ),
        ("a: host0\nb: host[1-2]", "line 2: host host3 of the job is at none of the sites"),
        ("a: host*\nb: host3", "line 2: host host3 is also at site a"),
        ("a: host*\nb", "line 2: no colon"),
    ],
)
def test_a_list_of_sites_that_is_wrong(two_sites: Hosts, tmp_path: Path, text: str, told: str) -> None:
    listed = tmp_path / "sites.txt"
    listed.write_text(text)
    program = [str(paths.program("bench/openmpi/sites")), "allreduce", "4000", "1", "1"]
    code, output = run(two_sites, program, "--sites", str(listed))
    assert code != 0 and f"{listed}, {told}" in output, output
    assert '"operation"' not in output
