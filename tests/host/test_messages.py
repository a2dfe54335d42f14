"""The program's own messages: random traffic in all modes, alone and inside a space."""

from __future__ import annotations

from pathlib import Path

import pytest
from jobs import FULL, HOST_NAMES, compiled, compiled_outside, named, passes, run_job

from urakata import paths
from urakata.hosts import Hosts, available

EXEC = str(paths.program("urakata-exec"))
SPACE = [EXEC, "--space", "--"]
ROUNDS = "800" if FULL else "40"
SECONDS = 900 if FULL else 120
needs_hosts = pytest.mark.skipif(not available()[0], reason=f"no test hosts here: {available()[1]}")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("messages")


@pytest.mark.parametrize("ranks", (2, 3, 5))
@pytest.mark.parametrize("name", HOST_NAMES)
def test_random_messages_arrive_as_sent(folder: Path, name: str, ranks: int) -> None:
    host = named(name)
    program = [str(compiled(host, "random_messages", folder)), "--rounds", ROUNDS, "--seed", str(ranks)]
    passes(run_job(host, ranks, [*SPACE, *program], seconds=SECONDS))


@pytest.mark.parametrize(("within", "without"), ((2, 2), (3, 1), (2, 1)))
@pytest.mark.parametrize("name", HOST_NAMES)
def test_ranks_in_and_out_of_a_space(folder: Path, name: str, within: int, without: int) -> None:
    """Some ranks cannot live in the space: messages with them are the host's, and wildcards see both."""
    host = named(name)
    options = ["--rounds", ROUNDS, "--seed", str(10 * within + without)]
    inside = [*SPACE, str(compiled(host, "random_messages", folder)), *options]
    outside = [*SPACE, str(compiled_outside(host, "random_messages", folder)), *options]
    job = [*inside, ":", "-n", str(without), *outside]
    outcome = run_job(host, within, job, seconds=SECONDS, environment={"URAKATA_VERBOSE": "3"})
    passes(outcome)
    assert f"{within} of {within + without} ranks share this rank's space" in outcome.output


@needs_hosts
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_spaces_of_two_hosts(folder: Path, name: str) -> None:
    """Two hosts with a space of two ranks each, and communicators that span both."""
    program = str(compiled(named(name), "random_messages", folder))
    # MPICH's own messages over TCP hang now and then where many large ones cross, with Urakata and without.
    load = ["--rounds", ROUNDS] if name == "openmpi" else ["--rounds", ROUNDS, "--messages", "8", "--largest", "2000"]
    with Hosts(count=2) as hosts:
        done = hosts.run([*SPACE, program, *load, "--seed", "7"], ranks_per_host=2, host_mpi=name, timeout=SECONDS)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "messages, seed 7" in done.stdout


@pytest.mark.parametrize("name", HOST_NAMES)
def test_errors_are_those_of_the_host(folder: Path, name: str) -> None:
    """Truncation, and wrong ranks, tags, counts, types and buffers: the same classes, handlers and statuses."""
    host = named(name)
    program = [str(compiled(host, "message_errors", folder)), "all" if host.family == "openmpi" else "first"]
    alone = run_job(host, 2, program)
    passes(alone)
    within = run_job(host, 2, [*SPACE, *program])
    passes(within)
    assert within.output.splitlines() == alone.output.splitlines()
