# SPDX-License-Identifier: BSD-3-Clause
"""urakata debug on what is no rank: one line that says what it is, and exit code 2."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from urakata import paths

PACKAGES = str(Path(paths.__file__).parents[1])


def refused(folder: Path, pid: int, *before: str) -> str:
    """What the command says, started by the words `before`; gdb is not."""
    gdb = folder / "gdb"
    gdb.write_text("#!/bin/sh\necho started\n")
    gdb.chmod(0o755)
    asked = subprocess.run(
        [*before, sys.executable, "-m", "urakata", "debug", str(pid)],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": PACKAGES, "PATH": f"{folder}:{os.environ['PATH']}"},
        check=False,
    )
    assert asked.returncode == 2 and asked.stdout == "", asked
    assert len(asked.stderr.splitlines()) == 1
    return asked.stderr


def test_a_process_that_is_not_there(tmp_path: Path) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert f"there is no process {ended.pid}" in refused(tmp_path, ended.pid)


def test_a_process_that_is_no_rank(tmp_path: Path) -> None:
    assert f"process {os.getpid()} (" in (said := refused(tmp_path, os.getpid()))
    assert "is no rank of a space: a rank's pid is needed. " in said


def test_a_ranks_number_is_no_pid(tmp_path: Path) -> None:
    """Process 1 may be another user's; what to type instead is said all the same."""
    said = refused(tmp_path, 1)
    assert said.startswith("urakata: process 1 ") and "here" in said.partition(". ")[2]


def test_a_process_of_another_user(tmp_path: Path) -> None:
    """As root without the right to look into all processes: only root can start one of another user."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root, with setpriv, can start a process of another user")
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE, user=65534) as other:
        said = refused(tmp_path, other.pid, "setpriv", "--bounding-set=-sys_ptrace", "--inh-caps=-all")
        assert f"process {other.pid} belongs to user 65534" in said
