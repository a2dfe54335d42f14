# SPDX-License-Identifier: BSD-3-Clause
"""Which program and which mpirun a name means: those of the caller's PATH, whatever a launcher puts before it."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from urakata import caller_path, launcher, paths
from urakata.compare.side import ALONE, ENGINES, Side

try:
    EXEC = str(paths.program("urakata-exec"))
except paths.NotFoundError as reason:
    pytest.skip(str(reason), allow_module_level=True)

PACKAGES = str(Path(paths.__file__).parents[1])
OPEN_MPI = '/bin/echo "mpirun (Open MPI) 4.1.4"'


def script(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def mpirun(folder: Path) -> Path:
    """Starts one rank with its own folder first in PATH, as Open MPI's does; that folder has a `tool` of its own."""
    script(folder / "tool", "echo the launcher's")
    start = f'while [ "$1" != {EXEC} ] && [ "$1" != env ]; do shift; done; PATH="{folder}:$PATH" exec "$@"'
    return script(folder / "mpirun", f'[ "$1" = --version ] && exec {OPEN_MPI}\n{start}')


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder that the caller's PATH begins with; it has `tool`, a link as a virtual environment's python is."""
    real = script(tmp_path / "real" / "tool", 'echo "caller\'s $0"')
    folder = tmp_path / "environment"
    folder.mkdir()
    (folder / "tool").symlink_to(real)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "urakata", "run", "-n", "1", *words],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        env={**os.environ, "PYTHONPATH": PACKAGES},
        timeout=60,
    )


def test_a_program_of_the_callers_path_runs_and_not_one_beside_the_launcher(tmp_path: Path, shell: Path) -> None:
    """Called by its path in the environment, which is a link and stays one; so are what a script's first line names,
    and what the program starts itself."""
    path = str(mpirun(tmp_path / "mpi"))
    assert run(tmp_path, "--host", path, "--", "tool").stdout == f"caller's {shell}/tool\n"
    first_line = script(tmp_path / "first-line", "")
    first_line.write_text("#!/usr/bin/env tool\n")
    assert run(tmp_path, "--host", path, "--", "./first-line").stdout == f"caller's {shell}/tool\n"
    starter = script(tmp_path / "starter", 'tool; echo "${URAKATA_CALLER_PATH-unset}"')
    assert run(tmp_path, "--host", path, "--", str(starter)).stdout == f"caller's {shell}/tool\nunset\n"


def test_sides_of_a_comparison_run_the_same_program(tmp_path: Path, shell: Path) -> None:
    host = launcher.describe(mpirun(tmp_path / "mpi"))
    engine = Side("poll", "poll", ENGINES["poll"][1])
    for side in (ALONE, engine):
        command = side.command(host, 1, ["tool"], [], [])
        done = subprocess.run(command, env=host.environment(), capture_output=True, text=True, check=True, timeout=60)
        assert done.stdout == f"caller's {shell}/tool\n", command


def test_the_line_of_a_dry_run_can_be_pasted(tmp_path: Path, shell: Path) -> None:
    """An argument with blanks and quotes is one word again, and the ranks have the same PATH."""
    (shell / "tool").unlink()
    script(shell / "tool", 'echo "caller\'s"; printf "[%s]" "$@"')
    path = str(mpirun(tmp_path / "mpi folder"))
    words = ["--host", path, "--", "tool", "a b", "it's", "$HOME"]
    line = run(tmp_path, "--dry-run", *words).stdout
    pasted = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=True, timeout=60)
    assert pasted.stdout == run(tmp_path, *words).stdout == "caller's\n[a b][it's][$HOME]"
    assert shlex.quote(path) in line


def test_the_callers_mpirun_goes_before_the_source_trees_and_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where either could run the program, as a script; benchmarks are built for the source tree's."""
    of_tree = mpirun(tmp_path / "hosts" / "openmpi" / "bin")
    monkeypatch.setenv("URA_HOSTS", str(tmp_path / "hosts"))
    monkeypatch.setenv("PATH", "/nowhere")
    assert launcher.find_mpi(None, "tool").launcher == of_tree and capsys.readouterr().err == ""
    of_caller = mpirun(tmp_path / "own")
    monkeypatch.setenv("PATH", f"{of_caller.parent}:/usr/bin:/bin")
    assert launcher.find_mpi(None, "tool").launcher == of_caller
    said = capsys.readouterr().err
    assert f"{of_caller} (openmpi 4.1.4)" in said and f"--mpi {of_tree}" in said
    assert launcher.find_mpi_of_benchmarks(None).launcher == of_tree
    assert capsys.readouterr().err == ""
    # By its name the source tree's is taken, and a line says so, as another one is on PATH.
    assert launcher.find_mpi("openmpi").launcher == of_tree
    said = capsys.readouterr().err
    assert said.startswith(f"urakata: --mpi openmpi takes the source tree's {of_tree}; --mpi {of_caller} takes")
    assert said.count("\n") == 1
    assert launcher.find_mpi(str(of_caller)).launcher == of_caller and capsys.readouterr().err == ""
    assert launcher.Linked("not", ("openmpi",)).launcher() == of_caller
    assert launcher.Linked("not", ("mpich", "impi")).launcher() != of_caller
    # A launcher that Urakata does not know is none that could run it.
    script(of_caller, "echo another")
    assert launcher.find_mpi(None, "tool").launcher == of_tree


def test_folders_of_the_launcher_come_behind_the_callers() -> None:
    """caller a:b, launcher m:a:b:c: the program has a:b:m:c."""
    words = [EXEC, "--", "/usr/bin/env"]
    environment = {"PATH": "m:a:b:c", caller_path.VARIABLE: "a:b"}
    printed = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout.splitlines()
    assert "PATH=a:b:m:c" in printed and not any(line.startswith(caller_path.VARIABLE) for line in printed)
