# SPDX-License-Identifier: BSD-3-Clause
"""What is a rank's own in a space: its forks and core dumps leave the other ranks' memory out."""

from __future__ import annotations

import platform
import re
import resource
import shutil
import struct
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from jobs import FULL, compiled, named, run_job
from spaces import SPACE, compiled_text, nothing_stays, position_independent_python, space_job

__all__ = ["nothing_stays"]  # around every test here

MPIS = ("openmpi", "mpich")
PATTERN = Path("/proc/sys/kernel/core_pattern")


@contextmanager
def core_dumps() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, (soft, hard))


def contents(owner: int) -> bytes:
    """A part of what the rank's large piece of memory holds; see space_apart.c."""
    first = (owner + 1) * 0x9E3779B97F4A7C15 + 100_000
    return struct.pack("=4Q", *((first + i) % 2**64 for i in range(4)))


@pytest.mark.parametrize("ranks", (1, 2, 4, 16, 64) if FULL else (1, 2, 5))
@pytest.mark.parametrize("name", MPIS)
def test_a_fork_has_its_ranks_memory_and_no_others(folder: Path, name: str, ranks: int) -> None:
    """All ranks fork at once, and their children do. (64 of MPICH's on two cores fork once a second, one after the
    other, since those that wait for them keep the cores.)"""
    program = str(compiled(named(name), "space_apart", folder))
    rounds = max(3, (200 if FULL else 100) // ranks)
    outcome = space_job(named(name), ranks, [program, "forks", "8", str(rounds)], seconds=600)
    assert (outcome.code, outcome.output.count("right")) == (0, 1), outcome.output


@pytest.mark.parametrize(
    "before",
    (
        ["prlimit", "--stack=unlimited"],
        ["setarch", "--addr-no-randomize"],
        ["setarch", "--addr-compat-layout"],
    ),
    ids=lambda before: before[1].strip("-"),
)
def test_a_fork_is_right_wherever_the_kernel_maps_libraries(folder: Path, before: list[str]) -> None:
    """With an unlimited stack that is where other jobs have the memory of ranks, and a child had no C library."""
    if shutil.which(before[0]) is None or subprocess.run([*before, "true"], check=False).returncode != 0:
        pytest.skip(f"{' '.join(before)} is not possible here")
    program = str(compiled(named("mpich"), "space_apart", folder))
    outcome = run_job(named("mpich"), 2, [*before, *SPACE, program, "forks", "8", "3"])
    assert (outcome.code, outcome.output.count("right")) == (0, 1), outcome.output
    assert "as an ordinary process" not in outcome.output, outcome.output


def test_registered_memory_is_not_left_out_of_forks_in_vain(folder: Path) -> None:
    """In a space that costs a lock of the node each time, and each later fork reads the list of all ranks' mappings."""
    if tuple(map(int, re.findall(r"\d+", platform.release())[:2])) < (5, 13):
        pytest.skip("this kernel does not copy registered memory when a process forks")
    advise = "int madvise(void*, unsigned long, int);\n"
    advise += "int advise(void* at, unsigned long bytes, int how) { return 0 + madvise(at, bytes, how); }\n"
    program = str(compiled(named("mpich"), "registered_memory", folder))
    for library, said in (("libibverbs.so.1", "no yes"), ("libother.so.1", "yes yes")):
        path = compiled_text(folder, library, advise, "-O0", "-shared", "-fPIC")
        outcome = space_job(named("mpich"), 1, [program, path])
        assert (outcome.code, f"left out: {said}" in outcome.output) == (0, True), outcome.output


def test_forks_outside_of_a_space_are_as_ever(folder: Path) -> None:
    outcome = run_job(named("mpich"), 2, [str(compiled(named("mpich"), "space_apart", folder)), "forks", "8", "5"])
    assert (outcome.code, outcome.output.count("right")) == (0, 1), outcome.output


@pytest.mark.parametrize("how", ("fault", "abort"))
@pytest.mark.parametrize("name", MPIS)
def test_a_core_dump_has_the_ranks_memory_and_no_others(folder: Path, tmp_path: Path, name: str, how: str) -> None:
    """Open MPI prints a list of calls when a rank crashes, and still does."""
    pattern = PATTERN.read_text().strip()
    if "/" in pattern or pattern.startswith("|"):
        pytest.skip(f"core dumps do not go to the working directory here ({PATTERN}: {pattern})")
    if resource.getrlimit(resource.RLIMIT_CORE)[1] != resource.RLIM_INFINITY:
        pytest.skip("core dumps are limited here (ulimit -H -c)")
    program = str(compiled(named(name), "space_apart", folder))
    with core_dumps():
        outcome = space_job(named(name), 4, [program, "crash", "16", how], directory=tmp_path, seconds=120)
    assert outcome.code != 0 and "rank 3" in outcome.output, outcome.output
    assert name != "openmpi" or "End of error message" in outcome.output, outcome.output
    (dump,) = tmp_path.glob("core*")
    held = dump.read_bytes()
    assert [contents(owner) in held for owner in range(4)] == [False, False, False, True]


@pytest.mark.parametrize("name", MPIS)
def test_ranks_that_crash_together_end(folder: Path, tmp_path: Path, name: str) -> None:
    """One dumps after the other, until the launcher ends them."""
    program = str(compiled(named(name), "space_apart", folder))
    with core_dumps():
        assert space_job(named(name), 4, [program, "crash", "16", "all"], directory=tmp_path, seconds=60).code != 0


def test_python_has_a_place_of_its_own(tmp_path: Path) -> None:
    """Though it loads its MPI late, or never."""
    script = tmp_path / "script.py"
    address = "ctypes.addressof(ctypes.c_char.from_buffer(memory))"
    script.write_text(
        "import ctypes, os\nmemory = bytearray(64 << 20)\n"
        f"os.write(1, f'{{16 <= ({address} >> 40) <= 24}}: {{os.getpid()}}\\n'.encode())\n"
    )
    outcome = space_job(named("mpich"), 2, [position_independent_python(), str(script)])
    assert outcome.code == 0 and outcome.output.count("True: ") == 2, outcome.output
