# SPDX-License-Identifier: BSD-3-Clause
"""hypre with persistent communication, which Debian's packages have switched off: built from Debian's source with the
MPI library's compiler, unmodified, it solves as under the MPI library alone, to the last bit; the report names the
exchange."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest
from debian_root import mirror
from jobs import FULL, Mpi, Outcome, cache, compiled_example, named, run_job
from spaces import nothing_stays, space_job

from urakata.report.summary import summarise

__all__ = ["nothing_stays"]  # around every test here

pytestmark = pytest.mark.skipif(not FULL, reason="builds hypre, which takes minutes: URAKATA_TEST_FULL=1")

SUITE = "bookworm"  # hypre 2.26
RENAMED = "-DHYPRE_Initialize=HYPRE_Init"  # the example has the name of later versions
WITHOUT = ["--disable-fortran", "--without-superlu", "--without-fei", "--without-mli"]
RANKS = 4


def fetched(folder: Path) -> Path:
    """The archive of hypre's source, by apt with lists of its own; the machine's stay as they are."""
    (folder / "lists" / "partial").mkdir(parents=True)
    (folder / "sources.list").write_text(f"deb-src {mirror()} {SUITE} main\n")
    apt = ["apt-get", "-qq", "-o", f"Dir::Etc::sourcelist={folder}/sources.list", "-o", "Dir::Etc::sourceparts=-"]
    apt += ["-o", f"Dir::State={folder}", "-o", f"Dir::Cache={folder}", "-o", "APT::Sandbox::User=root"]
    for words in (["update"], ["source", "--download-only", "--tar-only", "hypre"]):
        try:
            done = subprocess.run([*apt, *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            pytest.skip(f"hypre's source cannot be fetched here: {error}")
        if done.returncode != 0:
            pytest.skip(f"hypre's source cannot be fetched here: {(done.stdout + done.stderr)[-300:]}")
    archives = list(folder.glob("hypre_*.orig.tar.*"))
    return archives[0] if archives else pytest.skip(f"hypre's source cannot be fetched here: {SUITE} has none")


def built(mpi: Mpi, folder: Path) -> Path:
    """The folder of hypre's library and headers. Made once, kept below the build."""
    kept = cache("hypre-persistent", SUITE, mpi.name)
    source = kept / "hypre" / "src"
    if not (kept / "made").exists():
        archive = fetched(folder)
        (kept / "hypre").mkdir(exist_ok=True)
        # -O2: hypre's functions around MPI's then jump to them, and the report has the place that called these.
        options = ["--enable-persistent", *WITHOUT, "CC=mpicc", "CXX=mpicxx", "CFLAGS=-O2 -g -w -fPIC"]
        jobs = os.environ.get("JOBS") or str(len(os.sched_getaffinity(0)))
        steps = (
            (["tar", "xf", str(archive), "-C", str(kept / "hypre"), "--strip-components=1"], kept),
            (["./configure", *options], source),
            (["make", f"-j{jobs}"], source),
        )
        for command, directory in steps:
            done = subprocess.run(
                command,
                cwd=directory,
                env={**os.environ, **mpi.environment},
                capture_output=True,
                text=True,
                timeout=3000,
                check=False,
            )
            assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
        (kept / "made").touch()
    assert "#define HYPRE_USING_PERSISTENT_COMM" in (source / "hypre/include/HYPRE_config.h").read_text()
    return source / "hypre"


def solved(outcome: Outcome) -> list[str]:
    """The last residual, the solution and the iterations, bit for bit."""
    assert outcome.code == 0, outcome.output[-3000:]
    lines = [line for line in outcome.output.splitlines() if line.startswith(("residual", "solution"))]
    assert len(lines) == 2 and lines[-1].startswith("solution"), outcome.output[-3000:]
    return lines


@pytest.mark.parametrize("name", ("openmpi",))
def test_persistent_requests_of_hypre(folder: Path, tmp_path: Path, name: str) -> None:
    """Ranks in a space start what they have once met without matching; else the MPI library has the messages."""
    mpi = named(name)
    hypre = built(mpi, tmp_path / "source")
    words = [f"-I{hypre}/include", f"-L{hypre}/lib", "-lHYPRE", "-lm", RENAMED]
    program = [str(compiled_example(mpi, "poisson_hypre", folder, words)), "12"]
    expected = solved(run_job(mpi, RANKS, program, seconds=120))
    for way in ("poll", "thread", "space"):
        report = tmp_path / way
        environment: Mapping[str, str] = {"URAKATA_REPORT": str(report)}
        if way == "space":
            outcome = space_job(mpi, RANKS, program, seconds=120, environment=environment)
        else:
            outcome = run_job(mpi, RANKS, program, way, seconds=120, environment=dict(environment))
        assert solved(outcome) == expected, way
        summary = summarise(report)
        rows = [row for row in summary.messages if row.operation in ("Send_init", "Recv_init")]
        if way != "space":
            assert summary.whole is not None
            assert {"Send_init", "Recv_init", "Startall"} <= {row.operation for row in summary.whole.rows}, way
            continue
        assert {row.operation for row in rows} == {"Send_init", "Recv_init"}
        assert {row.carrier for row in rows} == {"space"}, rows
        assert all("/par_csr_communication.c:" in row.place for row in rows), rows
        assert sum(row.messages for row in rows) > len(expected), rows
