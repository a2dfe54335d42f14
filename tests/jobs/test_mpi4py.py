# SPDX-License-Identifier: BSD-3-Clause
"""mpi4py's own test suite gives under Urakata exactly the results that it gives without.

mpi4py is the wheel of PyPI, which serves every MPI: it opens the MPI library when it is imported. So this also tests
that Urakata gets below an MPI that is loaded late.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from jobs import FULL, Mpi, Outcome, cache, named, run_job
from spaces import EXEC, SPACE, lives_in_a_space

VERSION = "4.1.2"
# The short run has collectives that do not block, communicators, requests, sessions and ULFM, on Python's own arrays,
# and two ranks: an MPI library that does not yield needs minutes where there are more ranks than cores.
MODULES = ("cco_nb_vec", "cco_pr_vec", "comm", "request", "session", "ulfm")
SECONDS = 1800  # the whole suite is slow where there are more ranks than cores
SHORT = ["--no-numpy", *(word for name in MODULES for word in ("-i", rf"test_{name}\.py"))]


def _pip(python: Path, *words: str) -> None:
    command = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check", *words]
    made = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if made.returncode != 0 and "No matching distribution" in made.stderr + made.stdout:
        pytest.skip(f"mpi4py {VERSION} cannot be fetched here")
    assert made.returncode == 0, made.stderr[-3000:]


def suite() -> list[str]:
    """The command of one rank: a Python with mpi4py, and the suite's program. Made once, kept below the build."""
    folder = cache("mpi4py-wheel", VERSION, sys.version)
    python = folder / "venv" / "bin" / "python"
    wanted = f"mpi4py=={VERSION}"
    if not (folder / "made").exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True, timeout=120)
        _pip(python, "install", "setuptools", "wheel", "numpy", "--only-binary", "mpi4py", wanted)
        # The tests are in the source package only. pip asks a source package for its needs: hence setuptools and wheel.
        source = ["--no-deps", "--no-build-isolation", "--no-binary", "mpi4py", "-d", str(folder)]
        _pip(python, "download", *source, wanted)
        with tarfile.open(folder / f"mpi4py-{VERSION}.tar.gz") as archive:
            archive.extractall(folder)
        (folder / "made").touch()
    return [str(python), str(folder / f"mpi4py-{VERSION}" / "test" / "main.py")]


def library(mpi: Mpi) -> Path:
    """The file of the MPI library, next to its compiler."""
    soname = {"openmpi": "libmpi.so.40", "mpich": "libmpi.so.12"}[mpi.family]
    return Path(mpi.compiler).parents[1] / "lib" / soname


def results(output: str) -> tuple[list[str], set[str], set[str]]:
    """How many tests each rank ran, how many failed and were skipped, and the names of those that did not pass.

    Each of these leaves a rank in one write; the ranks' words between them may mix.
    """
    ran = re.findall(r"Ran \d+ tests", output)
    ended = set(re.findall(r"\((?:failures|errors|skipped)=[\w =,]+\)", output))
    # Words of another rank inside a name: the name is not one that unittest writes, and other ranks give it whole.
    return sorted(ran), ended, set(re.findall(r"^(?:FAIL|ERROR): (\w+ \([\w.]+\)(?: .*\))?)$", output, re.MULTILINE))


def run_suite(mpi: Mpi, ranks: int, way: str | None, folder: Path) -> Outcome:
    """The suite alone (None), with an engine, in a space, or with a report, which wraps every MPI call."""
    command = [*suite(), *([] if FULL else SHORT)]
    environment = {"MPI4PY_LIBMPI": str(library(mpi))}
    if way == "report":
        under = [EXEC, "--engine", "poll", "--report", str(folder / "report"), "--"]
        return run_job(mpi, ranks, [*under, *command], None, SECONDS, environment, folder)
    if way != "space":
        return run_job(mpi, ranks, command, way, SECONDS, environment, folder)
    # Ranks in a space tell PMIx to keep no shared memory; mpirun must do the same, or MPI_Comm_spawn crashes it.
    environment["PMIX_MCA_gds"] = "hash"
    return run_job(mpi, ranks, [*SPACE, *command], None, SECONDS, environment, folder)


@pytest.mark.parametrize("ranks", (3, 4) if FULL else (2,))
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_mpi4py(name: str, ranks: int, tmp_path: Path) -> None:
    mpi = named(name)
    alone = run_suite(mpi, ranks, None, tmp_path)
    expected = results(alone.output)
    assert alone.code is not None and len(expected[0]) == ranks, alone.output[-3000:]
    python = suite()[0]
    for way in ("poll", "thread", "report", *(["space"] if lives_in_a_space(python) else [])):
        outcome = run_suite(mpi, ranks, way, tmp_path)
        assert not re.search("runs untouched|ordinary process", outcome.output), outcome.output[:3000]
        assert outcome.code == alone.code, f"{way}: {outcome.code}\n{outcome.output[-3000:]}"
        got = results(outcome.output)
        assert not got[2] ^ expected[2], f"{way}: in one of both only {got[2] ^ expected[2]}"
        assert got[:2] == expected[:2], f"{way}\n{outcome.output[-3000:]}"
    if not lives_in_a_space(python):
        pytest.skip(f"the same with engines; not run in a space, since {python} is not position-independent")
