# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own tests of what communicates, between two sites: they give the same results as the MPI library alone."""

from __future__ import annotations

import re

import pytest
from jobs import FULL, named
from test_mpi4py import library, results, suite

from urakata import paths
from urakata.hosts import Hosts, LinkSettings, Sites, available

pytestmark = [
    pytest.mark.skipif(not available(sites=True)[0], reason=f"no sites here: {available(sites=True)[1]}"),
    pytest.mark.skipif(not FULL, reason="takes minutes: URAKATA_TEST_FULL=1"),
]

COLLECTIVES = ["--no-numpy", "-i", r"test_cco.*\.py"]
MESSAGES = ["--no-numpy", "-i", r"test_p2p.*\.py", "-i", r"test_request.*\.py"]
SECONDS = 1800.0


def run(hosts: Hosts, chosen: list[str], *options: str) -> tuple[int, str]:
    """These tests with these options of urakata-exec, without any the MPI library alone."""
    mpi = named("openmpi")
    command = [*suite(), *chosen]
    if options:
        command = [str(paths.program("urakata-exec")), "--verbose", "2", *options, "--", *command]
    environment = {**mpi.environment, "MPI4PY_LIBMPI": str(library(mpi))}
    done = hosts.run(command, ranks_per_host=1, mpi_name=mpi.launcher, env=environment, timeout=SECONDS)
    return done.returncode, done.stdout + done.stderr


def same_as_the_library(chosen: list[str], said: str, *ways: tuple[str, ...]) -> None:
    """Two hosts here and one there, 2 ms one way."""
    with Hosts(sites=Sites([2, 1], LinkSettings(delay_us=2000, rate=400_000_000))) as hosts:
        code, output = run(hosts, chosen)
        expected = results(output)
        assert len(expected[0]) == 3, output[-3000:]
        for way in ways:
            got_code, output = run(hosts, chosen, *way)
            assert not re.search("runs untouched|ordinary process", output), output[:3000]
            assert said in output, output[:3000]
            got = results(output)
            assert (got_code, *got[:2]) == (code, *expected[:2]), f"{way}\n{output[-3000:]}"
            assert not got[2] ^ expected[2], f"{way}: in one of both only {got[2] ^ expected[2]}"


def test_collectives_between_two_sites() -> None:
    ways = (("--engine", "poll"), ("--engine", "thread"), ("--engine", "poll", "--lanes", "2"))
    same_as_the_library(COLLECTIVES, "2 sites (0: 2 nodes, 1: 1 node)", *ways)


def test_messages_between_two_sites() -> None:
    said = "the program's messages to 2 of 3 ranks go by transport wire"
    same_as_the_library(
        MESSAGES, said, ("--engine", "poll", "--wire-messages"), ("--engine", "thread", "--wire-messages")
    )
