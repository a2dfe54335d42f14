# SPDX-License-Identifier: BSD-3-Clause
"""What a command tells its user to type begins with the command as it was started: build/bin/urakata report out."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from calls_file import RUNNING, CallsFile
from test_report_verdict import MESSAGES, write

from urakata import paths, typed
from urakata.report.summary import overlap_command, summarise
from urakata.report.verdict import verdict


def script(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


def test_the_command_is_typed_as_it_was_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not on PATH; on PATH as another file; as this file; by a link to it; and started by python -m."""
    script(tmp_path / "my build" / "bin" / "urakata")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(typed.VARIABLE, "my build/bin/urakata")
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert typed.command_words() == ["my build/bin/urakata"] and typed.command() == "'my build/bin/urakata'"
    script(tmp_path / "other" / "urakata")
    monkeypatch.setenv("PATH", str(tmp_path / "other"))
    assert typed.command_words() == ["my build/bin/urakata"]
    monkeypatch.setenv("PATH", str(tmp_path / "my build" / "bin"))
    assert typed.command_words() == ["urakata"]
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "urakata").symlink_to(tmp_path / "my build" / "bin" / "urakata")
    monkeypatch.setenv("PATH", str(tmp_path / "links"))
    assert typed.command_words() == ["urakata"]
    monkeypatch.delenv(typed.VARIABLE)
    monkeypatch.setattr(sys, "argv", [str(tmp_path / "urakata" / "__main__.py")])
    assert typed.command_words() == ["urakata"]


def test_the_report_has_its_commands_typed_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started = str(script(tmp_path / "bin" / "urakata"))
    monkeypatch.setenv(typed.VARIABLE, started)
    (tmp_path / "cut off").mkdir()
    for number in range(2):
        CallsFile(number, 2).write(tmp_path / "cut off", RUNNING)  # no rank has reached MPI_Finalize
    write(tmp_path, [MESSAGES, MESSAGES])
    found, following = verdict(summarise(tmp_path)), summarise(tmp_path / "cut off").next
    assert found and found.command.startswith(f"{started} compare -n 2 ")
    assert following and following[1].startswith(f"{started} report ")
    assert overlap_command("iallreduce", [8]).startswith(f"{started} bench overlap ")


@pytest.mark.parametrize("name", ["urakata.in", "urakata-installed.sh"])
def test_the_scripts_tell_how_they_were_called(name: str) -> None:
    if not (tree := paths.source_tree()):
        pytest.skip("needs the source tree")
    text = (tree / "cmake" / name).read_text()
    assert f"{typed.VARIABLE}=$0" in text and any(
        line.startswith("export ") and typed.VARIABLE in line for line in text.splitlines()
    )
