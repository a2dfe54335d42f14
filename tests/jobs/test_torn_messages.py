# SPDX-License-Identifier: BSD-3-Clause
"""Messages and channels between four test hosts by transport wire, while their connections are torn down: what
needed one ends with an error, the rest arrives, nothing hangs. With --full for ten minutes."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import FULL, compiled, drawn_seed, named

from urakata import paths
from urakata.hosts import Hosts, available

pytestmark = pytest.mark.skipif(not available()[0], reason=f"no test hosts here: {available()[1]}")

SECONDS = 300.0 if FULL else 0.0
"""For each engine; at least one job."""
TEARS = 8 if FULL else 4
JOB_SECONDS = 60.0


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with Hosts(count=4) as made:
        yield made


@pytest.mark.parametrize("engine", ("poll", "thread"))
def test_torn_connections_end_what_needs_them(hosts: Hosts, folder: Path, engine: str) -> None:
    mpi = named("openmpi")
    program = str(compiled(mpi, "torn_messages", folder))
    begin = time.monotonic()
    lost = 0
    seeds = random.Random(drawn_seed())
    while True:
        seed = seeds.randrange(1 << 31)
        done = hosts.run(
            [
                *(str(paths.program("urakata-exec")), "--wire-messages", "--engine", engine),
                *("--set", "PEER_TIMEOUT=8", "--", program, str(seed), str(TEARS)),
            ],
            mpi_name=mpi.launcher,
            env=mpi.environment,
            timeout=JOB_SECONDS,
        )
        output = done.stdout + done.stderr
        said = re.search(rf"seed {seed}: (\d+) of 6 pairs lost, and the plans of (\d+), after {TEARS} torn", output)
        assert done.returncode == 0 and said is not None, output[-3000:]
        assert int(said[2]) != 0, output[-3000:]  # each second connection that is torn is one of the plans'
        lost += int(said[1])
        if time.monotonic() - begin >= SECONDS:
            break
    assert lost != 0
