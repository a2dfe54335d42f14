# SPDX-License-Identifier: BSD-3-Clause
"""What the report says of whole jobs: relations that hold however fast the machine is."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from jobs import compiled, compiled_example, compiled_extension, named, passes, run_job, source_of
from test_mpi4py import library, suite

from urakata import paths
from urakata.report.calls import read_all_calls
from urakata.report.events import read_events
from urakata.report.files import read_ranks
from urakata.report.hidden import Sample
from urakata.report.summary import summarise
from urakata.report.trace import trace_events


@pytest.mark.parametrize("engine", ("poll", "thread"))
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_a_late_rank_is_late_and_not_hidden(folder: Path, tmp_path: Path, name: str, engine: str) -> None:
    """Rank 1 begins every fourth Iallreduce after rank 0 has begun it: rank 0's wait is no communication."""
    mpi = named(name)
    options = ["--engine", engine, "--placement", "shared", "--report", str(tmp_path), "--"]
    passes(run_job(mpi, 2, [str(paths.program("urakata-exec")), *options, str(compiled(mpi, "late_rank", folder))]))
    (row,) = (row for row in summarise(tmp_path).rows if row.operation == "Iallreduce")
    assert row.started == 80
    assert len(row.seen) == 80  # all 40 instances, of both ranks
    late = row.late_ns
    assert late is not None
    assert 0 < late <= row.times["wait"].mean
    if row.hidden.share is not None:  # what was hidden cannot be longer than there was time to hide behind
        if row.hidden.own_ns:
            assert row.hidden.share * row.hidden.own_ns <= row.times["gap"].mean + 1
        else:
            most = [min(1.0, one.gap / one.life) for one in row.seen if one.life]
            assert row.hidden.share <= sum(most) / len(most) + 1e-9
    instances = [one for one in row.seen if one.own is not None]
    assert all(one.own <= one.life for one in instances if one.own is not None)


@pytest.mark.parametrize("engine", ("poll", "thread"))
def test_what_is_started_together_begins_together(folder: Path, tmp_path: Path, engine: str) -> None:
    """MPI_Startall hands many persistent collectives to their engine at once, also where a report is written."""
    mpi = named("openmpi")
    options = ["--engine", engine, "--placement", "shared", "--report", str(tmp_path), "--"]
    command = [str(paths.program("urakata-exec")), *options, str(compiled(mpi, "many_communicators", folder))]
    passes(run_job(mpi, 3, command))
    (told,) = (rank for rank in read_ranks(tmp_path) if rank["rank"] == 0)
    starts = [
        Sample(*row).begin
        for site in told["call_sites"]
        if site["operation"].startswith("Allreduce_init")
        for row in site["samples"]
    ]
    assert set(Counter(starts).values()) == {12}  # as many as it gives to each MPI_Startall


@pytest.mark.parametrize(("name", "engine"), (("openmpi", "poll"), ("mpich", "native")))
def test_what_a_larger_job_has_left_in_the_folder_is_not_in_the_report(
    folder: Path, tmp_path: Path, name: str, engine: str
) -> None:
    """Of three ranks, then of two: nobody has emptied the folder. All files of a job carry its number."""
    mpi = named(name)
    options = ["--engine", engine, "--report", str(tmp_path), "--"]
    command = [str(paths.program("urakata-exec")), *options, str(compiled(mpi, "self_messages", folder))]
    jobs = []
    for ranks in (3, 2):
        passes(run_job(mpi, ranks, command))
        summary = summarise(tmp_path)
        assert summary.whole is not None and summary.gaps == []
        assert (
            [rank["rank"] for rank in summary.ranks] == [rank.rank for rank in summary.whole.ranks] == [*range(ranks)]
        )
        jobs.append({rank["job"] for rank in summary.ranks} | {rank.job for rank in read_all_calls(tmp_path)})
    assert len(jobs[0]) == len(jobs[1]) == 1 and jobs[0] != jobs[1] and {0} not in jobs
    assert (tmp_path / "rank-2.json").exists()


@pytest.mark.parametrize(
    "options", (["--engine", "native"], ["--engine", "thread"], ["--space"]), ids=lambda words: words[-1]
)
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_the_time_line_has_all_messages_and_late_ranks(
    folder: Path, tmp_path: Path, name: str, options: list[str]
) -> None:
    """Of three ranks, on three communicators, of which the MPI library tells two apart by nothing but their ranks'
    order."""
    mpi = named(name)
    words = [str(paths.program("urakata-exec")), *options, "--report", str(tmp_path), "--timeline", "--"]
    outcome = run_job(mpi, 3, [*words, str(compiled(mpi, "timeline_messages", folder))])
    passes(outcome)
    expected = Counter(
        tuple(map(int, line.split()[1:])) for line in outcome.output.splitlines() if line.startswith("message ")
    )
    line = read_events(tmp_path)
    assert line is not None and len(expected) > 100
    found = Counter((one.sender, one.receiver, one.bytes, one.tag) for one in line.messages)
    if options == [
        "--engine",
        "native",
    ]:  # COMM_WORLD and its duplicate are taken for one; the third one's ring turns back
        expected = Counter({key: count for key, count in expected.items() if key[1] == (key[0] + 2) % 3})
    assert found == expected
    assert all(one.sent <= one.received for one in line.messages)
    # Rank 1 sleeps for 60 ms in front of the one, and for 40 in front of the other.
    late = [wait for wait in line.waits if wait.name == "Allreduce" and wait.end - wait.begin > 5_000_000]
    assert {(wait.rank, wait.late_rank) for wait in late} == {(0, 1), (2, 1)}
    shown = list(trace_events(line, read_ranks(tmp_path)))
    waits = {
        (one["pid"], one["args"]["operation"])
        for one in shown
        if one["name"] == "waits for rank 1" and one["dur"] > 5_000
    }
    assert waits >= {(0, "Allreduce"), (2, "Allreduce")}
    assert ("--engine" in options and options[1] == "native") or waits >= {(0, "Iallreduce"), (2, "Iallreduce")}


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_a_python_programs_calls_are_told_by_line(tmp_path: Path, name: str) -> None:
    """mpi4py releases the GIL around each of them."""
    mpi = named(name)
    program = source_of("python_lines.py")
    command = [str(paths.program("urakata-exec")), "--report", str(tmp_path), "--", suite()[0], str(program)]
    passes(run_job(mpi, 2, command, environment={"MPI4PY_LIBMPI": str(library(mpi))}))
    line_of = {
        line.rpartition("# ")[2]: n for n, line in enumerate(program.read_text().splitlines(), 1) if "  # " in line
    }
    # mpi4py calls the form with large counts where the MPI library has it.
    rows = summarise(tmp_path).rows
    assert {(row.place, row.operation.removesuffix("_c"), row.started, row.ranks) for row in rows} == {
        (f"{program}:{line_of['first']} in two", "Iallreduce", 20, 2),
        (f"{program}:{line_of['second']} in two", "Iallreduce", 20, 2),
        (f"{program}:{line_of['prepared']} in Solver.prepare", "Barrier_init", 6, 2),
    }


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_finding_the_line_holds_up_no_operation(tmp_path: Path, name: str) -> None:
    """The GIL is taken for it, and kept by another thread until the operation is done on the other rank."""
    mpi = named(name)
    compiled_extension(mpi, "gil_held", tmp_path)
    program = tmp_path / "program.py"
    program.write_text("import gil_held\n\ndef call():\n    assert gil_held.run() == 1\n\ncall()\n")
    options = ["--engine", "poll", "--report", str(tmp_path / "report"), "--"]
    passes(run_job(mpi, 2, [str(paths.program("urakata-exec")), *options, sys.executable, str(program)], seconds=60))
    (row,) = summarise(tmp_path / "report").rows
    assert row.place == f"{program}:4 in call"


def test_a_collective_of_ones_own_has_the_name_that_it_was_given(folder: Path, tmp_path: Path) -> None:
    mpi = named("openmpi")
    program = compiled_example(mpi, "own_collective", folder)
    passes(run_job(mpi, 2, [str(paths.program("urakata-exec")), "--report", str(tmp_path), "--", str(program)]))
    assert {row.operation for row in summarise(tmp_path).rows} == {"prefix sum"}


@pytest.mark.parametrize("space", (False, True))
def test_the_programs_own_messages_are_counted(folder: Path, tmp_path: Path, space: bool) -> None:
    """Two ranks, 12 rounds; what the MPI library carries without blocking does not tell how much came, nor who
    waited."""
    mpi = named("openmpi")
    options = ["--space"] * space + ["--report", str(tmp_path), "--"]
    passes(
        run_job(mpi, 2, [str(paths.program("urakata-exec")), *options, str(compiled(mpi, "counted_messages", folder))])
    )
    summary = summarise(tmp_path)
    carrier = "space" if space else "native"
    assert {row.operation: (row.carrier, row.messages, row.bytes) for row in summary.messages} == {
        "Irecv": (carrier, 24, 24 * 40000 if space else None),
        "Isend": (carrier, 24, 24 * 40000),
        "Send": (carrier, 12, 12 * 400),
        "Recv": (carrier, 12, 12 * 400),
        "Sendrecv": (carrier, 48, 48 * 24),
    }
    assert len(summary.messages) == 5  # a row each: nothing is noted of MPI_PROC_NULL
    assert {row.operation for row in summary.messages if row.wait_ns is None} == (
        set() if space else {"Irecv", "Isend"}
    )
    assert summary.rows == []
    assert [rank["space"]["ranks"] for rank in summary.ranks] == ([2, 2] if space else [0, 0])


def test_progress_threads_tell_their_time_and_their_cores(folder: Path, tmp_path: Path) -> None:
    """The one that the program chose, and the one for messages in a space, which runs on any core of the rank."""
    mpi = named("mpich")
    options = ["--space", "--engine", "thread", "--placement", "shared", "--report", str(tmp_path), "--"]
    passes(
        run_job(mpi, 2, [str(paths.program("urakata-exec")), *options, str(compiled(mpi, "counted_messages", folder))])
    )
    for rank in summarise(tmp_path).ranks:
        cores = [(thread["placement"], bool(thread["cpus"])) for thread in rank["progress_threads"]]
        assert ("shared core", True) in cores and ("messages and exchanges", False) in cores, cores


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_costs_of_a_file_change_the_algorithm(tmp_path: Path, name: str) -> None:
    """Where a message costs nothing but its bytes, the way on which each rank does its share is best at any size."""
    mpi = named(name)
    program = tmp_path / "program.py"
    program.write_text(
        "from mpi4py import MPI\n"
        "out = bytearray(512)\n"
        "MPI.COMM_WORLD.Iallreduce([bytearray(512), MPI.DOUBLE], [out, MPI.DOUBLE]).Wait()\n"
    )
    (tmp_path / "costs.toml").write_text("[node]\nstep = 0\nmessage = 0\n[common]\ntime_slice = 0\n")
    used: list[str] = []
    for more in ([], ["--costs", str(tmp_path / "costs.toml")]):
        (report := tmp_path / f"report{len(used)}").mkdir()
        options = ["--engine", "poll", *more, "--report", str(report), "--"]
        command = [str(paths.program("urakata-exec")), *options, suite()[0], str(program)]
        passes(run_job(mpi, 4, command, environment={"MPI4PY_LIBMPI": str(library(mpi))}))
        (row,) = summarise(report).rows
        used.append(row.algorithm)
    assert used[0] != "rabenseifner" and used[1] == "rabenseifner"
