# SPDX-License-Identifier: BSD-3-Clause
"""The last lines of the report: what to try for this program, why, and the command that measures it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from calls_file import RUNNING, CallsFile
from test_report import rank, site, times
from typer.testing import CliRunner

from urakata.cli import build_app
from urakata.report.page import page
from urakata.report.summary import as_json, summarise
from urakata.report.verdict import Verdict, verdict

SPACE = {"asked": False, "ranks": 0, "why": ""}
IN_SPACE = {"asked": True, "ranks": 2, "why": ""}
ENGINE = [{"name": "ENGINE", "value": "thread", "origin": "default"}]

Calls = dict[str, tuple[int, int, int]]  # by operation: calls, ns, bytes of each


def write(
    folder: Path,
    calls: list[Calls],
    hosts: list[str] | None = None,
    run: int = 1_000_000,
    cpu: list[float] | None = None,
    **changes: Any,
) -> None:
    """Each rank runs for `run` ns, calls that, and has `cpu` seconds of a core."""
    for number, of_rank in enumerate(calls):
        own = {"caller_cpu_seconds": cpu[number]} if cpu else {}
        file = CallsFile(number, len(calls), (hosts or ["node"] * len(calls))[number])
        for place, (operation, (count, ns, size)) in enumerate(of_rank.items()):
            file.call(operation, count, ns, sized=count if size else 0, size=count * size, offset=0x10 * (place + 1))
        file.write(folder, ns=run)
        values = {"space": SPACE, "call_sites": [], "options": ENGINE, "ranks": len(calls), **changes, **own}
        (folder / f"rank-{number}.json").write_text(json.dumps(rank(number, **values)))


def said(folder: Path) -> Verdict:
    found = verdict(summarise(folder))
    assert found is not None
    return found


LITTLE: Calls = {"Allreduce": (10, 20_000, 8)}
MESSAGES: Calls = {"Sendrecv": (10, 300_000, 4096), "Allreduce": (10, 20_000, 8)}
REDUCES: Calls = {"Allreduce": (10, 300_000, 8)}


def test_where_little_is_in_mpi_there_is_nothing_to_try(tmp_path: Path) -> None:
    write(tmp_path, [LITTLE, LITTLE])
    assert said(tmp_path) == Verdict("", ["only 2.0 % of the run is in MPI, so little can be gained"])


def test_messages_of_ranks_that_share_a_node_are_told_of_a_space(tmp_path: Path) -> None:
    write(tmp_path, [MESSAGES, MESSAGES])
    reason = "30 % of the run is messages, and the ranks share a node"
    command = "urakata compare -n 2 -- ./app"
    assert said(tmp_path) == Verdict("--space", [reason], command)
    text = CliRunner().invoke(build_app(), ["report", str(tmp_path)]).output.splitlines()
    assert text[-3:] == [f"Try --space: {reason}.", "Whether it pays:", f"  {command}"]
    assert reason in page(summarise(tmp_path)) and command in page(summarise(tmp_path))
    assert as_json(summarise(tmp_path))["verdict"]["try"] == "--space"


@pytest.mark.parametrize(
    ("changes", "hosts", "words"),
    (
        ({"space": IN_SPACE}, None, ", which go through one address space already"),
        ({}, ["a", "b"], " between nodes"),
    ),
)
def test_no_space_where_there_is_one_or_none_can_be(
    tmp_path: Path, changes: dict[str, Any], hosts: list[str] | None, words: str
) -> None:
    write(tmp_path, [MESSAGES, MESSAGES], hosts, **changes)
    assert said(tmp_path) == Verdict("", [f"30 % of the run is messages (most of it in MPI_Sendrecv){words}"])


def test_small_reductions_are_named_and_left(tmp_path: Path) -> None:
    write(tmp_path, [REDUCES, REDUCES])
    (reason,) = said(tmp_path).reasons
    assert reason.startswith("30 % of the run is small collectives (most of it in MPI_Allreduce). Their non-blocking")
    assert said(tmp_path).what == ""


def test_imbalance_is_a_sentence(tmp_path: Path) -> None:
    """Rank 1 computes for 900 us, rank 0 for 600, and waits for it; both have 100 us in MPI of their own."""
    late, waits = {"Allreduce": (10, 100_000, 8)}, {"Allreduce": (10, 400_000, 8)}
    write(tmp_path, [waits, late])
    words = "rank 1 computes 50 % longer than rank 0, which waits for it (15 % of the run on average). Balance the work"
    assert said(tmp_path) == Verdict("", [words])
    write(tmp_path, [waits, late, waits, late, waits, waits])
    (reason,) = said(tmp_path).reasons
    assert reason.startswith(
        "ranks 1, 3 compute 50 % longer than the others, which wait for them (20 % of the run on average)"
    )


def test_imbalance_stands_beside_what_can_be_tried(tmp_path: Path) -> None:
    write(tmp_path, [{**MESSAGES, "Barrier": (1, 200_000, 0)}, MESSAGES])
    sentences = said(tmp_path).sentences
    assert sentences[0].startswith("Try --space: 30 % of the run is messages")
    assert (
        sentences[1]
        == "Rank 1 computes 42 % longer than rank 0, which waits for it (10 % of the run on average): balance the work."
    )


def test_waiting_that_computation_could_hide_asks_for_a_progress_thread(tmp_path: Path) -> None:
    """10 waits of 30 us, behind 50 us of computation each."""
    calls: Calls = {"Iallreduce": (10, 10_000, 8), "Wait": (10, 300_000, 0)}
    changed = site(wait=times(10, 300_000), gap=times(10, 500_000))
    write(tmp_path, [calls, calls], call_sites=[changed])
    reason = "30 % of the run is waiting for MPI_Iallreduce, with computation to hide it behind"
    assert said(tmp_path).what == "a progress thread (--placement shared) or fewer ranks"
    assert said(tmp_path).reasons == [reason]
    for engine, asked, what in (
        ("poll", "poll", "a progress thread (--engine thread)"),
        ("native", "native", "it without --engine native"),
        ("thread/spare", "thread", ""),
    ):
        options = [{"name": "ENGINE", "value": asked, "origin": "command line"}]
        write(tmp_path, [calls, calls], call_sites=[{**changed, "engine": engine}], options=options)
        assert said(tmp_path).what == what
    shared = {**changed, "engine": "thread/shared"}
    write(tmp_path, [calls, calls], call_sites=[shared])
    assert said(tmp_path).what == "fewer ranks"


WAITS: Calls = {"Iallreduce": (10, 10_000, 8), "Wait": (10, 300_000, 0)}


def test_where_little_is_in_mpi_the_sentence_says_what_the_rows_could_gain(tmp_path: Path) -> None:
    """10 waits of 30 us, behind 50 us of computation each, in a run of 100 ms: 0.3 % of it."""
    changed = site(wait=times(10, 300_000), gap=times(10, 500_000), engine="thread/shared")
    write(tmp_path, [WAITS, WAITS], run=100_000_000, call_sites=[changed])
    assert summarise(tmp_path).rows[0].switch.startswith("yes: run with fewer ranks")
    assert said(tmp_path).sentences == [
        "Nothing is worth a try: only 0.3 % of the run is in MPI, so little can be gained.",
        "What the call sites with a yes could hide is 0.3 % of the run.",
    ]


@pytest.mark.parametrize("engine", ("native", "poll", "thread/shared", "thread/spare"))
@pytest.mark.parametrize("asked", ("native", "poll", "thread"))
@pytest.mark.parametrize("algorithm", ("ring", "channels", "persistent messages"))
@pytest.mark.parametrize("wait", (15_000, 30_000))
@pytest.mark.parametrize("gap", (8_000, 14_000, 50_000))
def test_rows_and_sentence_agree(tmp_path: Path, engine: str, asked: str, algorithm: str, wait: int, gap: int) -> None:
    """The waiting is 15 or 30 % of the run. Whether the row says yes rests on all of these; the sentence follows it."""
    changed = site(wait=times(10, 10 * wait), gap=times(10, 10 * gap), engine=engine, algorithm=algorithm)
    options = [{"name": "ENGINE", "value": asked, "origin": "command line"}]
    write(tmp_path, [WAITS, WAITS], call_sites=[changed], options=options)
    yes = summarise(tmp_path).rows[0].switch.startswith("yes: ")
    assert bool(said(tmp_path).what) == yes, (summarise(tmp_path).rows[0].switch, said(tmp_path))


def test_more_ranks_than_cores_are_too_many(tmp_path: Path) -> None:
    write(tmp_path, [MESSAGES] * 4, node_cores=2, node_ranks=4)
    commands = [f"urakata run -n {ranks} --report report-{ranks} -- ./app" for ranks in (4, 2)]
    reason = "node<1> has 2 cores for 4 ranks, which wait for their turns"
    assert said(tmp_path) == Verdict("fewer ranks", [reason], "\n".join(commands))
    text = CliRunner().invoke(build_app(), ["report", str(tmp_path)]).output.splitlines()
    whether = "Whether it pays: run both, and compare the times of the whole program:"
    assert text[-4:] == [f"Try fewer ranks: {reason}.", whether, *(f"  {command}" for command in commands)]


SECOND = 1_000_000_000
BUSY = (
    "Rank 0 had at most 33 % of a core while it computed: the machine was busy, or the program slept or read files. "
    "So these times may mislead"
)


def test_a_rank_that_did_not_get_its_core_is_told_first_and_not_taken_for_the_programs_imbalance(
    tmp_path: Path,
) -> None:
    """Rank 0 is outside MPI for 3 of 4 s, with 0.75 s of a core and 0.25 s of its progress thread; rank 1 waits for
    it."""
    late, waits = {"Allreduce": (10, SECOND, 8)}, {"Allreduce": (10, 3 * SECOND, 8)}
    write(tmp_path, [late, waits], run=4 * SECOND, cpu=[0.75, 3.9])
    assert said(tmp_path).sentences[0] == f"{BUSY}."
    waiting = "25 % of the run is waiting for ranks that come later, perhaps only since they did not get their cores"
    assert said(tmp_path).reasons == [waiting]
    assert BUSY in page(summarise(tmp_path))
    less: Calls = {"Allreduce": (10, 14 * SECOND // 10, 8)}
    write(tmp_path, [less, waits], run=4 * SECOND, cpu=[0.75, 3.9])
    (reason,) = said(tmp_path).reasons  # of imbalance, a fifth of the run, no sentence
    assert reason.startswith("35 % of the run is small collectives")
    messages: Calls = {"Sendrecv": (10, SECOND, 4096)}
    write(tmp_path, [messages, {"Sendrecv": (10, 3 * SECOND, 4096)}], run=4 * SECOND, cpu=[0.75, 3.9])
    assert [one[:12] for one in said(tmp_path).sentences] == ["Rank 0 had a", "Try --space:", "Whether it p"]


def test_ranks_with_their_cores_and_those_of_too_many_are_in_no_doubt(tmp_path: Path) -> None:
    """More ranks than cores are the reason already."""
    late, waits = {"Allreduce": (10, SECOND, 8)}, {"Allreduce": (10, 3 * SECOND, 8)}
    write(tmp_path, [late, waits], run=4 * SECOND, cpu=[2.9, 3.9])
    assert said(tmp_path).doubt == "" and said(tmp_path).reasons[0].endswith("Balance the work")
    write(tmp_path, [late, waits] * 2, run=4 * SECOND, cpu=[0.75, 3.9] * 2, node_cores=2, node_ranks=4)
    assert (said(tmp_path).what, said(tmp_path).doubt, len(said(tmp_path).reasons)) == ("fewer ranks", "", 1)


def test_it_says_which_ranks_it_rests_on(tmp_path: Path) -> None:
    write(tmp_path, [MESSAGES] * 4)
    for name in ("rank-2.json", "calls-3.bin", "rank-3.json"):
        (tmp_path / name).unlink()
    assert said(tmp_path).reasons[-1] == "This rests on ranks 0-1 of 4"


def test_of_a_job_that_did_not_end_there_is_none(tmp_path: Path) -> None:
    write(tmp_path, [MESSAGES, MESSAGES])
    CallsFile(1, 2).write(tmp_path, RUNNING)
    assert verdict(summarise(tmp_path)) is None
