# SPDX-License-Identifier: BSD-3-Clause
"""The study of collectives across long links: results on worked examples, commands, and what is shown."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from urakata import paths
from urakata.cli import build_app
from urakata.commands.bench import sites
from urakata.hosts import LinkSettings
from urakata.sites_study import paper
from urakata.sites_study.beds import Bed, paper_beds
from urakata.sites_study.methods import MOST_SOCKETS, leaders, methods, numbers_of_sockets, streams_that_fill
from urakata.sites_study.results import Results, from_json, predicted_us
from urakata.sites_study.session import Amounts, rank_command
from urakata.sites_study.tables import all_tables

BED = "8ms one way"


def record(us: float) -> dict[str, Any]:
    return {"operation": "scatter", "bytes": 1 << 20, "remote_bytes": 1 << 19, "ranks": 8, "us": us}


def call_site(why: str, algorithm: str) -> dict[str, Any]:
    return {"operation": "Scatter", "bytes": 1 << 17, "algorithm": algorithm, "why": why}


@pytest.fixture
def measured() -> Results:
    """Two rounds of 1 MiB: the MPI library takes 90 and 110 ms, Urakata's choice 50 and 60 ms, two lanes 40 and 60
    ms."""
    results = Results()
    chosen = call_site("predicted: straight of 5 connections 44 ms, 1 lane of 5 connections 90 ms", "straight")
    forced = call_site("asked for; predicted: 2 lanes of 1 connection 60 ms, 3 lanes of 1 connection 50 ms", "lanes 2")
    for host, ours, lanes in ((90e3, 50e3, 40e3), (110e3, 60e3, 60e3)):
        results.take(BED, "host", 4, record(host), {})
        told = {"call_sites": [call_site("", "of another size") | {"bytes": 8}, chosen]}
        results.take(BED, "urakata", 4, record(ours), told)
        results.take(BED, "lanes 2", 4, record(lanes), {"call_sites": [forced]})
    return results


@pytest.fixture
def relayed(measured: Results) -> Results:
    """The same, and 1 MiB while a leader computes: by engine poll the others wait, by engine thread it loses time."""
    for engine, us, lost in (("poll", 240e3, -30.0), ("thread", 52e3, 1500.0)):
        for factor in (0.9, 1.0, 1.1):
            times = {"us": us * factor, "idle_us": 50e3, "compute_us": 200e3, "lost_us": lost * factor}
            measured.take_relayed(BED, engine, record(0) | times)
    return measured


def test_medians_stand_beside_what_was_predicted(measured: Results) -> None:
    table, model = all_tables(measured)
    assert table.columns == ["in all", "host", "urakata", "lanes 2", "chosen", "predicted", "/ best forced"]
    assert table.rows == [["1 MiB", "100 ms", "55 ms", "50 ms", "straight, S=5", "44 ms", "1.10"]]
    assert model.rows == [["scatter, 8ms one way", "20 %", "20 %"]]  # |44 - 55| / 55 and |60 - 50| / 50


@pytest.mark.parametrize(
    ("why", "us"),
    [
        ("predicted: 1 lane of 4 connections 4.45 ms, 2 lanes of 4 connections 4.65 ms", 4450.0),
        ("asked for; predicted: 4 lanes of 1 connection 1.2e+03 ms", 1.2e6),
        ("predicted: 1 lane 4.45 ms, 2 lanes 4.65 ms", 4450.0),  # of earlier runs
        ("between sites, whose links were not measured", None),
    ],
)
def test_predictions_are_read_from_the_report(why: str, us: float | None) -> None:
    assert predicted_us(why) == us


def test_straight_is_one_of_the_forced(measured: Results) -> None:
    told = {"call_sites": [call_site("between sites, whose links", "straight")]}
    measured.take(BED, "straight S=4", 4, record(44e3), told)
    assert all_tables(measured)[0].rows[0][-1] == "1.25"  # 55 over 44


LINK = {"delay_ms": 8.0, "stream_mbit": 24.0, "pair_mbit": 96.0, "link_mbit": 384.0, "inside_mbit": 800.0}


def test_the_papers_model_by_hand() -> None:
    """1 MB for each of 4 + 4: over four lanes one crosses on each and six are handed out, over one four and three."""
    assert paper.seconds(LINK, (4, 4), 4, 4, 1e6) == pytest.approx(0.008 + 1 / 12 + 6 / 100 + 200e-6)
    assert paper.seconds(LINK, (4, 4), 1, 4, 1e6) == pytest.approx(0.008 + 4 / 12 + 3 / 100 + 200e-6)
    assert paper.seconds(LINK, (4, 4), 3, 4, 1e6) == pytest.approx(0.008 + 2 / 12 + 5 / 100 + 200e-6)
    assert paper.seconds(LINK, (4, 4), 4, 2, 1e6) == pytest.approx(0.008 + 1 / 6 + 6 / 100 + 200e-6)
    unknown = LINK | {"inside_mbit": 0}
    assert paper.seconds(unknown, (1, 2), 2, 4, 1e6) == pytest.approx(0.008 + 1 / 12 + 1 / 125 + 200e-6)


def test_the_papers_model_stands_beside_ours(measured: Results) -> None:
    why = "asked for; predicted: 2 lanes of 4 connections 60 ms, 3 lanes of 3 connections 50 ms"
    report = {"call_sites": [call_site(why, "lanes 2")], "sites": {"links": [LINK]}}
    measured.take(BED, "lanes 2", 4, record(50e3), report)
    (table,) = (one for one in all_tables(measured) if one.title == "Beside the paper's model")
    # 128 KiB for each: two cross on each lane, five are handed out.
    block = (1 << 17) / 1e6
    us = (0.008 + 2 * block / 12 + 5 * block / 100 + 200e-6) * 1e6
    assert measured.rows[next(key for key in measured.rows if key.method == "lanes 2")].paper_us == pytest.approx(us)
    (row,) = table.rows
    assert row[2:] == ["lanes 2, S=4", "50 ms", "60 ms", "36.6 ms", "+20 %", "-27 %"]
    for operation, links in (("bcast", [LINK]), ("scatter", [LINK, LINK]), ("scatter", [])):
        assert paper.predicted_us(record(0) | {"operation": operation}, 4, "lanes 2, S=4", links) is None
    assert paper.predicted_us(record(0), 4, "straight, S=4", [LINK]) is None


def test_what_a_leader_loses_stands_beside_what_the_others_wait(relayed: Results) -> None:
    table = all_tables(relayed)[-1]
    assert table.columns == ["", "in all", "engine", "it waits", "it computes", "its work", "lost by it"]
    assert [row[2:] for row in table.rows] == [
        ["poll", "50 ms", "240 ms", "200 ms", "-30 µs"],
        ["thread", "50 ms", "52 ms", "200 ms", "1.5 ms"],
    ]


def test_results_are_read_as_they_were_written(relayed: Results) -> None:
    written = json.loads(json.dumps(relayed.as_json()))
    assert from_json(written) == relayed
    del written["relayed"]  # as earlier runs have it
    assert from_json(written).rows == relayed.rows


def command(operation: str, method: Any) -> list[str]:
    return rank_command(operation, method, Path("/bench/sites"), Amounts([64, 1024], 5), 3, "/r")


def test_every_method_has_its_command() -> None:
    ways = {way.name: way for way in methods([4, 16], [1, 2], [], 5)}
    assert list(ways) == ["host", "links", "sockets 4", "sockets 16", "urakata", "straight S=5", "lanes 1", "lanes 2"]
    assert ways["sockets 4"].performs("gather") and not ways["sockets 4"].performs("bcast")
    assert ways["straight S=5"].performs("scatter") and not ways["straight S=5"].performs("allreduce")
    assert ways["links"].performs("bcast") and ways["links"].family == "openmpi"
    own = ["/bench/sites", "bcast", "64,1024", "5", "3"]
    assert command("bcast", ways["host"]) == own
    words = command("bcast", ways["lanes 2"])
    assert words[words.index("--lanes") + 1] == "2" and "--connections" not in words and words[-5:] == own
    words = command("scatter", ways["straight S=5"])
    assert words[words.index("--connections") + 1] == "5" and "--lanes" not in words


def test_lanes_are_forced_with_each_number_of_connections() -> None:
    names = [way.name for way in methods([4], [1, 2], [1, 8], 5) if way.name.startswith(("lanes", "straight"))]
    assert names == ["straight S=1", "straight S=8", "lanes 1 S=1", "lanes 1 S=8", "lanes 2 S=1", "lanes 2 S=8"]
    words = command("gather", {way.name: way for way in methods([4], [2], [8], 5)}["lanes 2 S=8"])
    assert words[words.index("--lanes") + 1] == "2" and words[words.index("--connections") + 1] == "8"


def test_a_leader_computes_by_each_engine() -> None:
    assert [way.environment["SITES_COMPUTE"] for way in leaders(200.0)] == ["1:200", "1:200"]
    for way in leaders(0.5):
        words = command("bcast", way)
        assert words[words.index("--engine") + 1] == way.name and words[words.index("--lanes") + 1] == "2"


def test_numbers_that_are_not_given_come_from_the_sites() -> None:
    """25 Mb/s a connection of 400: 16 connections fill the link, 4 with each of 4 ranks."""
    link = LinkSettings(rate=400_000_000, flow_rate=25_000_000)
    assert streams_that_fill(link, 4) == 4 and streams_that_fill(link, 3) == 6 and streams_that_fill(link, 100) == 1
    assert streams_that_fill(LinkSettings(rate=10**9), 2) == 4
    assert numbers_of_sockets([4, 4]) == [4, 16, 64]  # Urakata has 16 connections with each of 4 at the most
    assert numbers_of_sockets([4, 2, 3]) == [4, 16, 64, 80]
    assert numbers_of_sockets([50, 50]) == [4, 16, 64, 256, MOST_SOCKETS]


def test_the_program_opens_as_many_sockets_as_the_study_asks_for() -> None:
    tree = paths.source_tree()
    if tree is None:
        pytest.skip("this is no source tree")
    header = (tree / "bench" / "sites" / "sockets.h").read_text()
    assert re.findall(r"MAX_SOCKETS = (\d+)", header) == [str(MOST_SOCKETS)]


def test_lanes_go_up_to_the_largest_site() -> None:
    none = sites.Forced([], [], [])
    leg = sites._leg(Bed("2+5+3", "8ms", "0"), "400mbit", "25mbit", none, 200.0)
    assert [way.name for way in leg.methods if way.name.startswith("lanes")] == [f"lanes {p}" for p in range(1, 6)]
    assert [way.name for way in leg.leaders] == ["poll", "thread"]
    of_operations = [(operation, len(ways)) for operation, ways in leg.jobs(["scatter", "bcast"])]
    assert of_operations == [("scatter", 13), ("bcast", 8)]  # sockets, of which there are 4, and straight cannot
    assert leg.count(["scatter", "bcast"]) == 13 + 8 + 2 * 2
    for other in (Bed("1+3", "8ms", "0"), Bed("2x4", "8ms", "0.1%")):  # no site leader but the root; losses
        assert not sites._leg(other, "400mbit", "25mbit", none, 200.0).leaders
    assert not sites._leg(Bed("2x4", "8ms", "0"), "400mbit", "25mbit", none, 0.0).leaders


def test_the_papers_figures_are_over_all_delays_losses_and_sites() -> None:
    beds = paper_beds()
    two = [bed for bed in beds if bed.layout == "2x4"]
    assert {(bed.delay, bed.loss) for bed in two} == {
        (delay, loss) for delay in ("1ms", "8ms", "20ms", "50ms") for loss in ("0", "0.1%", "1%")
    }
    assert [bed.name for bed in beds if bed not in two] == ["3x3, 8ms one way", "4x2, 8ms one way"]
    assert len({bed.name for bed in beds}) == len(beds) and two[1].name == "2x4, 1ms one way, 0.1% lost"


def test_an_earlier_run_is_shown_again(relayed: Results, tmp_path: Path) -> None:
    document = {
        "format": "urakata-sites-1",
        "machine": {"cpu": "a processor"},
        "settings": {"sites": "2x4", "link_rate": "400mbit", "flow_rate": "25mbit"},
        "warnings": ["the machine is busy"],
        "failed": [{"what": "scatter, 8ms one way, Urakata", "reason": "it hangs"}],
        **relayed.as_json(),
    }
    file = tmp_path / "sites.json"
    file.write_text(json.dumps(document))
    said = CliRunner().invoke(build_app(), ["bench", "sites", "--from", str(file), "-o", str(tmp_path / "shown")])
    assert said.exit_code == 0, said.output
    assert "the machine is busy" in said.output and "it hangs" in said.output
    written = {path.name for path in (tmp_path / "shown").iterdir()}
    assert written == {
        "sites.csv",
        "leader.csv",
        "scatter-8ms-one-way.svg",
        "leader-scatter-8ms-one-way.svg",
    }
    rows = (tmp_path / "shown" / "leader.csv").read_text().splitlines()
    assert rows[0] == "link,operation,bytes,engine,round,us,idle_us,compute_us,lost_us"
    assert rows[1] == "8ms one way,scatter,1048576,poll,1,216000.0,50000.0,200000.0,-27.0"


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--operations", "scan"], "valid are scatter, gather"),
        (["--sites", "1x4"], "no link is long"),
        (["--sites", "2x"], "are not written as"),
        (["--loss", "2"], "below 1"),
        (["--delay", "soon"], "delay"),
        (["--sizes", "x"], "is no size"),
        (["--sites", "2x4,1x4"], "'1x4' is one site"),
        (["--sockets", "600"], "--sockets 600: at most 512 are possible"),
        (["--streams", "65"], "--streams 65: at most 64 are possible"),
        (["--lanes", "5"], "--lanes 5: at most 4 are possible, as many as the largest site of 2x4 has hosts"),
        (["--compute", "long"], "delay"),
        (["--paper", "--loss", "1%"], "says which links and sizes"),
    ],
)
def test_bad_values_are_refused(words: list[str], why: str) -> None:
    said = CliRunner().invoke(build_app(), ["bench", "sites", *words], env={"COLUMNS": "200"})
    assert said.exit_code == 2 and why in said.output.replace("\n", " "), said.output
