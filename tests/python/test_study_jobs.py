# SPDX-License-Identifier: BSD-3-Clause
"""The overlap study: its jobs, most with a made-up launcher."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from study_records import made_up_record

from urakata import launcher, paths
from urakata.measure.program import find_program
from urakata.measure.running import JobError
from urakata.overlap_study.configuration import OPERATIONS, Configuration
from urakata.overlap_study.job import Amounts, Outcome, Place, launcher_arguments, run_job, variables
from urakata.overlap_study.plan import Plan
from urakata.overlap_study.session import run_session, steps


def _place(tmp_path: Path, script: str, **more: Any) -> Place:
    fake = tmp_path / "mpirun"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    return Place(launcher.Mpi(fake, "mpich", "1"), Path("/bin/true"), cores=4, **more)


NONE = Configuration("ibcast", "paper", 2, 2, "none")


def test_lines_of_the_launcher_are_passed_over() -> None:
    outcome = Outcome()
    lines = ("a warning", '{"type":"setup","ranks":2}', '{"type":"result","bytes":8}', '{"type":"skip","bytes":9}')
    outcome.take("\n".join(lines))
    assert (outcome.setup, outcome.results, outcome.skips) == ({"ranks": 2}, [{"bytes": 8}], [{"bytes": 9}])


def test_a_failed_job_says_why(tmp_path: Path) -> None:
    place = _place(tmp_path, "echo '=====' >&2; echo 'no such network' >&2; exit 3")
    with pytest.raises(JobError, match="exit code 3: no such network"):
        run_job(NONE, place, Amounts([8]))


def test_a_silent_job_and_a_slow_one_are_errors(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="wrote no result"):
        run_job(NONE, _place(tmp_path, "true"), Amounts([8]))
    with pytest.raises(JobError, match=r"not done after 0\.2 s"):
        run_job(NONE, _place(tmp_path, "exec cat /dev/zero >/dev/null", timeout_s=0.2), Amounts([8]))


def test_a_failed_configuration_is_not_tried_again(tmp_path: Path) -> None:
    count = tmp_path / "count"
    place = _place(tmp_path, f"echo once >>{count}; exit 1")
    done = 0

    def progress(_label: str, sizes: int) -> None:
        nonlocal done
        done += sizes

    plan = Plan([NONE])
    session = run_session(plan, place, Amounts([8, 16]), 3, progress)
    assert count.read_text() == "once\n"
    assert [one.reason for one in session.failed] == ["exit code 1"]
    assert done == steps(plan, Amounts([8, 16]), 3) == 6


def test_all_sides_compute_the_amount_that_was_matched(tmp_path: Path) -> None:
    # The launcher notes its arguments, and answers that 777 elements matched.
    noted = tmp_path / "noted"
    record = json.dumps({"type": "result", **made_up_record(8, 10, 10, 20, 10, work=777)}, separators=(",", ":"))
    setup = '{"type":"setup","optimised":true,"places":[],"library":"made up"}'
    place = _place(tmp_path, f"printf '%s\\n' \"$*\" >>{noted}; printf '%s\\n' '{setup}' '{record}'")
    run_session(Plan([NONE]), place, Amounts([8], work="match"), 2, lambda _label, _done: None)
    first, *others = noted.read_text().splitlines()
    assert "--work=match" in first
    assert len(others) == 2
    assert all("--work=777" in line for line in others)


def test_binding_and_variables(tmp_path: Path) -> None:
    place = _place(tmp_path, "true")
    asked = Configuration("ibcast", "paper", 2, 2, "async")
    added = variables(asked, place)
    assert added["OMP_NUM_THREADS"] == "2"
    assert added["MPIR_CVAR_ASYNC_PROGRESS"] == "1"
    assert launcher_arguments(asked, place, added) == ["-bind-to", "core:2"]
    assert "MPIR_CVAR_ASYNC_PROGRESS" not in variables(NONE, place)


def test_options_of_urakata_exec() -> None:
    shared = Configuration("iallgather", "paper", 2, 1, "shared", "ring")
    assert shared.options() == ["--engine", "thread", "--placement", "shared", "--algorithm", "allgather:ring"]
    assert NONE.options() == []


def test_a_job_of_each_operation_is_right() -> None:
    # Two ranks of the tree's Open MPI, two sizes of which one is no multiple of a float's.
    try:
        host = launcher.find_mpi("openmpi")
        program = find_program(host)
    except paths.NotFoundError as error:
        pytest.skip(str(error))
    place = Place(host, program, cores=1, timeout_s=60)
    for operation in OPERATIONS:
        asked = Configuration(operation, "compute", 2, 1, "none")
        outcome = run_job(asked, place, Amounts([3, 8192], work=[1000], turns=3, budget_ms=1))
        assert [record["wrong_ranks"] for record in outcome.results] == [0] * len(outcome.results)
        assert len(outcome.results) == (1 if operation == "ibarrier" else 2)
