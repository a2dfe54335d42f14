# SPDX-License-Identifier: BSD-3-Clause
"""urakata bench sites, from its hosts to its figures, and what bench/sites says of a leader that computes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jobs import named, run_job
from typer.testing import CliRunner

from urakata import paths
from urakata.cli import build_app
from urakata.hosts import available

SITES = str(paths.program("bench/openmpi/sites"))


@pytest.mark.skipif(not available(sites=True)[0], reason=f"no sites here: {available(sites=True)[1]}")
def test_a_small_study_from_hosts_to_figures(tmp_path: Path) -> None:
    """Two sites of two hosts, scatter of 8 KiB: every method in one round."""
    named("openmpi")
    words = ["--operations", "scatter", "--sites", "2x2", "--delay", "1ms", "--sizes", "8K", "--sockets", "2"]
    words += ["--lanes", "1,2", "--streams", "2", "--compute", "20ms", "-o", str(tmp_path)]
    said = CliRunner().invoke(build_app(), ["bench", "sites", "--quick", *words])
    assert said.exit_code == 0, said.output
    document = json.loads((tmp_path / "sites.json").read_text())
    rows = {row["method"]: row for row in document["rows"]}
    forced = ["straight S=2", "lanes 1 S=2", "lanes 2 S=2"]
    assert list(rows) == ["host", "links", "sockets 2", "urakata", *forced], document["failed"]
    for row in rows.values():
        assert (row["bed"], row["bytes"], len(row["us"])) == ("2x2, 1ms one way", 8192, 1)
        assert row["us"][0] >= 1000, row  # the delay
    assert [rows[name]["chosen"] for name in forced] == ["straight", "lanes 1", "lanes 2"]
    assert rows["urakata"]["predicted_us"] >= 1000
    assert [(row["operation"], row["method"]) for row in document["relayed"]] == [
        ("scatter", "poll"),
        ("bcast", "poll"),
        ("scatter", "thread"),
        ("bcast", "thread"),
    ]
    for row in document["relayed"]:
        assert min(row["us"][0], row["idle_us"][0]) >= 1000 and row["compute_us"][0] > 0, row
    bed = "2x2-1ms-one-way.svg"
    figures = {f"scatter-{bed}", f"leader-scatter-{bed}", f"leader-bcast-{bed}"}
    assert {path.name for path in tmp_path.iterdir()} == {"sites.json", "sites.csv", "leader.csv", *figures}


@pytest.mark.parametrize(
    ("environment", "words"),
    [
        ({"SITES_SOCKETS": "513"}, "SITES_SOCKETS=513 is not a number of 1 to 512"),
        ({"SITES_SOCKETS": "many"}, "SITES_SOCKETS=many is not"),
        ({"SITES_COMPUTE": "2:100"}, "SITES_COMPUTE=2:100 is not RANK:MS with a rank of 1..1"),
        ({"SITES_COMPUTE": "1"}, "is not RANK:MS"),
        ({"SITES_COMPUTE": "1:5"}, "only scatter and bcast go on while a rank computes, not gather"),
    ],
)
def test_bad_values_are_told(environment: dict[str, str], words: str) -> None:
    outcome = run_job(named("openmpi"), 2, [SITES, "gather", "64", "1", "1"], environment=environment)
    assert outcome.code not in (0, None) and words in outcome.output, outcome.output


def test_a_computing_rank_is_timed_apart_from_the_others() -> None:
    """Without Urakata and without sites: three ranks, of which the last computes for about 5 ms."""
    command = [SITES, "scatter", "3000", "2", "1"]
    outcome = run_job(named("openmpi"), 3, command, environment={"SITES_COMPUTE": "2:5"})
    assert outcome.code == 0, outcome.output
    record = json.loads(next(line for line in outcome.output.splitlines() if line.startswith("{")))
    assert record["ranks"] == 3 and len(record["samples_us"]) == 2
    assert record["us"] > 0 and record["idle_us"] > 0 and record["compute_us"] > 0
    assert "lost_us" in record
