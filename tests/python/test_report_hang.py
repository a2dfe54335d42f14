# SPDX-License-Identifier: BSD-3-Clause
"""A job that hangs, or was killed: where each rank is, for how long, and what to type next."""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import time
from pathlib import Path

import pytest
from calls_file import ABORTED, FINISHED, RUNNING, CallsFile
from typer.testing import CliRunner

from urakata.cli import build_app
from urakata.report import ending
from urakata.report.ending import RUN_FILE, maps_file, note_end, started_ns
from urakata.report.errors import ReportError
from urakata.report.hang import early_ends, next_steps
from urakata.report.page import page
from urakata.report.summary import Summary, summarise
from urakata.report.whole import Whole
from urakata.report.whole_text import headline

BOOT = "a-boot"
WALL = 1_000_000_000_000  # of a rank's MPI_Init the time of day, but for the 5000 ns on its clock
SECOND = 1_000_000_000


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine is where the ranks run, and it is 6.8 s after their MPI_Init."""
    boot = tmp_path / "boot_id"
    boot.write_text(f"{BOOT}\n")
    monkeypatch.setattr(ending, "_BOOT", boot)
    monkeypatch.setattr(ending, "started_ns", lambda pid: None if started_ns(pid) is None else 4000)
    monkeypatch.setattr(ending, "maps_file", lambda _pid, _file: True)
    monkeypatch.setattr(ending.time, "time_ns", lambda: WALL + 5000 + 68 * SECOND // 10)


def process_that_has_ended() -> int:
    with subprocess.Popen(["true"]) as process:
        process.wait()
    return process.pid


def write(folder: Path, rank: int, ranks: int, how: str, pid: int, python: bool = False) -> None:
    """Of its first second the rank was in MPI for 0.5 s; "inside" has begun an MPI_Recv then, "between" none."""
    file = CallsFile(rank, ranks, clock=BOOT, pid=pid, wall=WALL)
    place = {"file": "/home/me/app.py", "function": "step", "line": 7} if python else {}
    barrier = file.call("Barrier", 4, SECOND // 2, offset=0x30, **place)
    receive = file.call("Recv", 0, 0, offset=0x40, **place)
    inside = receive if how == "inside" else 0
    file.write(folder, RUNNING, ns=SECOND, inside=inside, since=SECOND, last=barrier)


def job(folder: Path, pids: list[int], python: bool = False) -> Path:
    """All wait in MPI_Recv but the last one, which is in no call."""
    report = folder / "report"
    report.mkdir(exist_ok=True)
    for rank, pid in enumerate(pids):
        write(report, rank, len(pids), "between" if rank == len(pids) - 1 else "inside", pid, python)
    return report


def told(report: Path) -> tuple[Summary, Whole]:
    summary = summarise(report)
    assert summary.whole is not None
    return summary, summary.whole


def test_a_job_that_hangs_says_for_how_long_each_rank_is_where_it_is(tmp_path: Path) -> None:
    report = job(tmp_path, [os.getpid()] * 3)
    summary, whole = told(report)
    assert early_ends(whole) == [
        "ranks 0-1 have not reached MPI_Finalize; they are inside Recv at app+0x40, "
        "for 5.8 s (begun 1 s after MPI_Init)",
        "rank 2 has not reached MPI_Finalize; it is in no call of MPI; its last one was Barrier at app+0x30, "
        "which ended 1 s after MPI_Init, 5.8 s ago",
    ]
    # The open call is time in MPI, and the run goes on.
    assert [rank.run_ns for rank in whole.ranks] == [68 * SECOND // 10] * 3
    assert [rank.mpi_ns for rank in whole.ranks] == [63 * SECOND // 10] * 2 + [SECOND // 2]
    assert headline(whole).startswith("whole program: 6.8 s so far, 64 % of it in MPI")
    row = whole.rows[0]
    assert (row.operation, row.calls, row.by_rank) == ("Recv", 2, dict.fromkeys((0, 1), 58 * SECOND // 10))
    command = f"gdb -p {os.getpid()} -batch -ex 'thread apply all backtrace'"
    assert summary.next == ("Look into rank 2, which is in no call of MPI:", command)
    text = CliRunner().invoke(build_app(), ["report", str(report)]).output.splitlines()
    assert text[-2:] == [summary.next[0], f"  {command}"]
    assert "for 5.8 s" in page(summary) and "gdb -p" in page(summary)


def test_the_next_command_is_the_programs_kind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = job(tmp_path, [os.getpid()] * 2, python=True)
    _, whole = told(report)
    assert "inside Recv at /home/me/app.py:7 in step, for" in early_ends(whole)[0]
    assert next_steps(whole, report) == (
        "Look into rank 1, which is in no call of MPI:",
        f"py-spy dump --pid {os.getpid()}",
    )
    monkeypatch.setattr("urakata.report.hang.program_of", lambda _: "urakata-spaced")
    _, whole = told(job(tmp_path, [os.getpid()] * 2))
    step = next_steps(whole, report)
    assert step is not None and step[1] == f"urakata debug {os.getpid()} -- -batch -ex backtrace"


def test_of_ranks_at_different_places_both_are_looked_into(tmp_path: Path) -> None:
    for rank in range(2):
        file = CallsFile(rank, 2, clock=BOOT, pid=os.getpid(), wall=WALL)
        file.write(tmp_path, RUNNING, inside=file.call(("Recv", "Barrier")[rank], 0, 0, offset=0x10 * (rank + 1)))
    summary, _ = told(tmp_path)
    command = f"gdb -p {os.getpid()} -batch -ex 'thread apply all backtrace'"
    look = "Look into rank 0 and rank 1, which are at different places:"
    assert summary.next == (look, f"{command}\n{command}")
    text = CliRunner().invoke(build_app(), ["report", str(tmp_path)]).output.splitlines()
    assert text[-3:] == [look, f"  {command}", f"  {command}"]
    for rank in range(5):
        file = CallsFile(rank, 5, clock=BOOT, pid=os.getpid(), wall=WALL)
        file.write(tmp_path, RUNNING, inside=file.call("Recv", 0, 0, offset=0x10 * (rank + 1)))
    assert told(tmp_path)[0].next == ("Look into rank 0:", command)


def test_a_rank_whose_process_has_ended_while_others_wait_is_told(tmp_path: Path) -> None:
    _, whole = told(job(tmp_path, [os.getpid(), os.getpid(), process_that_has_ended()]))
    lines = early_ends(whole)
    assert lines[1].startswith("rank 2 ended without MPI_Finalize, while other ranks run; it was in no call of MPI")


def test_another_process_with_a_ranks_number_is_not_the_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It began after the rank's MPI_Init."""
    report = job(tmp_path, [os.getpid()])
    assert told(report)[1].alive
    monkeypatch.setattr(ending, "started_ns", lambda _: 6000)
    assert not told(report)[1].alive
    own = started_ns(os.getpid())
    assert own is not None and 0 < own < time.monotonic_ns()
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as later:
        began = started_ns(later.pid)
        assert began is not None and began >= own
    assert started_ns(later.pid) is None


def test_a_process_that_does_not_map_the_ranks_file_is_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a process of this machine with the number that a rank had in a PID namespace of its own."""
    report = job(tmp_path, [os.getpid()])
    monkeypatch.setattr(ending, "maps_file", maps_file)
    assert not told(report)[1].alive
    with (report / "calls-0.bin").open("r+b") as file, mmap.mmap(file.fileno(), 0):
        assert told(report)[1].alive


def test_of_a_job_that_was_killed_the_noted_end_counts(tmp_path: Path) -> None:
    report = job(tmp_path, [process_that_has_ended()] * 2)
    _, whole = told(report)
    assert early_ends(whole)[0] == (  # nobody knows when
        "rank 0 did not reach MPI_Finalize; it was inside Recv at app+0x40, begun 1 s after MPI_Init"
    )
    assert whole.ranks[0].run_ns == SECOND and whole.ranks[0].for_ns is None
    assert headline(whole) == "whole program: its end is unknown; the last known moment is 1 s after MPI_Init"
    assert [rank.alive for rank in whole.ranks] == [False, False]  # the processes of this machine are seen to be gone
    note_end(report)
    summary, whole = told(report)
    assert early_ends(whole) == [
        "rank 0 did not reach MPI_Finalize; it was inside Recv at app+0x40, for 5.8 s (begun 1 s after MPI_Init)",
        "rank 1 did not reach MPI_Finalize; it was in no call of MPI; its last one was Barrier at app+0x30, "
        "which ended 1 s after MPI_Init, 5.8 s before the end",
    ]
    assert headline(whole).startswith("whole program: 6.8 s, ")
    assert [(rank.state, rank.alive) for rank in whole.ranks] == [("not finished", False)] * 2
    assert summary.next is not None and summary.next[0].endswith("run it again with --timeline. Then:")
    assert summary.next[1] == f"urakata report {report} --trace trace.json"
    (report / "events-0.bin").touch()
    assert (next_steps(whole, report) or ("", ""))[0].startswith("The last calls and messages of every rank")


@pytest.mark.parametrize("text", ["", "{}", "[]", json.dumps({"urakata_run": 1, "ended_ns": 17})])
def test_an_end_that_is_another_jobs_or_nobodys_is_none(tmp_path: Path, text: str) -> None:
    report = job(tmp_path, [process_that_has_ended()])
    (report / RUN_FILE).write_text(text)
    _, whole = told(report)
    assert whole.ranks[0].for_ns is None


def test_a_job_that_ended_as_it_should_needs_no_note(tmp_path: Path) -> None:
    CallsFile(0, 1).write(tmp_path)
    note_end(tmp_path)
    assert not (tmp_path / RUN_FILE).exists()
    _, whole = told(tmp_path)
    assert early_ends(whole) == [] and next_steps(whole, tmp_path) is None


def test_of_a_run_in_which_no_rank_called_mpi_init_the_note_tells(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"holds no rank-\*\.json; run with --report"):
        summarise(tmp_path)
    note_end(tmp_path)
    with pytest.raises(ReportError, match="no rank of that run called MPI_Init with Urakata loaded"):
        summarise(tmp_path)


def test_who_has_called_abort_says_where(tmp_path: Path) -> None:
    file = CallsFile(0, 1, wall=WALL)
    barrier = file.call("Barrier", 4, 100, offset=0x30)
    abort = file.call("Abort", 0, 0, offset=0x50)
    file.write(tmp_path, ABORTED, ns=200, inside=abort, since=200, last=barrier)
    _, whole = told(tmp_path)
    assert early_ends(whole) == ["rank 0 called MPI_Abort at app+0x50"]


def test_ranks_that_reached_finalize_are_told_beside_those_that_did_not(tmp_path: Path) -> None:
    """Rank 2 ended early, as Python does after an exception: ranks 0 and 1 are not at fault."""
    report = job(tmp_path, [os.getpid()] * 3)
    CallsFile(2, 3, clock=BOOT, pid=os.getpid(), wall=WALL).write(report, FINISHED, ns=SECOND)
    assert early_ends(told(report)[1])[-1] == "rank 2 reached MPI_Finalize; the others may wait for it"
    for rank in range(3):
        CallsFile(rank, 3, clock=BOOT, pid=os.getpid(), wall=WALL).write(report, FINISHED, ns=SECOND)
    assert early_ends(told(report)[1]) == []
