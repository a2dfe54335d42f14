# SPDX-License-Identifier: BSD-3-Clause
"""Another user can neither join a space nor pretend to be its daemon."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import named
from spaces import (
    SPACE,
    adopt_orphans,
    alive,
    left_behind,
    nothing_stays,
    parent,
    running,
    space_daemons,
    until,
)

__all__ = ["nothing_stays"]  # around every test here


def test_another_user_is_not_served(folder: Path) -> None:
    """The user nobody connects to a daemon's socket: it is closed at once. A daemon of that user is not believed."""
    if os.geteuid() != 0:
        pytest.skip("needs root to act as another user")
    with running(named("mpich"), folder, "wait", 2) as (_, tasks):
        daemon = parent(tasks[0])
        inodes = {os.readlink(link) for link in Path(f"/proc/{daemon}/fd").iterdir()}
        names = [
            line.split()[7][1:]
            for line in Path("/proc/net/unix").read_text().splitlines()[1:]
            if f"socket:[{line.split()[6]}]" in inodes and "@urakata-space" in line
        ]
        ask = (
            "import os, socket, sys\nos.setgid(65534); os.setuid(65534)\n"
            "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\ns.settimeout(10)\n"
            f"s.connect('\\0{names[0]}')\n"
            "try:\n  sys.exit(0 if s.recv(10) == b'' else 1)\nexcept ConnectionError:\n  sys.exit(0)\n"
        )
        assert subprocess.run([sys.executable, "-c", ask], timeout=30, check=False).returncode == 0
        assert all(map(alive, tasks))
        for process in (daemon, *tasks):
            peek = f"import os, sys\nos.setgid(65534); os.setuid(65534)\nopen('/proc/{process}/mem', 'rb')\n"
            peeked = subprocess.run(
                [sys.executable, "-c", peek], capture_output=True, text=True, timeout=30, check=False
            )
            assert "PermissionError" in peeked.stderr, peeked.stderr


def test_a_socket_of_another_user_is_not_believed() -> None:
    """Whoever took the job's name first gets nothing; the program runs as an ordinary process, after a line."""
    if os.geteuid() != 0:
        pytest.skip("needs root to act as another user")
    before = left_behind()
    with subprocess.Popen([*SPACE, "sleep", "100"], stderr=subprocess.DEVNULL) as job:  # its parent names the job
        until(lambda: left_behind() - before, "no daemon comes up")
        name = (left_behind() - before).pop()
        job.kill()
    until(lambda: name not in left_behind(), "the daemon stays")
    squat = (
        "import os, signal, socket\nos.setgid(65534); os.setuid(65534)\n"
        "s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)\n"
        f"s.bind('\\0{name}'); s.listen(5); print('ready', flush=True); signal.pause()\n"
    )
    with subprocess.Popen([sys.executable, "-c", squat], stdout=subprocess.PIPE, text=True) as squatter:
        assert squatter.stdout
        squatter.stdout.readline()
        outcome = subprocess.run([*SPACE, "true"], capture_output=True, text=True, timeout=60, check=False)
        assert outcome.returncode == 0 and "another user holds the socket" in outcome.stderr
        squatter.kill()


@contextlib.contextmanager
def waiting_rank() -> Iterator[None]:
    with subprocess.Popen([*SPACE, "cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as job:
        assert job.stdin and job.stdout
        job.stdin.write(b"\n")
        job.stdin.flush()
        assert job.stdout.read(1) == b"\n"  # the rank runs
        yield
        job.stdin.close()
        assert job.wait(30) == 0


def test_spaces_of_other_jobs_are_not_counted_as_ours() -> None:
    """Two trees can be tested on one machine. A job whose daemon this process does not adopt stands for the other."""
    before, ours = space_daemons(), left_behind()
    with waiting_rank():
        assert len(space_daemons() - before) == 1
        (name,) = left_behind() - ours
    until(lambda: (space_daemons(), left_behind()) == (before, ours), "the daemon stays")
    adopt_orphans(False)
    with waiting_rank():
        assert f"@{name}" in Path("/proc/net/unix").read_text()
        assert (space_daemons(), left_behind()) == (before, ours)
    until(lambda: f"@{name}" not in Path("/proc/net/unix").read_text(), "the daemon stays")
