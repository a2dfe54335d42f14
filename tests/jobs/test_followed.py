# SPDX-License-Identifier: BSD-3-Clause
"""What starts a rank and is none, shells, scripts, env, taskset and their like, is followed to the MPI program."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from jobs import compiled, named, passes, run_job
from spaces import nothing_stays
from test_mpi4py import library, suite

from urakata import paths
from urakata.report.summary import summarise

__all__ = ["nothing_stays"]  # around every test here

EXEC = str(paths.program("urakata-exec"))
WRAPPERS = {
    "env": "env SOME=thing {}",
    "taskset": "taskset -c 0-1 {}",
    "nested": "timeout 60 nice -n 1 env SOME=thing {}",
    "stdbuf": "stdbuf -oL {}",
    "bash": "bash -c {}",
    "sh": "sh -c {}",
}


def script(folder: Path, text: str, interpreter: str = "/bin/sh") -> str:
    path = folder / "wrapper"
    path.write_text(f"#!{interpreter}\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize("way", WRAPPERS)
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_a_wrapper_is_followed(folder: Path, tmp_path: Path, name: str, way: str) -> None:
    words = WRAPPERS[way].format(compiled(named(name), "late_rank", folder)).split()
    if shutil.which(words[0]) is None:
        pytest.skip(f"no {words[0]}")
    passes(run_job(named(name), 2, [EXEC, "--engine", "poll", "--report", str(tmp_path), "--", *words]))
    summary = summarise(tmp_path)
    assert [(row.operation, row.started) for row in summary.rows] == [("Iallreduce", 80)]
    # The option came from the outermost urakata-exec, and every rank knows from where.
    for rank in summary.ranks:
        options = {option["name"]: (option["value"], option["origin"]) for option in rank["options"]}
        assert options["ENGINE"] == ("poll", "command line")


@pytest.mark.parametrize("last", ("exec", "child"))
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_a_script_is_followed_into_a_space(folder: Path, tmp_path: Path, name: str, last: str) -> None:
    """As scripts do that choose a device by the rank; what else the script starts is no rank."""
    program = compiled(named(name), "late_rank", folder)
    lines = ["export CHOSEN=1", "ls / > /dev/null || exit 9", 'test -n "$(cat /proc/self/comm)" || exit 8']
    lines += [f"exec {program}" if last == "exec" else f"{program}\ncode=$?\ntest $CHOSEN = 1 && exit $code"]
    wrapper = script(tmp_path, "\n".join(lines))
    passes(run_job(named(name), 2, [EXEC, "--space", "--report", str(tmp_path / "report"), "--", wrapper]))
    summary = summarise(tmp_path / "report")
    assert [rank["space"]["ranks"] for rank in summary.ranks] == [2, 2]
    assert summary.ranks[0]["program"].split()[0] == str(program)


def test_python_is_followed(tmp_path: Path) -> None:
    mpi = named("mpich")
    (tmp_path / "program.py").write_text("from mpi4py import MPI\nMPI.COMM_WORLD.Barrier()\n")
    wrapper = script(tmp_path, f"{suite()[0]} {tmp_path}/program.py")
    command = [EXEC, "--report", str(tmp_path / "report"), "--", wrapper]
    passes(run_job(mpi, 2, command, environment={"MPI4PY_LIBMPI": str(library(mpi))}))
    whole = summarise(tmp_path / "report").whole
    assert whole is not None
    assert [row.calls for row in whole.rows if row.operation == "Barrier"] == [2]


def test_exit_codes_and_environment_are_the_wrappers(tmp_path: Path) -> None:
    """What is no rank sees nothing of ours, but for the library in LD_PRELOAD by which it is followed."""
    mpi = named("mpich")
    outcome = run_job(mpi, 1, [EXEC, "--", script(tmp_path, "env | grep -c LD_PRELOAD=; exit 7", "/bin/bash")])
    assert outcome.code == 7
    assert outcome.output.split()[0] == "1"


def test_a_launcher_in_a_script_gets_nothing(tmp_path: Path) -> None:
    """Its ranks are no ranks of the job that urakata-exec is in."""
    mpi = named("mpich")
    inner = f"{mpi.launcher} -n 2 sh -c 'echo preload=$LD_PRELOAD'"
    outcome = run_job(mpi, 1, [EXEC, "--", script(tmp_path, inner)], environment={"LD_PRELOAD": ""})
    assert outcome.code == 0, outcome.output
    assert outcome.output.split() == ["preload="] * 2


def test_a_debugger_is_told_where_urakata_exec_belongs(folder: Path) -> None:
    if shutil.which("gdb") is None:
        pytest.skip("no gdb")
    program = str(compiled(named("mpich"), "late_rank", folder))
    outcome = run_job(named("mpich"), 1, [EXEC, "--", "gdb", "-batch", program])
    assert "put urakata-exec behind it" in outcome.output
