# SPDX-License-Identifier: BSD-3-Clause
"""The program's own messages: random traffic in all modes, alone and inside a space."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from jobs import FULL, LONG_TEST_NAMES, MPI_NAMES, compiled, compiled_outside, named, passes, run_job
from merging import merged, needs_spawned
from spaces import EXEC, SPACE, space_job

from urakata.hosts import Hosts, available
from urakata.report.summary import summarise

ROUNDS = "800" if FULL else "40"
SECONDS = 900 if FULL else 120
STATUS_QUERIES = ("get_status", "get_status_some")
needs_hosts = pytest.mark.skipif(not available()[0], reason=f"no test hosts here: {available()[1]}")


@pytest.mark.parametrize("ranks", (2, 3, 5))
@pytest.mark.parametrize("name", MPI_NAMES)
def test_random_messages_arrive_as_sent(folder: Path, name: str, ranks: int) -> None:
    mpi = named(name)
    program = [str(compiled(mpi, "random_messages", folder)), "--rounds", ROUNDS, "--seed", str(ranks)]
    passes(space_job(mpi, ranks, program, seconds=SECONDS))


@pytest.mark.parametrize("ranks", (2, 3) if FULL else (3,))
@pytest.mark.parametrize("name", LONG_TEST_NAMES)
def test_persistent_and_ordinary_messages_mixed(folder: Path, name: str, ranks: int) -> None:
    """Persistent requests get matched persistent pairs. Anything else that could take their messages ends the pair."""
    mpi = named(name)
    rounds = "12000" if FULL else "300"  # some 100 000 messages and more
    program = [str(compiled(mpi, "matched_pairs", folder)), "--rounds", rounds, "--seed", str(ranks)]
    passes(space_job(mpi, ranks, program, seconds=SECONDS))


@pytest.mark.parametrize(("within", "without"), ((2, 2), (3, 1), (2, 1)) if FULL else ((2, 1),))
@pytest.mark.parametrize("name", LONG_TEST_NAMES)
def test_ranks_in_and_out_of_a_space(folder: Path, name: str, within: int, without: int) -> None:
    """Some ranks cannot live in the space: messages with them are the MPI library's, and wildcards see both."""
    mpi = named(name)
    options = ["--rounds", ROUNDS, "--seed", str(10 * within + without)]
    inside = [*SPACE, str(compiled(mpi, "random_messages", folder)), *options]
    outside = [*SPACE, str(compiled_outside(mpi, "random_messages", folder)), *options]
    job = [*inside, ":", "-n", str(without), *outside]
    outcome = run_job(mpi, within, job, seconds=SECONDS, environment={"URAKATA_VERBOSE": "3"})
    passes(outcome)
    assert f"{within} of {within + without} ranks share this rank's space" in outcome.output
    said = f"{without} of {within + without} ranks run as ordinary processes, outside the space; this one: it is not"
    assert outcome.output.count(said) == 1, outcome.output[-4000:]


@pytest.mark.parametrize("name", LONG_TEST_NAMES)
def test_ranks_may_differ_in_what_copying_costs(folder: Path, name: str) -> None:
    """Two ranks share whatever is longer than a line, in pieces of one; the third goes by the defaults."""
    mpi = named(name)
    program = [str(compiled(mpi, "random_messages", folder)), "--rounds", ROUNDS, "--seed", "7"]
    costs = ",".join(
        f"copy.{key}"
        for key in (
            "pack_below=1",
            "share_from=64",
            "share_plain_from=64",
            "exchange_most=0",
            "piece_least=64",
            "piece_most=64",
        )
    )
    outcome = run_job(mpi, 2, [EXEC, "--space", "--costs", costs, "--", *program, ":", "-n", "1", *SPACE, *program])
    passes(outcome)
    assert "rank 2: COSTS;" in outcome.output


@pytest.mark.parametrize("without", (0, 1))
@pytest.mark.parametrize("name", MPI_NAMES)
def test_threads_at_once(folder: Path, name: str, without: int) -> None:
    mpi = named(name)
    options = ["3", "400" if FULL else "40"]
    inside = [str(compiled(mpi, "threads_messages", folder)), *options]
    outside = [*SPACE, str(compiled_outside(mpi, "threads_messages", folder)), *options]
    job = inside if without == 0 else [*inside, ":", "-n", str(without), *outside]
    passes(space_job(mpi, 3, job, seconds=SECONDS))


@pytest.mark.parametrize("name", MPI_NAMES)
def test_threads_that_complete_for_another_leave_nothing(folder: Path, name: str) -> None:
    mpi = named(name)
    passes(space_job(mpi, 2, [str(compiled(mpi, "memory_of_ended_threads", folder))]))


@pytest.mark.parametrize("without", (0, 1))
@pytest.mark.parametrize("name", MPI_NAMES)
def test_progress_while_a_rank_is_in_the_library(folder: Path, name: str, without: int) -> None:
    mpi = named(name)
    inside = [str(compiled(mpi, "message_progress", folder))]
    outside = [*SPACE, str(compiled_outside(mpi, "message_progress", folder)), "early"]
    job = inside if without == 0 else [*inside, "early", ":", "-n", str(without), *outside]
    passes(space_job(mpi, 3, job))


@pytest.mark.parametrize("way", ("test", "testall", "testany", "testsome", "waitany", "waitsome", *STATUS_QUERIES))
@pytest.mark.parametrize("name", MPI_NAMES)
def test_both_ranks_send_first(folder: Path, name: str, way: str) -> None:
    mpi = named(name)
    passes(space_job(mpi, 2, [str(compiled(mpi, "send_before_receive", folder)), way]))


@pytest.mark.parametrize("name", MPI_NAMES)
def test_messages_without_a_request_are_not_lost(folder: Path, name: str) -> None:
    mpi = named(name)
    outcome = space_job(mpi, 2, [str(compiled(mpi, "requests_exhausted", folder)), "messages"])
    passes(outcome)
    assert outcome.output.count("4096 requests of Urakata are in use at once and there is no memory for more") == 1


@pytest.mark.parametrize("how", ("one", "all"))
@pytest.mark.parametrize("name", LONG_TEST_NAMES)
def test_where_one_rank_has_no_memory_messages_and_exchanges_end(folder: Path, name: str, how: str) -> None:
    mpi = named(name)
    outcome = space_job(mpi, 3, [str(compiled(mpi, "no_memory", folder)), how, "200"])
    if name == "system-mpich" and "Fatal error in internal_Test: Message truncated" in outcome.output:
        pytest.skip("MPICH 4.0.2 ends the job at a truncated message in MPI_Test, whatever the error handler")
    passes(outcome)
    refused = re.search(r"(\d+) allocations failed", outcome.output)
    assert refused is not None and int(refused[1]) > 300, outcome.output  # most by plans and halos


@pytest.mark.parametrize("name", LONG_TEST_NAMES)
def test_without_memory_for_a_copy_to_a_rank_outside_the_space(folder: Path, name: str) -> None:
    mpi = named(name)
    inside, outside = (str(make(mpi, "no_memory", folder)) for make in (compiled, compiled_outside))
    outcome = run_job(mpi, 2, [*SPACE, inside, "outside", "5", ":", "-n", "1", *SPACE, outside, "outside", "5"])
    passes(outcome)
    assert "\n0 allocations failed" not in f"\n{outcome.output}"


@pytest.mark.parametrize("ranks", (3, 4))
@pytest.mark.parametrize("name", LONG_TEST_NAMES)
def test_merged_halves_equal_the_librarys(folder: Path, tmp_path: Path, name: str, ranks: int) -> None:
    """A communicator of MPI_Intercomm_merge: its messages and collectives, which are ours."""
    mpi = named(name)
    program = [str(compiled(mpi, "merged_intercommunicator", folder))]
    outcomes = (
        run_job(mpi, ranks, program),
        space_job(mpi, ranks, program, environment={"URAKATA_REPORT": str(tmp_path)}),
    )
    for outcome in outcomes:
        passes(outcome)
    of_library, inside = (merged(outcome.output) for outcome in outcomes)
    assert inside == of_library and len(inside) == ranks, inside
    engines = {row.operation: row.engine for row in summarise(tmp_path).rows}
    assert engines["Ialltoall"] == engines["Iallreduce"] != "native", engines


@pytest.mark.parametrize("others", ("alone", "space"))
@pytest.mark.parametrize(
    "name",
    (
        "openmpi",
        pytest.param("mpich", marks=pytest.mark.skip(reason="MPICH 5 alone at times hangs after MPI_Comm_spawn")),
        pytest.param("impi", marks=pytest.mark.skip(reason="Intel MPI alone crashes in MPI_Comm_spawn")),
    ),
)
def test_merged_with_ranks_that_they_start_they_are_the_librarys(
    folder: Path, tmp_path: Path, name: str, others: str
) -> None:
    """Two ranks in a space and two that these start, on the MPI library alone or in a space, too: what all got is what
    four ranks get of one another, and nothing of ours had a part in it."""
    mpi = named(name)
    program = str(compiled(mpi, "merged_intercommunicator", folder))
    of_one_world = merged(run_job(mpi, 4, [program]).output)
    start = [*(SPACE if others == "space" else []), program]
    environment = {"URAKATA_REPORT": str(tmp_path), "PMIX_MCA_gds": "hash"}  # docs/use-a-space.md
    outcome = space_job(mpi, 2, [program, *start], environment=environment)
    needs_spawned(mpi, outcome)
    passes(outcome)
    assert merged(outcome.output) == of_one_world and len(of_one_world) == 4, outcome.output
    summary = summarise(tmp_path)
    assert [rank["space"]["ranks"] for rank in summary.ranks] == [2, 2]
    assert summary.rows == []  # collectives that we handle
    assert {row.carrier for row in summary.messages} == {"native"}
    assert {"Isend", "Irecv", "Issend", "Ibsend", "Rsend", "Sendrecv"} <= {row.operation for row in summary.messages}
    whole = summary.whole
    assert whole is not None and {"Comm_spawn", "Neighbor_alltoall"} <= {row.operation for row in whole.rows}


@pytest.mark.parametrize("name", MPI_NAMES)
def test_disconnecting_waits_for_requests_given_back(folder: Path, name: str) -> None:
    mpi = named(name)
    passes(space_job(mpi, 2, [str(compiled(mpi, "disconnect_with_freed_requests", folder))]))


@pytest.mark.parametrize("name", MPI_NAMES)
def test_disconnecting_while_another_thread_waits(folder: Path, name: str) -> None:
    mpi = named(name)
    passes(space_job(mpi, 2, [str(compiled(mpi, "disconnect_while_another_waits", folder))]))


@pytest.mark.parametrize("name", LONG_TEST_NAMES)
def test_disconnecting_while_another_thread_waits_for_any_source(folder: Path, name: str) -> None:
    """With a rank outside of the space: the message may be the MPI library's."""
    mpi = named(name)
    inside, outside = (
        str(make(mpi, "disconnect_while_another_waits", folder)) for make in (compiled, compiled_outside)
    )
    passes(run_job(mpi, 2, [*SPACE, inside, "300", "any", ":", "-n", "1", *SPACE, outside, "300", "any"]))


@pytest.mark.parametrize("name", MPI_NAMES)
def test_sends_that_have_left_are_not_cancelled(folder: Path, name: str) -> None:
    mpi = named(name)
    passes(space_job(mpi, 2, [str(compiled(mpi, "cancelled_sends", folder))]))


@pytest.mark.parametrize("name", MPI_NAMES)
def test_messages_that_may_overtake(folder: Path, name: str) -> None:
    mpi = named(name)
    inside = [str(compiled(mpi, "overtaking", folder))]
    passes(space_job(mpi, 2, [*inside, ":", "-n", "1", *SPACE, str(compiled_outside(mpi, "overtaking", folder))]))


@needs_hosts
@pytest.mark.parametrize(("name", "rounds", "messages"), (("openmpi", ROUNDS, "40"), ("mpich", "2", "10")))
def test_spaces_of_two_hosts(folder: Path, name: str, rounds: str, messages: str) -> None:
    """Two hosts with a space of two ranks each, and communicators of both. MPICH 5 alone hangs in more traffic."""
    program = str(compiled(named(name), "random_messages", folder))
    job = [*SPACE, program, "--rounds", rounds, "--messages", messages, "--seed", "7"]
    with Hosts(count=2) as hosts:
        done = hosts.run(job, ranks_per_host=2, mpi_name=name, timeout=SECONDS)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "messages, seed 7" in done.stdout and "ordinary process" not in done.stderr


@pytest.mark.parametrize("name", MPI_NAMES)
def test_errors_are_those_of_the_library(folder: Path, name: str) -> None:
    """Truncation, and wrong ranks, tags, counts, types and buffers: the same classes, handlers and statuses."""
    if name == "system-openmpi":
        pytest.skip("Open MPI 4.1 alone ends the job at the first wrong argument of a persistent request")
    mpi = named(name)
    program = [str(compiled(mpi, "message_errors", folder)), "all" if name == "openmpi" else "first"]
    alone = run_job(mpi, 2, program)
    passes(alone)
    within = space_job(mpi, 2, program)
    passes(within)
    assert within.output.splitlines() == alone.output.splitlines()


@pytest.mark.parametrize("how", ("any", "some", "all"))
@pytest.mark.parametrize("name", MPI_NAMES)
def test_a_rank_that_waits_sleeps(folder: Path, name: str, how: str) -> None:
    mpi = named(name)
    passes(space_job(mpi, 2, [str(compiled(mpi, "wait_properties", folder)), "asleep", how]))
