"""Collectives between sites: jobs over two and three sites, whose results are those of the host."""

from __future__ import annotations

import json
import random
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import FULL, compiled, named

from urakata import paths
from urakata.hosts import Hosts, LinkSettings, Sites, available

pytestmark = pytest.mark.skipif(not available(sites=True)[0], reason=f"no sites here: {available(sites=True)[1]}")

EXEC = str(paths.program("urakata-exec"))
CASES, LIMIT = ("2500", 900.0) if FULL else ("60", 120.0)
CASES_CUT = "600" if FULL else "20"


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


def run(hosts: Hosts, program: list[str], *options: str, per_host: int = 1) -> tuple[int, str]:
    host = named("openmpi")
    done = hosts.run(
        [EXEC, "--verbose", "2", *options, "--", *program],
        ranks_per_host=per_host,
        host_mpi=host.launcher,
        env=host.environment,
        timeout=LIMIT,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("engine", ("poll", "thread"))
def test_collectives_between_sites_are_those_of_the_host(three_sites: Hosts, folder: Path, engine: str) -> None:
    """Non-blocking and persistent ones, against the host's blocking ones."""
    program = [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", CASES]
    code, output = run(three_sites, program, "--engine", engine, "--blocking", "never")
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert "3 sites (0: 2 nodes, 1: 1 node, 2: 2 nodes)" in output, output[:3000]


class Scissors(threading.Thread):
    """Cuts single connections of a job between three sites, one way or both, and restores them, at random: longer than
    a lane may be silent, and much shorter than a node may."""

    def __init__(self, hosts: Hosts, seed: int) -> None:
        super().__init__(daemon=True)
        self.cuts = 0
        self.failure: Exception | None = None
        self._hosts, self._random = hosts, random.Random(seed)
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
            flows = self._hosts.control(*link, "stats")["directions"][direction]["flows"]
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

    def end(self) -> None:
        self._end.set()
        self.join()
        assert self.failure is None, self.failure


@pytest.mark.parametrize("engine", ("poll", "thread"))
def test_lanes_that_are_cut_and_restored_at_random(three_sites: Hosts, folder: Path, engine: str) -> None:
    seed = random.randrange(1 << 30)
    print(f"SEED={seed}")
    program = [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", CASES_CUT, "--seed", str(seed)]
    scissors = Scissors(three_sites, seed)
    scissors.start()
    try:
        code, output = run(three_sites, program, "--engine", engine, "--blocking", "never")
    finally:
        scissors.end()
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert scissors.cuts > 0


def test_blocking_collectives_are_the_non_blocking_ones(two_sites: Hosts, folder: Path) -> None:
    """Two ranks a node, over two delegates a site."""
    program = [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", CASES]
    code, output = run(two_sites, program, "--engine", "poll", "--lanes", "2", per_host=2)
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert "2 sites" in output, output[:3000]


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
