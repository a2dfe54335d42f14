# SPDX-License-Identifier: BSD-3-Clause
"""Solvers that nobody here wrote, PETSc and hypre of Debian 13, unmodified: the same iterations, residuals and solution
as under the MPI library alone, to the last bit, and a report that names the exchange.

Debian 13, since the PETSc of Debian 12 has no persistent neighbourhood collectives.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from debian_root import DebianRoot, debian_root
from jobs import FULL, PROGRAMS, Outcome
from spaces import nothing_stays

from urakata import paths
from urakata.report.summary import Summary, summarise

__all__ = ["nothing_stays"]  # around every test here

pytestmark = pytest.mark.skipif(not FULL, reason="fetches 300 MB of Debian 13: URAKATA_TEST_FULL=1")

PACKAGES = ["libpetsc-real-dev", "libhypre-dev", "libopenmpi-dev", "gcc", "pkg-config"]
FOR_TEST_HOSTS = ["python3", "python3-typer", "iproute2"]
COMPILE = """\
mpicc -O1 -g -Wall -Wextra poisson_petsc.c -o petsc $(pkg-config --cflags --libs PETSc)
mpicc -O1 -g -Wall -Wextra poisson_hypre.c -o hypre -I/usr/include/hypre -lHYPRE -lm
"""
RANKS = 4
ALONE = ["mpirun", "--map-by", ":OVERSUBSCRIBE", "--bind-to", "none", "-n", str(RANKS)]
HOSTS_RUN = ["python3", "-m", "urakata", "hosts", "run", "-n", "2", "--per-host", "2", "--mpi", "debian-openmpi", "--"]
WAYS = {
    "poll": (ALONE, ["--engine", "poll"]),
    "thread": (ALONE, ["--engine", "thread", "--placement", "shared"]),
    "space": (ALONE, ["--space"]),
    "hosts": (HOSTS_RUN, ["--wire-messages"]),
    "hosts, spaces": (HOSTS_RUN, ["--space", "--wire-messages"]),
}
# The report's words for the channels of persistent neighbourhood collectives, if all neighbours can have channels.
PLANS = {"space": " by stores; ", "hosts, spaces": " by put frames; "}
# Who else than the MPI library carries messages between neighbours.
CARRIERS: dict[str, set[str]] = {"space": {"space"}, "hosts": {"wire"}, "hosts, spaces": {"space", "wire"}}
KINDS = {
    "basic": "-sf_type basic",
    "neighbour": "-sf_type neighbor",
    "persistent": "-sf_type neighbor -sf_neighbor_persistent",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebianRoot]:
    for made in debian_root(tmp_path_factory.mktemp("debian"), [*PACKAGES, *FOR_TEST_HOSTS]):
        for name in ("poisson_petsc", "poisson_hypre"):
            shutil.copy(PROGRAMS.parents[1] / "examples" / f"{name}.c", made.work)
        compiled = made.run(["sh", "-ec", COMPILE], 120)
        assert (compiled.code, compiled.output) == (0, "")
        yield made


def solved(outcome: Outcome) -> list[str]:
    """What the program has found, bit for bit."""
    assert outcome.code == 0, outcome.output[-3000:]
    lines = [line for line in outcome.output.splitlines() if line.startswith(("residual", "solution"))]
    assert lines[-1].startswith("solution"), outcome.output[-3000:]
    return lines


def run(root: DebianRoot, way: str | None, command: list[str]) -> tuple[list[str], Summary | None]:
    """What was found, and the report."""
    if way is None:
        return solved(root.run([*ALONE, *command], 100)), None
    launch, options = WAYS[way]
    report = root.work / "report"
    shutil.rmtree(report, ignore_errors=True)
    under = [str(paths.program("urakata-exec")), *options, "--report", "/work-of-tests/report", "--"]
    outcome = root.run([*launch, *under, *command], 100)
    found = solved(outcome)
    assert "ordinary process" not in outcome.output and "untouched" not in outcome.output, outcome.output[-3000:]
    return found, summarise(report)


def carriers(summary: Summary, *names: str) -> set[str]:
    """By whom the program's messages of these calls went. Where the source was any, more than one may be named."""
    rows = [row.carrier for row in summary.messages if row.operation in names and row.messages]
    return {carrier for carrier in rows if " " not in carrier} - {"native"}


@pytest.mark.parametrize("kind", KINDS)
def test_petsc(root: DebianRoot, kind: str) -> None:
    command = ["/work-of-tests/petsc", "-ksp_type", "cg", "-pc_type", "jacobi", *KINDS[kind].split()]
    expected, _ = run(root, None, command)
    assert len(expected) > 20
    for way in WAYS:
        found, summary = run(root, way, command)
        assert summary is not None and found == expected, way
        exchanges = [row for row in summary.rows if "eighbor_alltoallv" in row.operation]
        if kind == "basic":
            assert not exchanges
            assert carriers(summary, "Send_init", "Recv_init") == CARRIERS.get(way, set()), way
            continue
        operation = "Neighbor_alltoallv_init" if kind == "persistent" else "Ineighbor_alltoallv"
        assert exchanges and {row.operation for row in exchanges} == {operation}, way
        # One for each product of the matrix, on each rank.
        assert sum(row.started for row in exchanges) >= RANKS * (len(expected) - 2)
        if way in PLANS and kind == "persistent":
            assert {row.algorithm for row in exchanges} == {"channels"}, way
            by_plans = [PLANS[way] in row.why for row in exchanges]
            assert all(by_plans) if way == "space" else any(by_plans), [row.why for row in exchanges]


def test_hypre(root: DebianRoot) -> None:
    command = ["/work-of-tests/hypre", "12"]
    expected, _ = run(root, None, command)
    for way in WAYS:
        found, summary = run(root, way, command)
        assert summary is not None and found == expected, way
        assert carriers(summary, "Isend", "Irecv") >= CARRIERS.get(way, set()), way
