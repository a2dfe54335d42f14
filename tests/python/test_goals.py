# SPDX-License-Identifier: BSD-3-Clause
"""The command of ./dev goals, with a session that runs nothing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from goal_cases import A, samples
from typer.testing import CliRunner

from urakata import cli
from urakata.goals import command, measure
from urakata.goals.definitions import Session
from urakata.goals.errors import CannotMeasureError, MeasurementError
from urakata.goals.page import page
from urakata.goals.plot import draw
from urakata.goals.samples import Samples
from urakata.paths import NotFoundError


def run_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, result: Samples | Exception) -> tuple[int, Any, str]:
    """`./dev goals nbc-poll-geomean --json FILE` with a session that gives `result`: exit code, JSON, output."""

    def measured(*_: object) -> Samples:
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(
        command,
        "measure_goals",
        lambda found, wanted, notice: measure.measure_goals(found, wanted, notice, measured),
    )
    monkeypatch.setattr(command, "describe_build", lambda: {"build_type": "", "flags": ""})
    file = tmp_path / "goals.json"
    done = CliRunner().invoke(command.build_app(), ["nbc-poll-geomean", "--json", str(file)])
    return done.exit_code, json.loads(file.read_text()), done.output


def test_a_goal_that_is_not_met_was_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    measured = samples("us", host={A: [1.0, 1.0]}, poll={A: [2.0, 2.0]})
    code, results, output = run_command(monkeypatch, tmp_path, measured)
    entry = results["nbc-poll-geomean"]
    assert code == 0 and "not met" in output
    assert set(entry) == {"value", "unit", "target", "met", "spread", "samples", "detail"}
    assert (entry["value"], entry["target"], entry["met"], entry["samples"]) == (2.0, 1.0, False, [2.0, 2.0])


@pytest.mark.parametrize("kind", [CannotMeasureError, NotFoundError])
def test_a_machine_that_cannot_is_77_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: type[Exception]
) -> None:
    code, results, output = run_command(monkeypatch, tmp_path, kind("no namespaces"))
    assert code == 77 and "no namespaces" in output
    assert results["nbc-poll-geomean"]["met"] is None


def test_a_job_that_fails_is_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code, _, output = run_command(monkeypatch, tmp_path, MeasurementError("nbc, side poll: exit code 3"))
    assert code == 1 and "exit code 3" in output


@pytest.mark.parametrize(
    ("names", "code", "told"),
    [
        (["nbc-poll-geomean", "nbc-hosts-geomean"], 1, ["binding: 1 of 2 met, 1 not measured"]),
        (["nbc-hosts-geomean", "nbc-poll-worst"], 0, ["binding: 1 of 1 met", "watched: 0 of 1 met, 1 not measured"]),
        (["nbc-poll-worst"], 1, ["watched: 0 of 1 met, 1 not measured"]),
    ],
)
def test_binding_goals_are_counted_apart_and_decide(
    monkeypatch: pytest.MonkeyPatch, names: list[str], code: int, told: list[str]
) -> None:
    """Session nbc-poll fails; nbc-poll-worst, which is watched, costs the exit code only where nothing binds."""

    def measured(session: Session, _notice: object) -> Samples:
        if session.name == "nbc-poll":
            raise MeasurementError("nbc, side poll: exit code 3")
        return samples("us", host={A: [2.0, 2.0]}, poll={A: [1.0, 1.0]})

    monkeypatch.setattr(
        command, "measure_goals", lambda found, wanted, notice: measure.measure_goals(found, wanted, notice, measured)
    )
    monkeypatch.setattr(command, "describe_build", lambda: {"build_type": "", "flags": ""})
    done = CliRunner().invoke(command.build_app(), names)
    assert (done.exit_code, [line for line in done.stdout.splitlines() if " met" in line and ":" in line]) == (
        code,
        told,
    )


def test_the_list_has_binding_goals_first() -> None:
    shown = CliRunner().invoke(command.build_app(), ["--list"]).stdout
    binding, watched = shown.split("watched: ")
    assert binding.startswith("binding: ") and "nbc-hosts-geomean" in binding and "nbc-poll-worst" in watched


@pytest.mark.parametrize("arguments", [["no-such-goal"], []])
def test_wrong_names_are_2_and_show_what_there_is(arguments: list[str]) -> None:
    done = CliRunner().invoke(command.build_app(), [*arguments])
    assert done.exit_code == 2


def test_the_page_has_each_goal_and_marks_what_is_short() -> None:
    machine = {"cpu": "a processor", "cores": 2, "virtual": True, "memory_gib": 8.0, "kernel": "6.1", "commit": "abc"}
    detail = {"compares": "one with the other", "direction": "at most", "binding": False, "machine": machine}
    both = detail | {"sides": {"host": 2.0, "poll": 3.0}, "sides_unit": "us"}
    entry = {"unit": "ratio", "target": 1.25, "spread": [1.4, 1.6]}
    text = page(
        {
            "short": entry | {"value": 1.5, "met": False, "detail": both | {"bound": "a wire is as long as it is."}},
            "unexplained": entry | {"value": 1.6, "met": False, "detail": both | {"binding": True}},
            "kept": entry | {"value": 1.0, "met": True, "detail": both},
            "impossible": entry | {"value": None, "met": None, "detail": detail | {"not_measured": "no namespaces"}},
        }
    )
    assert "a processor, 2 cores, virtual machine, 8 GiB, Linux 6.1; commit abc" in text.replace("\n", " ")
    _, binding, watched = text.split("| --- |\n")
    assert "\n\n## Targets that bind a release\n\n| target " in text
    assert binding.startswith(
        "| `unexplained` | **1.60** (1.40 to 1.60) | <= 1.25 ratio |\n\n0 of these 1 met, 1 missed, "
    )
    assert "\n\n## Targets that are watched\n\n| target " in binding
    rows = watched.splitlines()
    assert rows[0] == "| `short` | **1.50** (1.40 to 1.60) | <= 1.25 ratio |"
    assert "| 1.00 (" in rows[1] and "| not measured |" in rows[2]
    assert rows[4] == "1 of these 3 met, 1 missed, 1 not measured."
    assert "\n- `short`: one with the other. Sides: host 2.00, poll 3.00 us.\n" in text
    assert "\n- `impossible`: one with the other. Not measured: no namespaces.\n" in text
    assert "\n## Why targets are missed\n" in text
    assert text.endswith("\n\n- `short`: a wire is as long as it is.\n- Not known: `unexplained`.\n")


def test_lines_of_the_page_are_as_long_as_a_document_may_have() -> None:
    machine = {"cpu": "c", "cores": 1, "virtual": False, "memory_gib": 8.0, "kernel": "6.1", "commit": "abc"}
    detail = {"compares": "many words " * 30, "direction": "at most", "machine": machine, "bound": "as far " * 50}
    sides = {"sides": {"host": 2.0}, "sides_unit": "us", "binding": True}
    entry = {"unit": "us", "target": 1, "spread": [1, 2], "value": 2.0, "met": False, "detail": detail | sides}
    assert max(map(len, page({"long": entry}).splitlines())) <= 100


def test_the_plot_has_every_point_of_its_goal(tmp_path: Path) -> None:
    places = ("4 hosts, 1gbit", "node, 2 ranks")
    ratios = [
        {"point": [place, operation, size], "ratio": ratio}
        for place in places
        for operation in ("ibcast", "iallgather", "iallreduce")
        for size, ratio in (("4 MiB", 0.7), ("8 B", 1.3), ("64 KiB", 0.9))
    ]
    file = tmp_path / "plot.svg"
    draw(ratios, file)
    assert file.read_text().count("<use ") >= len(ratios)  # a marker for each


def test_a_plot_of_what_is_not_measured_is_refused() -> None:
    done = CliRunner().invoke(command.build_app(), ["bypass-ns", "--plot", "plot.png"])
    assert done.exit_code == 2
    assert command.PLOTTED in done.output


def test_goals_are_listed_as_json(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`-` is the standard output, and no file of that name."""
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(command.build_app(), ["--list", "--json", "-"])
    first, *_ = json.loads(done.stdout)
    assert done.exit_code == 0 and not list(tmp_path.iterdir())
    assert set(first) == {"name", "compares", "unit", "target", "direction", "binding"}


def test_the_earlier_command_says_where_it_went() -> None:
    for words in ([], ["--list"], ["--help"], ["nbc-poll-geomean", "--json", "-"]):
        done = CliRunner().invoke(cli.build_app(), ["goals", *words])
        assert (done.exit_code, done.stdout) == (2, "")
        assert done.stderr == "urakata: performance targets are measured in the source tree, by `./dev goals`\n"


def test_help_has_examples_as_they_are_typed() -> None:
    done = CliRunner().invoke(command.build_app(), ["--help"])
    assert done.exit_code == 0 and "  ./dev goals --list" in done.output and "--plot" in done.output
