# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own test suite between test hosts: it gives the same results as the MPI library alone."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Sequence

import pytest
from jobs import FULL, named
from spaces import lives_in_a_space
from test_mpi4py import library, results, suite

from urakata import paths
from urakata.hosts import Hosts, available

pytestmark = pytest.mark.skipif(not available()[0], reason=f"no test hosts here: {available()[1]}")

# The short run has the messages.
MODULES = ("p2p_buf", "p2p_buf_matched", "p2p_obj", "p2p_obj_matched", "request")
SHORT = ["--no-numpy", *(word for name in MODULES for word in ("-i", rf"test_{name}\.py"))]
# What communicates; all of it takes an MPI library alone a quarter of an hour on three hosts that share two cores.
COMMUNICATION = ["--no-numpy", *(word for name in ("cco", "p2p", "request") for word in ("-i", rf"test_{name}.*\.py"))]
SECONDS = 1800.0 if FULL else 120.0


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with Hosts(count=2) as made:
        yield made


def run(hosts: Hosts, *options: str, chosen: Sequence[str], per_host: int) -> tuple[int, str]:
    mpi = named("openmpi")
    command = [*suite(), *chosen]
    if options:
        command = [str(paths.program("urakata-exec")), *options, "--", *command]
    # Ranks in a space tell PMIx to keep no shared memory; mpirun must do the same.
    environment = {**mpi.environment, "MPI4PY_LIBMPI": str(library(mpi)), "PMIX_MCA_gds": "hash"}
    done = hosts.run(command, ranks_per_host=per_host, mpi_name=mpi.launcher, env=environment, timeout=SECONDS)
    return done.returncode, done.stdout + done.stderr


# The whole suite, but files and spawned processes: test hosts have a TMPDIR of their own each, with which the MPI
# library alone waits for ever, and no room for more ranks, of which its launcher now and then dies.
WHOLE = ["-e", r"test_(file|io|spawn|dynproc)\.py"]
# The whole suite with a rank a host; with more ranks than cores, which the MPI library alone lets spin, what
# communicates.
RUNS: dict[int, Sequence[str]] = {1: WHOLE, 2: COMMUNICATION} if FULL else {2: SHORT}


@pytest.mark.parametrize("per_host", RUNS)
def test_messages_by_wire(hosts: Hosts, per_host: int) -> None:
    chosen = RUNS[per_host]
    code, output = run(hosts, chosen=chosen, per_host=per_host)
    expected = results(output)
    assert len(expected[0]) == 2 * per_host, output[-3000:]
    ways: list[tuple[str, ...]] = [("--wire-messages",)]
    if per_host > 1 and lives_in_a_space(suite()[0]):
        ways.append(("--wire-messages", "--space"))
    for way in ways:
        got_code, output = run(hosts, "--verbose", "2", *way, chosen=chosen, per_host=per_host)
        assert not re.search("runs untouched|ordinary process", output), output[:3000]
        linked = output.count(f"the program's messages to {per_host} of {2 * per_host} ranks go by transport wire")
        assert linked == 2 * per_host, output[:3000]
        got = results(output)
        assert (got_code, *got[:2]) == (code, *expected[:2]), f"{way}\n{output[-3000:]}"
        assert not got[2] ^ expected[2], f"{way}: in one of both only {got[2] ^ expected[2]}"


@pytest.mark.skipif(not FULL, reason="takes minutes: URAKATA_TEST_FULL=1")
def test_engine_kernel() -> None:
    """What engine kernel does to a program, calls that end with EINTR, too."""
    with Hosts(count=2) as two:
        code, output = run(two, chosen=COMMUNICATION, per_host=1)
        expected = results(output)
        assert len(expected[0]) == 2, output[-3000:]
        got_code, output = run(two, "--engine", "kernel", "--verbose", "1", chosen=COMMUNICATION, per_host=1)
        if said := re.search("instead of kernel: .*URAKATA_KERNEL.*", output):
            pytest.skip(said.group())
        assert not re.search("instead of kernel|not engine kernel", output), output[:3000]
        got = results(output)
        assert (got_code, *got[:2]) == (code, *expected[:2]), output[-3000:]
        assert not got[2] ^ expected[2], got[2] ^ expected[2]


@pytest.mark.skipif(not FULL, reason="takes minutes: URAKATA_TEST_FULL=1")
def test_a_rank_a_host() -> None:
    """Many small operations on many communicators. How long each way takes is printed (`-s`); goals suite-hosts-*."""
    with Hosts(count=3) as three:
        ways: list[tuple[str, ...]] = [(), ("--engine", "poll"), ("--verbose", "1")]
        told = []
        for way in ways:
            begin = time.monotonic()
            code, output = run(three, *way, chosen=COMMUNICATION, per_host=1)
            print(f"{' '.join(way) or 'host'}: {time.monotonic() - begin:.1f} s")
            told.append((code, results(output)))
        assert len(told[0][1][0]) == 3, told[0]
        for way, (code, got) in zip(ways[1:], told[1:], strict=True):
            assert (code, *got[:2]) == (told[0][0], *told[0][1][:2]), way
            assert not got[2] ^ told[0][1][2], f"{way}: in one of both only {got[2] ^ told[0][1][2]}"
