# SPDX-License-Identifier: BSD-3-Clause
"""Ends a job together with the command that started it, also where that is killed (SIGKILL) and can pass nothing on.

A process of its own, the guard, reads a pipe whose other end the command holds. The launcher writes its pid into it
before it becomes the launcher, so there is no moment at which the guard does not know it. The end of the pipe is the
command's.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from types import TracebackType

_TIMEOUT = 5.0  # seconds for the launcher to end its ranks, then for what is left to end by itself
_POLL = 0.05  # seconds


def _parents() -> dict[int, int]:
    """Of all processes that run; one that has ended and was not waited for does not."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):
                state, parent = (entry / "stat").read_text().rpartition(")")[2].split()[:2]
                if state not in "ZX":
                    found[int(entry.name)] = int(parent)
    return found


def with_descendants(processes: Iterable[int]) -> set[int]:
    """Those of the processes that run, and all that descend from them. Who has lost its parent is found no more."""
    parents = _parents()
    found = {pid for pid in processes if pid in parents}
    grown = True
    while grown:
        more = {pid for pid, parent in parents.items() if parent in found} - found
        found |= more
        grown = bool(more)
    return found


def _ended(processes: set[int], awaited: Callable[[set[int]], bool]) -> set[int]:
    """Waits until awaited(those that run) or the time is up; gives those that run."""
    deadline = time.monotonic() + _TIMEOUT
    while not awaited(processes := with_descendants(processes)) and time.monotonic() < deadline:
        time.sleep(_POLL)
    return processes


def _signal(processes: Iterable[int], number: signal.Signals) -> None:
    for pid in processes:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def end(launcher: int) -> None:
    """The launcher is asked first, since it knows the ranks on other nodes; then all that it leaves (one that is a
    shell script ends alone), and what does not listen is killed."""
    processes = with_descendants([launcher])
    _signal([launcher], signal.SIGTERM)
    end_rest(_ended(processes, lambda running: launcher not in running))


def end_rest(processes: Iterable[int]) -> None:
    """Ends these and their descendants, whose launcher has ended already."""
    _signal(left := with_descendants(processes), signal.SIGTERM)
    _signal(_ended(left, lambda running: not running), signal.SIGKILL)


class Guard:
    """To be left when the launcher has ended."""

    def __init__(self) -> None:
        reading, self._writing = os.pipe()
        self._pid = os.fork()
        if self._pid == 0:
            try:
                os.close(self._writing)
                self._watch(reading)
            finally:
                os._exit(0)
        os.close(reading)

    def announce(self) -> None:
        """To be called in the launcher's process, before it becomes the launcher."""
        os.write(self._writing, f"{os.getpid()}\n".encode())

    @staticmethod
    def _watch(pipe: int) -> None:
        os.setsid()  # a signal for the whole job is not for the guard
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_DFL)
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        said = b""
        while more := os.read(pipe, 64):
            said += more
        if said:
            end(int(said))

    def __enter__(self) -> Guard:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        os.kill(self._pid, signal.SIGKILL)
        os.waitpid(self._pid, 0)
        os.close(self._writing)
