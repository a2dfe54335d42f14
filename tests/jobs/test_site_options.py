# SPDX-License-Identifier: BSD-3-Clause
"""Option CONGESTION in jobs between sites, and what `urakata check` says of nodes at two sites."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import compiled, named

from urakata import launcher, paths
from urakata.hosts import Hosts, LinkSettings, Sites, available, launch

pytestmark = pytest.mark.skipif(not available(sites=True)[0], reason=f"no sites here: {available(sites=True)[1]}")

LIMIT = 120.0
PACKAGES = Path(__file__).resolve().parents[2] / "python"
LINK = """
[[link]]
one = ["host0"]
other = ["host1"]
delay_ms = 3.0
stream_mbit = 20.0
pair_mbit = 20.0
link_mbit = 20.0
"""


@pytest.fixture(scope="module")
def two_sites() -> Iterator[Hosts]:
    with Hosts(sites=Sites([1, 1], LinkSettings(delay_us=3000, rate=100_000_000))) as made:
        yield made


def run(hosts: Hosts, program: Path, *options: str) -> str:
    """All that a job says in which rank 0 tells of its connections to the other site."""
    mpi = named("openmpi")
    # CONNECTIONS: nothing need be measured in MPI_Init.
    line = [str(paths.program("urakata-exec")), "--engine", "poll", "--connections", "3", *options, "--", str(program)]
    done = hosts.run(line, ranks_per_host=1, mpi_name=mpi.launcher, env=mpi.environment, timeout=LIMIT)
    assert done.returncode == 0, done.stderr
    return str(done.stdout + done.stderr)


def counts(said: str) -> dict[str, int]:
    """Connections by congestion control."""
    return {name: int(count) for count, name in re.findall(r"far connections: (\d+) (\S+)", said)}


def test_connections_between_sites_have_the_congestion_control_of_the_option(two_sites: Hosts, folder: Path) -> None:
    program = compiled(named("openmpi"), "congestion_control", folder)
    (usual,) = counts(run(two_sites, program))
    kernel = Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split()
    others = [one for one in ("reno", *kernel) if one != usual]
    if not others:
        pytest.skip(f"this kernel has {usual} only")
    assert others[0] in counts(run(two_sites, program, "--congestion", others[0]))


def test_a_congestion_control_that_is_not_there_is_told_once(two_sites: Hosts, folder: Path) -> None:
    program = compiled(named("openmpi"), "congestion_control", folder)
    said = run(two_sites, program, "--congestion", "snail")
    assert "snail" not in counts(said) and counts(said)
    told = re.findall(r"CONGESTION=snail: .*; connections between sites have the system's congestion control", said)
    assert 1 <= len(told) <= 2, said  # each rank that sends to the other site


@pytest.mark.parametrize("known", (False, True))
def test_check_shows_sites_and_what_their_link_carries(two_sites: Hosts, tmp_path: Path, known: bool) -> None:
    """As its user would on the first host; what a file says is not measured."""
    pytest.importorskip("rich")
    mpi = named("mpich")
    found = launcher.find_mpi(mpi.launcher)
    job = launch.Job([], two_sites.names, 1, f"{two_sites._folder}/agent")
    environment = launch.launcher_environment(found, job) | {
        "PYTHONPATH": str(PACKAGES),
        "XDG_CONFIG_HOME": str(tmp_path),
    }
    file = tmp_path / "urakata" / "links.toml"
    if known:
        file.parent.mkdir()
        file.write_text(LINK)
    # The launcher's own words, without its name and the number of ranks.
    words = [f"--launcher-argument={word}" for word in launch.command_line(found, job)[3:]]
    line = [sys.executable, "-m", "urakata", "check", "-n", "2", "--mpi", mpi.launcher, *words]
    done: subprocess.CompletedProcess[str] = two_sites.execute(
        0, [*line, *([] if known else ["--json"])], env=environment, timeout=LIMIT
    )
    assert done.returncode in (0, 1), done.stderr  # 1: not every engine is usable here
    if known:
        assert "2 sites (0: 1 node, 1: 1 node)" in done.stdout, done.stdout
        idle = two_sites.execute(0, ["cat", "/proc/sys/net/ipv4/tcp_slow_start_after_idle"]).stdout
        assert ("begin slowly after each pause" in done.stdout) == (idle.strip() != "0"), done.stdout
        assert re.search(
            rf"0 - 1: round trip 6\.\d ms; 20\.0 Mb/s by one connection.*\({re.escape(str(file))}\)", done.stdout
        )
        return
    sites = json.loads(done.stdout)["sites"]
    assert "2 sites (0: 1 node, 1: 1 node)" in sites["found"], sites
    (link,) = sites["links"]
    assert link["source"] == "measured in MPI_Init" and link["delay_ms"] >= 3
    assert link["stream_mbit"] > 0
