# SPDX-License-Identifier: BSD-3-Clause
"""Jobs in one address space, for the tests in this folder: who lives, who is whose parent, and what must not stay."""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from jobs import AS_ROOT, Mpi, Outcome, compiled, run_job, temporary_files

from urakata import paths

EXEC = str(paths.program("urakata-exec"))
SPACE = [EXEC, "--space", "--"]
QUIET_SPACE = [EXEC, "--space", "--set", "VERBOSE=0", "--"]


def compiled_text(folder: Path, name: str, source: str, *options: str) -> str:
    """The path of a C program or library NAME in the folder, from its source; no MPI."""
    compiler = shutil.which("cc") or pytest.skip("no C compiler")
    (folder / f"{name}.c").write_text(source)
    subprocess.run([compiler, f"{name}.c", "-o", name, *options], cwd=folder, check=True)
    return str(folder / name)


def adopt_orphans(adopt: bool = True) -> None:
    """Makes this process the parent of its descendants that lose theirs. A space daemon loses its parent when it
    starts, so the daemons of these tests can be told from those of other jobs on this machine."""
    set_child_subreaper = 36
    libc = ctypes.CDLL(None, use_errno=True)
    assert libc.prctl(set_child_subreaper, int(adopt), 0, 0, 0) == 0, os.strerror(ctypes.get_errno())


def descendants() -> set[int]:
    """All living processes below this one. Reaps adopted space daemons that have ended."""
    parents = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            parents[int(entry.name)] = parent(int(entry.name))
    found, grown = set[int](), {os.getpid()}
    while grown:
        grown = {pid for pid, its_parent in parents.items() if its_parent in grown}
        found |= grown
    for pid in found:
        if parents[pid] == os.getpid() and is_space_daemon(pid):
            with contextlib.suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
    return {pid for pid in found if alive(pid)}


def is_space_daemon(pid: int) -> bool:
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/comm").read_text().strip() == "urakata-spaced"
    return False


def space_daemons() -> set[int]:
    """The living space daemons that this process, or one below it, has started."""
    return {pid for pid in descendants() if is_space_daemon(pid)}


def sockets(process: int) -> set[str]:
    """The inodes of a process's sockets."""
    found: set[str] = set()
    with contextlib.suppress(OSError):
        for link in Path(f"/proc/{process}/fd").iterdir():
            with contextlib.suppress(OSError):
                found |= set(re.findall(r"^socket:\[(\d+)\]$", os.readlink(link)))
    return found


def alive(pid: int) -> bool:
    """Whether the process exists and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def left_behind() -> set[str]:
    """Sockets of living space daemons, and our files. Such a socket is in no folder: it goes with its last process."""
    lines = [line.split() for line in Path("/proc/net/unix").read_text().splitlines() if "@urakata" in line]
    ours = set[str]().union(*map(sockets, descendants()))
    named = {line[7] for line in lines if line[6] in ours}
    return {name.removeprefix("@") for name in named} | {path.name for path in Path("/dev/shm").glob("*urakata*")}


def until(condition: Callable[[], object], what: str | Callable[[], str], seconds: float = 20) -> None:
    """Waits for condition() to hold; `what` says what is wrong else, as a function when that is so."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what if isinstance(what, str) else what()
        time.sleep(0.02)


@pytest.fixture(autouse=True)
def nothing_stays() -> Iterator[None]:
    adopt_orphans()
    before, ours = space_daemons(), left_behind()
    yield
    until(lambda: space_daemons() <= before, lambda: f"space daemons outlive their jobs: {space_daemons() - before}")
    until(lambda: left_behind() <= ours, lambda: f"these stay: {left_behind() - ours}")


def pids(text: str) -> list[int]:
    return [int(pid) for pid in re.findall(r"^pid (\d+)\r?$", text, re.MULTILINE)]


def nobody_lives(processes: list[int]) -> None:
    until(
        lambda: not any(map(alive, processes)),
        lambda: f"processes outlive the job: {[p for p in processes if alive(p)]}",
    )


def space_job(mpi: Mpi, ranks: int, command: list[str], **more: object) -> Outcome:
    """Runs a job of which every rank lives in the space, but for those after a ":", which bring words of their own."""
    outcome = run_job(mpi, ranks, [*SPACE, *command], **more)  # type: ignore[arg-type]
    assert "as an ordinary process" not in outcome.output, outcome.output[-4000:]
    return outcome


def parent(pid: int) -> int:
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])


@contextlib.contextmanager
def running(
    mpi: Mpi, folder: Path, how: str, ranks: int, name: str = "space_end"
) -> Iterator[tuple[subprocess.Popen[str], list[int]]]:
    """A job in a space that waits to be ended, with the pids that its tasks have told."""
    program = str(compiled(mpi, name, folder))
    output = folder / f"output-{mpi.name}-{time.monotonic_ns()}"
    lines = ranks * (2 if how == "children" else 1)
    with temporary_files() as files:
        with output.open("w") as sink:
            job = subprocess.Popen(
                [*mpi.launch(ranks), *SPACE, program, how],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=subprocess.STDOUT,
                text=True,
                env={**os.environ, **mpi.environment, **AS_ROOT, **files},
                start_new_session=True,
            )
        try:
            until(lambda: len(pids(output.read_text())) == lines or job.poll() is not None, "the job does not start")
            assert job.poll() is None, output.read_text()
            yield job, pids(output.read_text())
        finally:
            if job.poll() is None:
                job.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                job.wait(20)
            if job.poll() is None:
                os.killpg(job.pid, signal.SIGKILL)
                job.wait()


def proxies(job: int) -> list[int]:
    """The processes urakata-exec below the job's launcher."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            if (entry / "comm").read_text().strip() == "urakata-exec" and job in ancestors(int(entry.name)):
                found.append(int(entry.name))
    return found


def ancestors(pid: int) -> list[int]:
    chain = [pid]
    with contextlib.suppress(OSError):
        while chain[-1] > 1:
            chain.append(parent(chain[-1]))
    return chain


def lives_in_a_space(program: str) -> bool:
    """Whether it is position-independent; Debian's own python3 is not."""
    return Path(program).resolve().read_bytes()[16] == 3  # ET_DYN


def position_independent_python() -> str:
    """The Python of these tests, where it can live in a space."""
    if not lives_in_a_space(sys.executable):
        pytest.skip(f"{sys.executable} cannot live in a space, since it is not position-independent")
    return sys.executable
