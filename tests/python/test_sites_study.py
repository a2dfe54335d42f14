"""The study of collectives across long links: results on worked examples, commands, and what is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from urakata.cli import build_app
from urakata.sites_study.methods import methods
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
    """Two rounds of 1 MiB: the host takes 90 and 110 ms, Urakata's choice 50 and 60 ms, two lanes 40 and 60 ms."""
    results = Results()
    chosen = call_site("predicted: straight 44 ms, 1 lane 90 ms", "straight")
    forced = call_site("asked for; predicted: 2 lanes 60 ms, 3 lanes 50 ms", "lanes 2")
    for host, ours, lanes in ((90e3, 50e3, 40e3), (110e3, 60e3, 60e3)):
        results.take(BED, "host", record(host), [])
        results.take(BED, "urakata", record(ours), [call_site("", "of another size") | {"bytes": 8}, chosen])
        results.take(BED, "lanes 2", record(lanes), [forced])
    return results


def test_medians_stand_beside_what_was_predicted(measured: Results) -> None:
    table, model = all_tables(measured)
    assert table.columns == ["in all", "host", "urakata", "lanes 2", "chosen", "predicted", "/ best lanes"]
    assert table.rows == [["1 MiB", "100 ms", "55 ms", "50 ms", "straight", "44 ms", "1.10"]]
    assert model.rows == [["scatter, 8ms one way", "20 %", "20 %"]]  # |44 - 55| / 55 and |60 - 50| / 50


@pytest.mark.parametrize(
    ("why", "us"),
    [
        ("predicted: 1 lane 4.45 ms, 2 lanes 4.65 ms", 4450.0),
        ("asked for; predicted: 4 lanes 1.2e+03 ms", 1.2e6),
        ("between sites, whose links were not measured", None),
    ],
)
def test_predictions_are_read_from_the_report(why: str, us: float | None) -> None:
    assert predicted_us(why) == us


def test_results_are_read_as_they_were_written(measured: Results) -> None:
    assert from_json(json.loads(json.dumps(measured.as_json()))) == measured


def test_every_method_has_its_command() -> None:
    ways = {way.name: way for way in methods([4, 16], [1, 2])}
    assert list(ways) == ["host", "links", "sockets 4", "sockets 16", "urakata", "lanes 1", "lanes 2"]
    assert ways["sockets 4"].carries("gather") and not ways["sockets 4"].carries("bcast")
    assert ways["links"].carries("bcast")
    amounts = Amounts([64, 1024], 5, 3)
    own = ["/bench/sites", "bcast", "64,1024", "5", "3"]
    assert rank_command("bcast", ways["host"], Path("/bench/sites"), amounts, "/r") == own
    words = rank_command("bcast", ways["lanes 2"], Path("/bench/sites"), amounts, "/r")
    assert words[words.index("--lanes") + 1] == "2" and words[-5:] == own


def test_an_earlier_run_is_shown_again(measured: Results, tmp_path: Path) -> None:
    document = {
        "format": "urakata-sites-1",
        "machine": {"cpu": "a processor"},
        "settings": {"sites": "2x4", "link_rate": "400mbit", "flow_rate": "25mbit"},
        "warnings": ["the machine is busy"],
        "failed": [{"what": "scatter, 8ms one way, Urakata", "reason": "it hangs"}],
        **measured.as_json(),
    }
    file = tmp_path / "sites.json"
    file.write_text(json.dumps(document))
    said = CliRunner().invoke(build_app(), ["bench", "sites", "--from", str(file), "-o", str(tmp_path / "shown")])
    assert said.exit_code == 0, said.output
    assert "the machine is busy" in said.output and "it hangs" in said.output
    assert {path.name for path in (tmp_path / "shown").iterdir()} == {"sites.csv", "scatter-8ms-one-way.svg"}


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--operations", "scan"], "valid are scatter, gather"),
        (["--sites", "1x4"], "no link is long"),
        (["--sites", "2x"], "are not written as"),
        (["--loss", "2"], "below 1"),
        (["--delay", "soon"], "delay"),
        (["--sizes", "x"], "is no size"),
        (["--sockets", "2000"], "more than 1024 sockets"),
    ],
)
def test_bad_values_are_refused(words: list[str], why: str) -> None:
    said = CliRunner().invoke(build_app(), ["bench", "sites", *words], env={"COLUMNS": "200"})
    assert said.exit_code == 2 and why in said.output.replace("\n", " "), said.output
