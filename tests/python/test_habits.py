# SPDX-License-Identifier: BSD-3-Clause
"""What people type out of habit, and what they read: options of mpirun, help at 80 columns, the last report."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from calls_file import CallsFile, EventsFile
from typer.testing import CliRunner

from urakata import paths
from urakata.cli import build_app
from urakata.last_report import remember

try:
    paths.program("urakata-exec")
except paths.NotFoundError as reason:
    pytest.skip(str(reason), allow_module_level=True)


def launcher(folder: Path, version: str) -> str:
    path = folder / "mpirun"
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec echo "{version}"\n')
    path.chmod(0o755)
    return str(path)


def said(monkeypatch: pytest.MonkeyPatch, *words: str) -> Any:
    monkeypatch.setattr(sys, "argv", ["urakata", *words])  # by which errors name what was typed
    monkeypatch.setenv("COLUMNS", "80")
    return CliRunner().invoke(build_app(), words)


@pytest.mark.parametrize("command", ["run", "compare"])
def test_options_of_mpirun_serve(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str) -> None:
    """--np as -n, --mca as Open MPI has it, and two ranks where none are said; what follows -- is the program's."""
    open_mpi = launcher(tmp_path, "mpirun (Open MPI) 5.0.11")
    start = [command, "--mpi", open_mpi, "--dry-run"]
    line = said(monkeypatch, *start, "--np", "3", "--mca", "btl", "^tcp", "--", "true", "--mca", "a").output
    assert f"{open_mpi} -n 3 " in line and "--mca btl '^tcp' " in line and "true --mca a\n" in line
    assert f"{open_mpi} -n 2 " in said(monkeypatch, *start, "--", "true").output
    mpich = launcher(tmp_path, "HYDRA build details: Version: 4.2")
    refused = said(monkeypatch, *start, "--mca", "btl", "^tcp", "--", "true")
    assert refused.exit_code == 2 and mpich.rsplit("/", 1)[1] in refused.output and "--mca" in refused.output


@pytest.mark.parametrize(("words", "name"), [(["-n", "0"], "-n"), (["--np=x"], "--np"), (["--ranks", "0"], "--ranks")])
def test_an_error_names_the_option_as_it_was_typed(
    monkeypatch: pytest.MonkeyPatch, words: list[str], name: str
) -> None:
    done = said(monkeypatch, "run", *words, "--", "./app", "--np", "-n")
    assert done.exit_code == 2 and f"Invalid value for '{name}'" in done.output


def commands(command: Any, words: tuple[str, ...] = ()) -> list[tuple[tuple[str, ...], Any]]:
    found = [(words, command)]
    for name, inner in getattr(command, "commands", {}).items():
        found += commands(inner, (*words, name))
    return found


def test_help_at_80_columns_has_each_option_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for words, command in commands(typer.main.get_command(build_app())):
        if words == ("schedule",):
            continue  # says what urakata-schedule says
        shown = said(monkeypatch, *words, "--help").output
        names = [name for parameter in command.params for name in parameter.opts if name.startswith("-")]
        assert [name for name in names if name not in shown] == [], words


def folder_with_a_report(folder: Path) -> Path:
    folder.mkdir(parents=True)
    CallsFile(0, 1).write(folder)
    return folder


def test_a_report_without_a_folder_is_the_last_one_of_this_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two terminals, in a and b, have left reports; in c there is one that nobody noted, and in d none."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in "abcd":
        (tmp_path / name).mkdir()
    folder_with_a_report(tmp_path / "c" / "urakata-report")
    monkeypatch.chdir(tmp_path / "d")
    assert "no `urakata run --report` has left" in str(said(monkeypatch, "report").exception)
    for name in "ab":
        monkeypatch.chdir(tmp_path / name)
        folder_with_a_report(Path(f"of-{name}"))
        remember(Path(f"of-{name}"))
    for here, shown in (("a", tmp_path / "a" / "of-a"), ("b", tmp_path / "b" / "of-b"), ("c", "urakata-report")):
        monkeypatch.chdir(tmp_path / here)
        assert f"the last report of this directory, in {shown}\n" in said(monkeypatch, "report").stderr
    monkeypatch.chdir(tmp_path / "d")
    told = f"the last one of another, in {tmp_path / 'b' / 'of-b'}, written less than a minute ago"
    assert told in said(monkeypatch, "report").stderr
    for name in "ab":
        shutil.rmtree(tmp_path / name)
    assert "of-b, the last report, has no files any more" in str(said(monkeypatch, "report").exception)
    monkeypatch.setenv("XDG_CACHE_HOME", os.devnull)  # cannot be written
    remember(Path("out"))


@pytest.mark.parametrize("words", [["--csv", "-"], ["--html", "-"], ["--trace", "-"], ["--json"]])
def test_a_dash_is_the_standard_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    """Nothing but the document goes there, and no file is called -."""
    folder, page = folder_with_a_report(tmp_path / "out"), tmp_path / "page.html"
    EventsFile(0, 1).write(folder)
    monkeypatch.chdir(tmp_path)
    done = said(monkeypatch, "report", "out", *words, *(() if "--html" in words else ("--html", str(page))))
    assert done.exit_code == 0 and not Path("-").exists()
    begin = {"--csv": "rank,", "--html": "<!doctype html>", "--trace": "{", "--json": "{"}[words[0]]
    assert done.stdout.startswith(begin) and "wrote" not in done.stdout
    assert page.exists() is ("--html" not in words) and (f"wrote {page}" in done.stderr) is page.exists()
