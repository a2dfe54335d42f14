# SPDX-License-Identifier: BSD-3-Clause
"""Kills one process of a job while the job comes up, many times; nothing may hang or stay.

The job is one that ends by itself: if the space daemon is killed before the first task, another one is started.

    unshare --pid --fork --mount-proc python kill_at_start.py ROUNDS SEED STAYS COMMAND...

It is process 1 of its own pid name space, so that every process that it sees is the job's. Prints what was killed in
each round; exit code 1 where something hangs or stays, or a job fails before anybody was killed. STAYS: the rounds that
are good although the launcher, and nobody else, stays.
"""

from __future__ import annotations

import contextlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TIMEOUT = 30.0  # seconds
JOBS = 5  # started for a round, each after one that ended before it was seen
PARTIES = ("launcher", "proxy", "daemon", "task")


def processes() -> dict[int, tuple[str, int]]:
    """Name and parent of all that live here, but this one."""
    found = {}
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError, ValueError):
            pid = int(entry.name)
            head, _, tail = (entry / "stat").read_text().rpartition(")")
            state, parent = tail.split()[:2]
            if pid != os.getpid() and state not in "ZX":
                found[pid] = (head.partition("(")[2], int(parent))
    return found


def members(party: str, launcher: int) -> list[int]:
    everybody = processes()
    daemons = {pid for pid, (name, _) in everybody.items() if name == "urakata-spaced"}
    tasks = [pid for pid, (_, parent) in everybody.items() if parent in daemons]
    if party == "launcher":
        return [launcher]
    if party == "task":
        return tasks
    if party == "daemon":
        return [pid for pid in daemons if pid not in tasks]
    return [pid for pid, (name, _) in everybody.items() if name == "urakata-exec" and pid not in tasks]


def reap(job: subprocess.Popen[bytes]) -> None:
    """Process 1 gets all orphans."""
    if job.poll() is None:
        return
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0] != 0:
            pass


class Ended(Exception):
    """The job ended well before anybody was killed."""


class LauncherStays(Exception):
    """Nobody else does."""


def strike(command: list[str], party: str, chance: random.Random) -> str:
    """One job; what went wrong, or nothing."""
    with tempfile.TemporaryFile() as said, tempfile.TemporaryDirectory() as folder:
        # A folder of its own: a launcher that was killed leaves files that another one of the same pid stumbles over.
        environment = {**os.environ, "TMPDIR": folder}
        job = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=said, stderr=subprocess.STDOUT, env=environment
        )
        wrong = kill_one(job, party, chance)
        said.seek(0)
        return f"{wrong}; the job said {said.read()[-2000:].decode(errors='replace')}" if wrong else ""


def kill_one(job: subprocess.Popen[bytes], party: str, chance: random.Random) -> str:
    deadline = time.monotonic() + TIMEOUT
    while not (targets := members(party, job.pid)):
        if job.poll() is not None and not processes():
            if job.returncode != 0:
                return f"the job ended with {job.returncode} before its {party} was seen"
            raise Ended
        if time.monotonic() > deadline:
            return f"there is no {party}: {processes()}"
    time.sleep(chance.uniform(0, 0.1))
    targets = members(party, job.pid) or targets
    victim = chance.choice(targets)
    with contextlib.suppress(ProcessLookupError):
        os.kill(victim, signal.SIGKILL)
    if all_gone(job):
        return ""
    stay = processes()
    if set(stay) == {job.pid}:
        job.kill()
        job.wait()
        raise LauncherStays
    return f"{party} {victim} killed, and these stay: {stay}"


def all_gone(job: subprocess.Popen[bytes]) -> bool:
    """Waits for the end of the last process: an orphan's parent is process 1, so that the kernel tells us."""
    deadline = time.monotonic() + TIMEOUT
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGCHLD})
    try:
        while job.poll() is None or processes():
            reap(job)
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                return False
            if processes():
                signal.sigtimedwait({signal.SIGCHLD}, remaining)
        return True
    finally:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGCHLD})


def strike_one_of(command: list[str], party: str, chance: random.Random) -> str:
    for _ in range(JOBS):
        with contextlib.suppress(Ended):
            return strike(command, party, chance)
    return f"{JOBS} jobs ended before their {party} was seen"


def main() -> int:
    rounds, seed, stays = map(int, sys.argv[1:4])
    command = sys.argv[4:]
    chance = random.Random(seed)
    stayed = 0
    for number in range(rounds):
        party = PARTIES[number % len(PARTIES)]
        wrong, but = "", ""
        try:
            wrong = strike_one_of(command, party, chance)
        except LauncherStays:
            stayed += 1
            but = " but the launcher"
            if stayed > stays:
                wrong = f"{party} killed, and the launcher stays for the {stayed}. time"
        if wrong:
            print(f"round {number}: {wrong}")
            return 1
        print(f"round {number}: {party} killed, all gone{but}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
