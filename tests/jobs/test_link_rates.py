# SPDX-License-Identifier: BSD-3-Clause
"""What jobs know of the links between their sites: kept in a file, and measured anew where that is wrong."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jobs import named

from urakata import launcher, paths, site_links
from urakata.hosts import Hosts, LinkSettings, Sites, available

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

pytestmark = pytest.mark.skipif(not available(sites=True)[0], reason=f"no sites here: {available(sites=True)[1]}")

SITES = str(paths.program("bench/openmpi/sites"))
LIMIT = 120.0


@pytest.fixture(scope="module")
def two_sites() -> Iterator[Hosts]:
    with Hosts(sites=Sites([2, 2], LinkSettings(delay_us=3000, rate=200_000_000, flow_rate=50_000_000))) as made:
        yield made


def run(hosts: Hosts, command: list[str]) -> subprocess.CompletedProcess[str]:
    mpi = named("openmpi")
    done: subprocess.CompletedProcess[str] = hosts.run(
        command, ranks_per_host=1, mpi_name=mpi.launcher, env=mpi.environment, timeout=LIMIT
    )
    return done


def job(hosts: Hosts, rates: Path | str, operation: str = "allreduce", size: str = "4000") -> str:
    """All that a job says that knows what the file says."""
    options = ["--engine", "poll", "--verbose", "2", "--link-rates", str(rates)]
    line = [str(paths.program("urakata-exec")), *options, "--", SITES, operation, size, "3", "2"]
    done = run(hosts, line)
    assert done.returncode == 0, done.stderr
    return done.stdout + done.stderr


def links(file: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(file.read_text())["link"]
    return found


@pytest.fixture(scope="module")
def measured(two_sites: Hosts, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file that a job has filled, as `urakata check --links` has one do it."""
    folder = tmp_path_factory.mktemp("rates")
    libraries = launcher.libraries(launcher.find_mpi(named("openmpi").launcher))
    found = site_links.ask(lambda command: run(two_sites, command), libraries, folder)
    assert found.sites is not None
    (link,) = found.sites["links"]
    assert link["source"] == "measured in MPI_Init"
    assert site_links.described(link).startswith("0 - 1: round trip 6.")
    file = folder / "links.toml"
    file.write_text(site_links.merged("", found.entries))
    return file


def test_what_was_measured_is_kept(measured: Path) -> None:
    (link,) = links(measured)
    assert (link["one"], link["other"]) == (["host0", "host1"], ["host2", "host3"])
    assert link["delay_ms"] >= 3
    assert 0 < link["stream_mbit"] <= link["pair_mbit"] <= link["link_mbit"]
    assert link["inside_mbit"] > 0


def test_what_is_known_is_not_measured(two_sites: Hosts, measured: Path) -> None:
    before = measured.read_text()
    said = job(two_sites, measured)
    assert len(re.findall(re.escape(f"({measured})"), said)) == 4
    assert "(measured)" not in said
    assert measured.read_text() == before


def test_a_file_lacks_what_other_hosts_have(two_sites: Hosts, measured: Path, tmp_path: Path) -> None:
    file = tmp_path / "links.toml"
    file.write_text(measured.read_text().replace("host", "node"))
    assert "(measured)" in job(two_sites, file)
    assert [link["one"][0] for link in links(file)] == ["node0", "host0"]


def test_another_round_trip_is_measured_anew(two_sites: Hosts, measured: Path, tmp_path: Path) -> None:
    file = tmp_path / "links.toml"
    file.write_text(re.sub("delay_ms = .*", "delay_ms = 30", measured.read_text()))
    said = job(two_sites, file)
    assert len(re.findall(r"between the sites 0 and 1 is 6\.\d ms, and not 60\.0 as", said)) == 1, said
    assert [link["delay_ms"] >= 30 for link in links(file)] == [True, False]
    assert "(measured)" not in job(two_sites, file)


def test_rates_that_do_not_hold_are_measured_by_the_next_job(two_sites: Hosts, measured: Path, tmp_path: Path) -> None:
    """A file that says ten times as much as the link carries."""
    file = tmp_path / "links.toml"
    ten_times = re.sub(
        r"((?:stream|pair|link)_mbit) = (\S+)", lambda key: f"{key[1]} = {10 * float(key[2])}", measured.read_text()
    )
    file.write_text(ten_times)
    high = links(file)[0]["link_mbit"]
    said = job(two_sites, file, "scatter", "32000000")
    assert len(re.findall("from site 0 to site 1 carried .* the next job measures it anew", said)) == 1, said
    assert [link.get("outdated", False) for link in links(file)] == [False, True]
    assert "(measured)" in job(two_sites, file)
    assert links(file)[2]["link_mbit"] < high
    # What was measured now holds, unless the machine was too busy in one of the two jobs: then the next measures again.
    for _ in range(5):
        if "measures it anew" not in (said := job(two_sites, file, "scatter", "32000000")):
            break
        assert "(measured)" in job(two_sites, file)
    else:
        pytest.fail(f"no job found what the job before it had measured: {said}")


def test_check_and_report_show_the_links(
    two_sites: Hosts, measured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("rich")
    from urakata.report.text import render_text

    report = tmp_path / "report"
    options = ["--engine", "poll", "--link-rates", str(measured), "--report", str(report)]
    done = run(two_sites, [str(paths.program("urakata-exec")), *options, "--", SITES, "bcast", "100000", "1", "2"])
    assert done.returncode == 0, done.stderr
    render_text(report)
    shown = " ".join(capsys.readouterr().out.split())
    assert "2 sites (0: 2 nodes, 1: 2 nodes)" in shown
    assert "0 - 1: round trip 6." in shown and f"({measured})".replace(" ", "") in shown.replace(" ", "")


def test_a_file_that_rank_0_lacks_ends_the_job(two_sites: Hosts, tmp_path: Path) -> None:
    """The others are in MPI_Init by then, or not started yet."""
    missing = tmp_path / "nowhere.toml"
    line = [str(paths.program("urakata-exec")), "--link-rates", str(missing), "--", SITES, "bcast", "8", "1", "2"]
    done = run(two_sites, line)
    assert done.returncode == 2 and f"LINK_RATES: {missing}: No such file" in done.stderr, done.stderr
