"""mpi4py's own test suite gives under Urakata exactly the results that it gives without."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from jobs import FULL, Host, Outcome, cache, named, run_job

VERSION = "4.1.2"
SUBSET = ["-i", "test_cco_nb", "-i", "test_request", "-i", "test_comm"]


def _checked(command: list[str], host: Host) -> None:
    variables = {**os.environ, **host.environment, "MPICC": host.compiler, "MPI4PY_BUILD_MPICC": host.compiler}
    made = subprocess.run(command, capture_output=True, text=True, timeout=900, env=variables)
    if made.returncode != 0 and "No matching distribution" in made.stderr + made.stdout:
        pytest.skip(f"mpi4py {VERSION} cannot be fetched here")
    assert made.returncode == 0, made.stderr[-3000:]


def suite(host: Host) -> tuple[str, str]:
    """A Python with mpi4py built for the host, and its test program. Made once, kept below the build folder."""
    folder = cache("mpi4py", VERSION, host.compiler, sys.version)
    python = folder / "venv" / "bin" / "python"
    tests = folder / f"mpi4py-{VERSION}" / "test" / "main.py"
    if not (folder / "made").exists():
        _checked([sys.executable, "-m", "venv", str(folder / "venv")], host)
        pip = [str(python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        wanted = ["--no-binary", "mpi4py", f"mpi4py=={VERSION}"]
        _checked([*pip, "install", "setuptools", "wheel", "cython"], host)
        _checked([*pip, "download", "--no-deps", "--no-build-isolation", "-d", str(folder), *wanted], host)
        with tarfile.open(folder / f"mpi4py-{VERSION}.tar.gz") as source:
            source.extractall(folder)
        _checked([*pip, "install", "--no-build-isolation", str(tests.parents[1])], host)
        (folder / "made").touch()
    return str(python), str(tests)


def troubles(outcome: Outcome) -> set[str]:
    return set(re.findall(r"(?:FAIL|ERROR): (.+)", outcome.output))


@pytest.mark.parametrize("ranks", (3, 4) if FULL else (3,))
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_mpi4py(name: str, ranks: int, tmp_path: Path) -> None:
    host = named(name)
    command = [*suite(host), *([] if FULL else SUBSET)]
    alone = run_job(host, ranks, command, seconds=900, directory=tmp_path)
    assert alone.code is not None and re.search(r"^.*Ran \d+ tests", alone.output, re.MULTILINE), alone.output[-3000:]
    for engine in ("poll", "thread"):
        outcome = run_job(host, ranks, command, engine, seconds=900, directory=tmp_path)
        assert outcome.code == alone.code, f"{engine}: {outcome.code}\n{outcome.output[-3000:]}"
        assert troubles(outcome) == troubles(alone), engine
