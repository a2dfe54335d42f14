"""The study of collectives that the kernel carries on: results on worked examples, commands, and what is shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from urakata.cli import build_app
from urakata.kernel_study.methods import METHODS, PARTS
from urakata.kernel_study.results import Key, Results, from_json
from urakata.kernel_study.session import Amounts, rank_command
from urakata.kernel_study.tables import part_table


def record(us: float, **more: Any) -> dict[str, Any]:
    return {"part": "hop", "bytes": 64, "us": us, **more}


@pytest.fixture
def measured() -> Results:
    """Two rounds; the kernel takes 8 and 10 us, engine thread 10 and 14."""
    results = Results()
    for thread, kernel in ((10.0, 8.0), (14.0, 10.0)):
        results.take("hop", "thread", record(thread, stolen_us=6.0, interruptions=2.0, start_ns=500.0))
        results.take("hop", "kernel", record(kernel, stolen_us=3.0, interruptions=1.0, start_ns=1500.0))
    return results


def test_medians_stand_beside_engine_thread(measured: Results) -> None:
    assert measured.median(Key("hop", "ibcast", 64, "kernel"), "us") == 9.0
    table = part_table(measured, "hop")
    assert table is not None
    assert table.columns[2:] == [
        "from start to last end",
        "taken from the relay",
        "interruptions",
        "starting call",
        "time / thread's",
    ]
    assert table.rows == [
        ["ibcast, 64 B", "engine thread", "12 µs", "6 µs", "2", "0.5 µs", "1.00"],
        ["ibcast, 64 B", "engine kernel", "9 µs", "3 µs", "1", "1.5 µs", "0.75"],
    ]
    assert part_table(measured, "group") is None


def test_results_are_read_as_they_were_written(measured: Results) -> None:
    assert from_json(json.loads(json.dumps(measured.as_json()))) == measured


@pytest.mark.parametrize("part", PARTS.values())
def test_a_method_is_an_engine_or_the_program_alone(part: Any) -> None:
    for method in part.methods:
        words = rank_command(part, method, Path("/bench/kernel"), Amounts([64, 1024], 5, 7))
        assert ("--engine" in words) == (METHODS[method].options is not None)
        assert words[words.index("--sizes") + 1] == "64,1024"
        assert words[words.index("--method") + 1] == METHODS[method].how


def test_an_earlier_run_is_shown_again(measured: Results, tmp_path: Path) -> None:
    document = {
        "format": "urakata-kernel-1",
        "machine": {"cpu": "a processor"},
        "warnings": ["three hosts share two cores"],
        "failed": [{"what": "hop, engine poll", "reason": "it hangs"}],
        **measured.as_json(),
    }
    file = tmp_path / "kernel.json"
    file.write_text(json.dumps(document))
    said = CliRunner().invoke(build_app(), ["bench", "kernel", "--from", str(file), "-o", str(tmp_path / "shown")])
    assert said.exit_code == 0, said.output
    assert "three hosts share two cores" in said.output and "it hangs" in said.output
    assert {path.name for path in (tmp_path / "shown").iterdir()} == {
        "kernel.csv",
        "hop-ibcast-us.svg",
        "hop-ibcast-stolen.svg",
    }


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--part", "hip"], "valid are hop, fine, coarse, group"),
        (["--methods", "magic"], "valid are explicit, blocked, host, poll, thread, kernel"),
        (["--sizes", "x"], "is no size"),
    ],
)
def test_bad_values_are_refused(words: list[str], why: str) -> None:
    said = CliRunner().invoke(build_app(), ["bench", "kernel", *words], env={"COLUMNS": "200"})
    assert said.exit_code == 2 and why in said.output.replace("\n", " "), said.output
