# SPDX-License-Identifier: BSD-3-Clause
"""The profile of whole jobs: every MPI call is counted where it was made, whoever performs it, however the job ends."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from jobs import AS_ROOT, compiled, named, passes, run_job, source_of, temporary_files
from spaces import nothing_stays, until
from test_mpi4py import library, suite

from urakata import paths
from urakata.report.calls import read_all_calls
from urakata.report.errors import ReportError
from urakata.report.hang import early_ends
from urakata.report.summary import summarise
from urakata.report.whole import Whole

__all__ = ["nothing_stays"]  # around every test here

EXEC = str(paths.program("urakata-exec"))
BLOCK = 100 * 8

# Calls over both ranks, and the bytes that they send (or read or write); None: not known.
EXPECTED = {
    "Allgather": (6, 6 * BLOCK),
    "Scatter": (2, 2 * BLOCK),
    "Alltoall": (2, 2 * 2 * BLOCK),
    "Alltoallv": (2, None),
    "Bcast": (2, 2 * BLOCK),
    "Allreduce": (8, 8 * 8),
    "Iallreduce": (12, 12 * 8),
    "Wait": (12, None),
    "Sendrecv": (40, 40 * BLOCK),
    "Send": (2, 0),
    "Irecv": (14, None),
    "Isend": (14, 14 * BLOCK),
    "Waitall": (14, None),
    "File_open": (2, None),
    "File_write_at": (4, 4 * BLOCK),
    "File_close": (2, None),
    "Win_create": (2, None),
    "Put": (2, BLOCK),
    "Win_free": (2, None),
    "Comm_dup": (2, None),
    "Comm_free": (2, None),
    "Barrier": (10, None),
}


def whole_of(folder: Path) -> Whole:
    whole = summarise(folder).whole
    assert whole is not None
    return whole


def ends_of(folder: Path) -> list[str]:
    """How the ranks have ended: a launcher may end before the last one of them."""
    until(lambda: not whole_of(folder).alive, "a rank outlives its job")
    return early_ends(whole_of(folder))


@pytest.mark.parametrize("where", ("native", "poll", "thread", "space"))
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_every_call_is_counted_where_it_was_made(folder: Path, tmp_path: Path, name: str, where: str) -> None:
    mpi = named(name)
    report, data = tmp_path / "report", tmp_path / "data"
    options = ["--space"] if where == "space" else ["--engine", where, "--placement", "shared"]
    program = compiled(mpi, "all_kinds_of_calls", folder)
    outcome = run_job(mpi, 2, [EXEC, *options, "--report", str(report), "--", str(program), str(data)])
    passes(outcome)
    whole = whole_of(report)
    assert {rank.state for rank in whole.ranks} == {"finished"}
    fences = [row for row in whole.rows if row.operation == "Win_fence"]
    assert [row.calls for row in fences] == [2, 2]  # two places
    assert {row.operation: (row.calls, row.bytes) for row in whole.rows if row not in fences} == EXPECTED
    source = source_of("all_kinds_of_calls.c").read_text().splitlines()
    for row in whole.rows:
        place, _, line = row.place.rpartition(":")
        assert place.endswith("all_kinds_of_calls.c")
        nearby = source[int(line) - 1 : int(line) + 2]  # an instruction may be told as one of the line after
        assert any(f"MPI_{row.operation}(" in text for text in (source[int(line) - 2], *nearby)), row
        assert row.least_ns * row.calls <= row.ns <= row.most_ns * row.calls
    (barrier,) = (row for row in whole.rows if row.operation == "Barrier")
    # Each rank's own, and no more than it has measured around them: rank 1, for which rank 0 waits, has little.
    measured = {int(rank): int(ns) for rank, ns in re.findall(r"rank (\d): barriers (\d+) ns", outcome.output)}
    assert measured.keys() == barrier.by_rank.keys() == {0, 1}
    assert all(0 < barrier.by_rank[rank] <= measured[rank] for rank in measured), (barrier.by_rank, measured)
    assert all(0 < rank.mpi_ns <= rank.run_ns for rank in whole.ranks)
    # What Urakata handled is told in the same places as before.
    if where in ("poll", "thread"):
        assert [(row.operation, row.started) for row in summarise(report).rows] == [("Iallreduce", 12)]


@pytest.mark.parametrize("where", ("poll", "space"))
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_a_job_that_is_killed_tells_where_each_rank_was(folder: Path, tmp_path: Path, name: str, where: str) -> None:
    mpi = named(name)
    report, data = tmp_path / "report", tmp_path / "data"
    options = ["--space"] if where == "space" else []
    program = compiled(mpi, "all_kinds_of_calls", folder)
    command = [*mpi.launch(2), EXEC, *options, "--report", str(report), "--", str(program), str(data), "hang"]

    def where_they_are() -> list[str]:
        ranks = read_all_calls(report)
        return [
            f"{rank.inside.operation} after {sum(call.calls for call in rank.calls)}"
            for rank in ranks
            if rank.inside is not None
        ]

    with temporary_files() as files:
        job = subprocess.Popen(
            command,
            env={**os.environ, **mpi.environment, **AS_ROOT, **files},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:  # while it runs the same is there to read
            calls = sum(count for count, _ in EXPECTED.values()) // 2 + 2  # and the fences
            hanging = [f"Recv after {calls}", f"Barrier after {calls}"]
            until(lambda: where_they_are() == hanging or job.poll() is not None, "the job does not get there")
            assert where_they_are() == hanging
        finally:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()
    source = source_of("all_kinds_of_calls.c").read_text().splitlines()
    line_of = {text.rpartition("// ")[2]: number for number, text in enumerate(source, 1)}
    first, second = ends_of(report)
    begin = "did not reach MPI_Finalize; it was inside"
    assert first.startswith(f"rank 0 {begin} Recv at "), first
    assert f":{line_of['the receive']}, begun" in first
    assert second.startswith(f"rank 1 {begin} Barrier at "), second
    assert f":{line_of['the barrier']}, begun" in second
    assert summarise(report).ranks == []


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_a_job_that_aborts_leaves_its_profile(folder: Path, tmp_path: Path, name: str) -> None:
    mpi = named(name)
    report, data = tmp_path / "report", tmp_path / "data"
    program = compiled(mpi, "all_kinds_of_calls", folder)
    outcome = run_job(mpi, 2, [EXEC, "--report", str(report), "--", str(program), str(data), "abort"])
    assert outcome.code != 0
    aborter, other = ends_of(report)
    source = source_of("all_kinds_of_calls.c").read_text().splitlines()
    (line,) = (number for number, text in enumerate(source, 1) if "MPI_Abort(MPI" in text)
    assert re.fullmatch(f"rank 0 called MPI_Abort at .*all_kinds_of_calls.c:{line}", aborter), aborter
    # Rank 0 may be out of the last barrier, and abort, before rank 1 is.
    assert re.fullmatch(
        "rank 1 did not reach MPI_Finalize; it was (in no call of MPI; its last.*|inside Barrier at .*)", other
    )
    assert {row.operation: row.calls for row in whole_of(report).rows}["Sendrecv"] == 40


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_a_python_programs_calls_are_told_by_its_lines(tmp_path: Path, name: str) -> None:
    """Python loads its MPI late, by mpi4py."""
    mpi = named(name)
    program = tmp_path / "program.py"
    program.write_text(
        "from mpi4py import MPI\n"
        "world = MPI.COMM_WORLD\n"
        "def step():\n"
        "    world.Barrier()\n"
        "    world.Allreduce(bytearray(4), bytearray(4))\n"
        "for _ in range(5):\n"
        "    step()\n"
        "world.Dup().Free()\n"
    )
    command = [EXEC, "--report", str(tmp_path / "report"), "--", suite()[0], str(program)]
    passes(run_job(mpi, 2, command, environment={"MPI4PY_LIBMPI": str(library(mpi))}))
    rows = {(row.operation.removesuffix("_c"), row.place): row.calls for row in whole_of(tmp_path / "report").rows}
    assert rows[("Barrier", f"{program}:4 in step")] == 10
    assert rows[("Allreduce", f"{program}:5 in step")] == 10
    assert rows[("Comm_dup", f"{program}:8 in <module>")] == 2
    assert rows[("Comm_free", f"{program}:8 in <module>")] == 2


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_a_python_program_that_hangs_tells_its_line(tmp_path: Path, name: str) -> None:
    """Of the call that it is in, and of a rank that is in none its last one. The next command knows Python."""
    mpi, report = named(name), tmp_path / "report"
    program = tmp_path / "program.py"
    program.write_text(
        "from mpi4py import MPI\n"
        "import time\n"
        "world = MPI.COMM_WORLD\n"
        "def step():\n"
        "    world.Barrier()\n"
        "    if world.rank == 1:\n"
        "        time.sleep(1000)\n"
        "    world.Recv(bytearray(4), source=1)\n"
        "step()\n"
    )
    environment = {**os.environ, **mpi.environment, **AS_ROOT, "MPI4PY_LIBMPI": str(library(mpi))}
    command = [*mpi.launch(2), EXEC, "--report", str(report), "--", suite()[0], str(program)]

    def lines() -> list[str]:
        try:
            return early_ends(whole_of(report))
        except ReportError:
            return []  # there is no file yet

    with temporary_files() as files:
        job = subprocess.Popen(
            command,
            env={**environment, **files},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            until(lambda: f"{program}:8 in step" in str(lines()) or job.poll() is not None, "its line is not told")
            first, second = lines()
            here = "has not reached MPI_Finalize; it is"
            assert re.fullmatch(rf"rank 0 {here} inside Recv(_c)? at {program}:8 in step, for .*", first), first
            last = f"rank 1 {here} in no call of MPI; its last one was Barrier at {program}:5 in step, which ended"
            assert second.startswith(last) and second.endswith(" ago"), second
            (step, typed) = summarise(report).next or ("", "")
            assert step.startswith("Look into rank") and typed.startswith("py-spy dump --pid ")
        finally:
            os.killpg(job.pid, signal.SIGKILL)
            job.wait()


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_the_report_is_that_of_the_first_ranks(folder: Path, tmp_path: Path, name: str) -> None:
    """Of those that they spawn there is none, whose files would have the same names."""
    mpi = named(name)
    program = str(compiled(mpi, "spawned_report", folder))
    passes(run_job(mpi, 2, [EXEC, "--report", str(tmp_path), "--", program, EXEC, str(tmp_path)]))
    summary = summarise(tmp_path)
    assert summary.whole is not None
    assert [rank.state for rank in summary.whole.ranks] == ["finished"] * 2
    assert {row.operation: row.calls for row in summary.whole.rows if row.operation != "Barrier"} == {
        "Comm_spawn": 2,
        "Comm_disconnect": 2,
    }
    assert sum(row.calls for row in summary.whole.rows if row.operation == "Barrier") == 6
    assert all(rank["program"].split()[0] == program for rank in summary.ranks)


# MPICH's error handlers may not be left at the level of many threads, which its polling thread needs.
@pytest.mark.parametrize(("name", "engine"), (("openmpi", "poll"), ("openmpi", "native"), ("mpich", "native")))
def test_calls_that_are_left_and_calls_in_callbacks(folder: Path, tmp_path: Path, name: str, engine: str) -> None:
    """What is left by longjmp has no time, and hides nothing that comes later; what a callback calls is part of the
    call that called it, whose time goes on to its own end, and has times of its own where Urakata handles it."""
    options = ["--engine", engine, "--report", str(tmp_path)]
    program = str(compiled(named(name), "longjmp_and_nested_calls", folder))
    passes(run_job(named(name), 2, [EXEC, *options, "--", program]))
    summary = summarise(tmp_path)
    assert summary.whole is not None
    assert [rank.state for rank in summary.whole.ranks] == ["finished"] * 2
    calls = sorted((row.operation, row.calls) for row in summary.whole.rows)
    assert calls == [("Barrier", 6), ("Comm_dup", 2), ("Comm_dup", 10), ("Comm_free", 10), ("Comm_split", 2)]
    (dup,) = (row for row in summary.whole.rows if row.calls == 10 and row.operation == "Comm_dup")
    assert dup.least_ns >= 2 * 20_000_000
    for inside in summary.rows:
        assert (inside.operation, inside.started) == ("Iallreduce", 10)
        assert inside.times["start"].min < 20_000_000  # of ten: it does not begin with the call that it is inside of
    assert len(summary.rows) == (engine == "poll")


@pytest.mark.parametrize("program", ("nbc_f08", "nbc_mpif"))
@pytest.mark.parametrize("name", ("system-openmpi", "system-mpich"))
def test_a_fortran_programs_calls_are_told_by_its_lines(folder: Path, tmp_path: Path, name: str, program: str) -> None:
    """Not by those of the MPI library's library that Fortran calls; in the whole program as where Urakata handled the
    call."""
    mpi = named(name)
    passes(
        run_job(
            mpi, 2, [EXEC, "--engine", "poll", "--report", str(tmp_path), "--", str(compiled(mpi, program, folder))]
        )
    )
    source = source_of(f"{program}.f*")
    lines = source.read_text().lower().splitlines()
    summary = summarise(tmp_path)
    assert summary.whole is not None
    told = {(row.operation, row.place) for row in summary.whole.rows} | {
        (row.operation, row.place) for row in summary.rows
    }
    assert {operation for operation, _ in told} >= {
        "Iallreduce",
        "Ibcast",
        "Iallgather",
        "Waitall",
        "Waitany",
        "Testall",
    }
    for operation, place in told:
        file, _, line = place.rpartition(":")
        assert file == str(source), (operation, place)
        call = "\n".join(lines[int(line) - 3 : int(line) + 1])  # of several lines
        assert f"mpi_{operation.lower()}(" in call, (operation, place)
