# SPDX-License-Identifier: BSD-3-Clause
"""--json and --help: every command that measures or looks says it as JSON too, and every help has examples."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer

from urakata import paths, renamed
from urakata.cli import build_app
from urakata.commands.bench import document
from urakata.json_output import write_json


def commands(group: Any, name: str = "urakata") -> Iterator[tuple[str, Any]]:
    """Every command below the group that does something, by its whole name."""
    for word, command in renamed.shown(group):
        if hasattr(command, "commands"):
            yield from commands(command, f"{name} {word}")
        else:
            yield f"{name} {word}", command


APP: Any = typer.main.get_command(build_app())
COMMANDS = dict(commands(APP))


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - {"urakata schedule"}))  # whose help is the program's own
def test_the_help_of_every_command_has_examples(name: str) -> None:
    assert f"\n  {name}" in COMMANDS[name].epilog
    assert "\n  urakata run" in APP.epilog


# What runs a program or changes something, and has nothing of its own to tell.
DOING = {
    f"urakata {one}"
    for one in (
        "run",
        "debug",
        "schedule",
        *(f"hosts {two}" for two in ("run", "links cut", "links restore", "links set")),
        *(f"kernel {two}" for two in ("attach", "detach")),
    )
}


@pytest.mark.parametrize("name", sorted(COMMANDS.keys() - DOING))
def test_every_command_that_tells_something_has_json(name: str) -> None:
    assert "--json" in {word for parameter in COMMANDS[name].params for word in parameter.opts}


def test_a_file_or_the_standard_output(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_json({"a": [1]}, tmp_path / "file", compact=True)
    assert (tmp_path / "file").read_text() == '{"a":[1]}\n'
    write_json({"a": 1})
    assert capsys.readouterr().out == '{\n "a": 1\n}\n'
    with pytest.raises(paths.NotFoundError, match=r"cannot write .*No such file"):
        write_json({}, tmp_path / "no" / "folder")


def shown(_document: dict[str, Any], output: Path, _console: object) -> list[str]:
    (output / "index.html").touch()
    return ["index.html"]


def test_a_benchmark_names_what_it_has_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All after a measurement, the page only when an earlier one is shown again, nothing beside a JSON file."""
    made: dict[str, Any] = {"format": "urakata-x-1", "warnings": ["a warning"]}
    document.conclude("x", made, tmp_path, None, shown)
    assert capsys.readouterr().out.endswith(": x.json, index.html\n")
    document.show_again("x", tmp_path, tmp_path / "again", shown)
    assert capsys.readouterr().out.endswith(": index.html\n")
    assert {path.name for path in (tmp_path / "again").iterdir()} == {"index.html"}
    document.conclude("x", made, tmp_path / "none", Path("-"), shown)
    said = capsys.readouterr()
    assert json.loads(said.out) == made and "a warning" in said.err and not (tmp_path / "none").exists()
