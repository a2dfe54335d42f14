# SPDX-License-Identifier: BSD-3-Clause
"""PMPI tools in front of the MPI library see the calls that they see without Urakata, which still serves them.

A tool may be a library that the program is linked to, a preloaded one, or a part of the program.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import Mpi, named, passes, run_job, source_of
from spaces import EXEC, nothing_stays

from urakata.report.summary import summarise

__all__ = ["nothing_stays"]  # around every test here

MPIS = ("openmpi", "mpich")
# A tool covers MPI_Init, MPI_Iallreduce and MPI_Wait, or less. The first one in the order of look-up gets a call.
ALL = "50 Iallreduce, 50 Wait"
NONE = "0 Iallreduce, 0 Wait"


def build(mpi: Mpi, target: Path, *words: str) -> str:
    """Compiles what the words say, with programs of this suite named by their files."""
    made = subprocess.run(
        [mpi.compiler, *(str(source_of(word)) if word.endswith(".c") else word for word in words), "-o", str(target)],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, **mpi.environment},
    )
    assert made.returncode == 0, made.stderr
    return str(target)


def tool(mpi: Mpi, folder: Path, name: str, *words: str) -> str:
    words = ("-shared", "-fPIC", f"-DNAME={name}", *words)
    return build(mpi, folder / f"lib{name}.so", *words, "counting_tool.c")


def linked(folder: Path, *names: str) -> list[str]:
    return [f"-L{folder}", f"-Wl,-rpath,{folder}", *(f"-l{name}" for name in names)]


def seen(output: str) -> list[str]:
    return sorted(line for line in output.splitlines() if " saw " in line)


def reduced(report: Path) -> bool:
    """Whether Urakata performed the MPI_Iallreduce of both ranks."""
    return [(row.operation, row.started) for row in summarise(report).rows] == [("Iallreduce", 100)]


@pytest.mark.parametrize("way", ("poll", "native", "space"))
@pytest.mark.parametrize("name", MPIS)
def test_linked_tools_see_every_call(tmp_path: Path, name: str, way: str) -> None:
    """Of two tools, "part" is looked up first, and "whole" has what that does not cover."""
    mpi, report = named(name), tmp_path / "report"
    tool(mpi, tmp_path, "part", "-DNO_INIT")
    tool(mpi, tmp_path, "whole")
    program = build(mpi, tmp_path / "user", "tool_user.c", *linked(tmp_path, "part", "whole"))
    options = ["--space"] if way == "space" else ["--engine", way]
    outcome = run_job(mpi, 2, [EXEC, *options, "--report", str(report), "--", program])
    passes(outcome)
    assert seen(outcome.output) == 2 * [f"part saw 0 Init, {ALL}"] + 2 * [f"whole saw 1 Init, {NONE}"]
    assert way == "native" or reduced(report)


@pytest.mark.parametrize("name", MPIS)
def test_tools_of_all_kinds_at_a_time(tmp_path: Path, name: str) -> None:
    """The program's own goes first, a preloaded one before one that the program is linked to. A script starts it."""
    mpi, report = named(name), tmp_path / "report"
    preloaded = tool(mpi, tmp_path, "preloaded", "-DNO_INIT")
    tool(mpi, tmp_path, "linked")
    own = ("-DNAME=own", "-DNO_INIT", "-DNO_START", "counting_tool.c")
    program = build(mpi, tmp_path / "user", "tool_user.c", *own, *linked(tmp_path, "linked"))
    command = [EXEC, "--engine", "poll", "--report", str(report), "--", "sh", "-c", program]
    environment = {"LD_PRELOAD": preloaded, "EXPECTED_PRELOADS": preloaded}
    outcome = run_job(mpi, 2, command, environment=environment)
    passes(outcome)
    assert seen(outcome.output) == [
        *(2 * [f"linked saw 1 Init, {NONE}"]),
        *(2 * ["own saw 0 Init, 0 Iallreduce, 50 Wait"]),
        *(2 * ["preloaded saw 0 Init, 50 Iallreduce, 0 Wait"]),
    ]
    assert reduced(report)


@pytest.mark.parametrize("name", MPIS)
def test_a_tool_that_python_loads_is_told_and_works_preloaded(tmp_path: Path, name: str) -> None:
    """What is loaded once the program runs is behind Urakata; the line says what to do, and that does it."""
    mpi, report = named(name), tmp_path / "report"
    path = tool(mpi, tmp_path, "late")
    module = build(
        mpi, tmp_path / "module.so", "-shared", "-fPIC", "-DMODULE", "tool_user.c", *linked(tmp_path, "late")
    )
    code = f"import ctypes, sys; sys.exit(ctypes.CDLL({module!r}).play())"
    command = [EXEC, "--engine", "poll", "--report", str(report), "--", os.path.realpath(sys.executable), "-c", code]
    outcome = run_job(mpi, 2, command)
    passes(outcome)
    assert outcome.output.count(f"the MPI tool {path} sees no call") == 1
    assert outcome.output.count(f"LD_PRELOAD={path}") == 1
    assert seen(outcome.output) == []
    environment = {"LD_PRELOAD": path, "EXPECTED_PRELOADS": path}
    outcome = run_job(mpi, 2, command, environment=environment)
    passes(outcome)
    assert seen(outcome.output) == 2 * [f"late saw 1 Init, {ALL}"]
    assert reduced(report)
