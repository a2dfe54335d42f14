# SPDX-License-Identifier: BSD-3-Clause
"""However a rank in a space ends, or whoever is killed: the job ends, and nothing stays behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import compiled, named, run_job
from spaces import (
    EXEC,
    QUIET_SPACE,
    SPACE,
    compiled_text,
    nobody_lives,
    nothing_stays,
    parent,
    pids,
    proxies,
    running,
    space_job,
    until,
)

__all__ = ["nothing_stays"]  # around every test here

MPIS = ("openmpi", "mpich")


@pytest.mark.parametrize("how", ("segfault", "abort", "mpi_abort"))
@pytest.mark.parametrize("name", MPIS)
def test_a_rank_that_dies_ends_the_job(folder: Path, name: str, how: str) -> None:
    mpi = named(name)
    program = [str(compiled(mpi, "space_end", folder)), how]
    alone_code = run_job(mpi, 3, program).code
    outcome = space_job(mpi, 3, program)
    assert outcome.code not in (0, None), outcome.output
    if mpi.family == "openmpi":
        assert outcome.code == alone_code
    # After MPI_Abort a launcher may end before it has passed on what all ranks wrote.
    assert len(pids(outcome.output)) == 3 or (how == "mpi_abort" and pids(outcome.output))
    nobody_lives(pids(outcome.output))
    if how != "mpi_abort":
        name_of_signal = "SEGV" if how == "segfault" else "ABRT"
        assert re.search(rf"\[rank 2\] process \d+ died of SIG{name_of_signal}", outcome.output), outcome.output
        # Where: the MPI library's own report where it has one, else ours.
        ours = r"\[rank 2\]   #\d+ " if mpi.family == "mpich" else r"\[ *\d+\] "
        assert re.search(ours + r"\S*space_end\S*\(\+0x[0-9a-f]+\)", outcome.output), outcome.output


@pytest.mark.parametrize("where", ("neighbours", "calls", "pairs", "halo"))
@pytest.mark.parametrize("name", MPIS)
def test_a_rank_that_is_killed_in_an_exchange_ends_the_job(folder: Path, name: str, where: str) -> None:
    """Its neighbours wait for marks, or messages, that nobody will write. The launcher tells of what ended the job, and
    in the end there is no process of it, nor anything of ours (nothing_stays)."""
    mpi = named(name)
    outcome = space_job(mpi, 3, [str(compiled(mpi, "killed_in_exchange", folder)), where])
    assert outcome.code not in (0, None), outcome.output
    assert re.search(r"signal 9|SIGKILL|KILLED BY SIGNAL: 9|EXIT CODE: 9", outcome.output), outcome.output
    assert len(pids(outcome.output)) == 3
    nobody_lives(pids(outcome.output))


@pytest.mark.parametrize("how", ("overflow", "linking"))
def test_a_crash_is_told_whatever_the_thread_was_at(folder: Path, tmp_path: Path, how: str) -> None:
    """Its stack has overflowed; or another thread holds the lock of the dynamic linker, for ever."""
    mpi = named("mpich")  # Open MPI has a handler of its own
    constructor = "__attribute__((constructor)) static void begin(void) { close(100); for (;;) pause(); }\n"
    library = compiled_text(tmp_path, "for_ever.so", f"#include <unistd.h>\n{constructor}", "-shared", "-fPIC")
    outcome = space_job(mpi, 2, [str(compiled(mpi, "space_end", folder)), how, library])
    assert outcome.code not in (0, None), outcome.output
    lines = (r"process \d+: SIGSEGV at address 0x[0-9a-f]+, in", r"  #0 \S*space_end\S*\(\+0x[0-9a-f]+\)")
    for line in lines:
        assert re.search(rf"\[rank 1\] {line}", outcome.output), outcome.output


@pytest.mark.parametrize("victim", ("task", "proxy", "daemon", "launcher", "launcher-asked"))
@pytest.mark.parametrize("how", ("wait", "children"))
@pytest.mark.parametrize("name", MPIS)
def test_whoever_is_killed_the_job_ends(folder: Path, name: str, how: str, victim: str) -> None:
    mpi = named(name)
    with running(mpi, folder, how, 3) as (job, tasks):
        daemon = {parent(task) for task in tasks if parent(task) not in tasks}.pop()
        targets = {
            "task": tasks[-1],
            "proxy": proxies(job.pid)[0],
            "daemon": daemon,
            "launcher": job.pid,
            "launcher-asked": job.pid,
        }
        everybody = [*tasks, *proxies(job.pid), daemon]
        os.kill(targets[victim], signal.SIGTERM if victim == "launcher-asked" else signal.SIGKILL)
        assert job.wait(30) != 0
        nobody_lives(everybody)


@contextlib.contextmanager
def started(folder: Path, source: str) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A space of one task, from its C source, and the words of the first line that it prints: the last is its pid."""
    program = compiled_text(folder, "main", source)
    with subprocess.Popen([*QUIET_SPACE, program], stdout=subprocess.PIPE, text=True) as job:
        try:
            assert job.stdout
            words = job.stdout.readline().split()
            assert int(words[-1]) != job.pid, "the program is no task, but took its proxy's place"
            yield job, words
        finally:
            job.kill()


def test_signals_reach_the_task_and_stops_the_proxy(tmp_path: Path) -> None:
    """A handler's exit code comes back; SIGTSTP stops both, SIGCONT lets both go on."""
    source = (
        "#include <signal.h>\n#include <stdio.h>\n#include <unistd.h>\n"
        "static void usr1(int n) { (void)n; _exit(33); }\n"
        'int main(void) { signal(SIGUSR1, usr1); printf("pid %d\\n", getpid()); fflush(stdout); for (;;) pause(); }\n'
    )

    def state(pid: int) -> str:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]

    with started(tmp_path, source) as (job, (_, pid)):
        task = int(pid)
        os.kill(task, signal.SIGSTOP)
        until(lambda: state(job.pid) == "T", "the proxy process does not stop with its task")
        os.kill(job.pid, signal.SIGCONT)
        until(lambda: state(task) == "S", "the task does not go on with its proxy")
        os.kill(job.pid, signal.SIGUSR1)
        assert job.wait(20) == 33


def test_the_end_is_heard_of_where_ends_of_children_are_ignored() -> None:
    """Whoever starts the ranks may ignore SIGCHLD, and exec leaves it so."""
    ignoring = (
        f"import os, signal; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv({EXEC!r}, {[*SPACE, 'false']})"
    )
    outcome = subprocess.run([sys.executable, "-c", ignoring], capture_output=True, text=True, timeout=20, check=False)
    # Python's own 1 comes with its reason, and a program outside the space with that of being there.
    assert (outcome.returncode, outcome.stderr.count("\n")) == (1, 1) and "it runs untouched" in outcome.stderr


def test_a_task_that_left_its_process_group_ends_with_its_proxy(tmp_path: Path) -> None:
    source = (
        "#include <stdio.h>\n#include <unistd.h>\n"
        "int main(void) {\n"
        '  printf("%d pid %d\\n", setpgid(0, getppid()), getpid());\n  fflush(stdout);\n  for (;;) pause();\n}\n'
    )
    with started(tmp_path, source) as (job, (failed, _, pid)):
        job.kill()
        job.wait()
        assert failed == "0"
        nobody_lives([int(pid)])
