# SPDX-License-Identifier: BSD-3-Clause
"""A command that runs on one of the test hosts."""

from __future__ import annotations

import math
import os
import select
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from urakata.hosts import wire

if TYPE_CHECKING:
    from urakata.hosts.instance import Hosts

GRACE = 3.0
"""Seconds that a command has between two signals to end."""


_GLANCE = 0.2  # seconds between two looks


class HostsError(Exception):
    """The hosts cannot be made, or have gone away; the text says why."""


class Command:
    """A command that runs on one host. Leaving it without finish() and being collected ends it."""

    def __init__(
        self, arguments: Sequence[str], connection: socket.socket, outputs: tuple[int, int] | None, instance: Hosts
    ) -> None:
        self._arguments = list(arguments)
        self._connection = connection
        self._outputs = outputs
        self._instance = instance

    def signal(self, number: int) -> None:
        """Sends a signal to the command's process group."""
        self._connection.sendall(bytes([number]))

    def wait_for_line(self, seconds: float = 60.0) -> None:
        """Waits until the command has printed a line, where its output is captured. HostsError where it ends before, or
        prints none in time."""
        assert self._outputs is not None
        deadline = time.monotonic() + seconds
        while b"\n" not in os.pread(self._outputs[0], 4096, 0):
            if self._ends_within(0.005) or time.monotonic() > deadline:
                raise HostsError(
                    f"{self._arguments[0]} on a test host said nothing: {os.pread(self._outputs[1], 4096, 0)!r}"
                )

    def finish(
        self, timeout: float | None = None, look: Callable[[], None] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Waits for the end. The output is text where it was captured, else None. When `timeout` seconds have passed
        or an exception (KeyboardInterrupt) comes, the command is ended before that is raised. `look` is called again
        and again meanwhile, and may raise."""
        try:
            if not self._ends_within(timeout, look):
                raise subprocess.TimeoutExpired(self._arguments, timeout or 0)
            status = wire.status(self._connection)
        except BaseException as reason:
            self._end()
            if isinstance(reason, subprocess.TimeoutExpired):
                out, err = self._texts()
                raise subprocess.TimeoutExpired(self._arguments, timeout or 0, out, err) from None
            raise
        finally:
            self._connection.close()
        if status is None:
            raise HostsError("the test hosts have ended while a command ran on them")
        out, err = self._texts()
        return subprocess.CompletedProcess(self._arguments, status, out, err)

    def _ends_within(self, seconds: float | None, look: Callable[[], None] | None = None) -> bool:
        deadline = math.inf if seconds is None else time.monotonic() + seconds
        while look:
            look()
            left = deadline - time.monotonic()
            if select.select([self._connection], [], [], max(0.0, min(_GLANCE, left)))[0]:
                return True
            if left <= _GLANCE:
                return False
        return bool(select.select([self._connection], [], [], seconds)[0])

    def _end(self) -> None:
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            try:
                self.signal(number)
            except OSError:
                return
            if self._ends_within(GRACE):
                return

    def _texts(self) -> tuple[str | None, str | None]:
        if self._outputs is None:
            return None, None
        texts = []
        for output in self._outputs:
            os.lseek(output, 0, os.SEEK_SET)
            with os.fdopen(output, "rb") as opened:
                texts.append(opened.read().decode(errors="replace"))
        self._outputs = None
        return texts[0], texts[1]

    def __del__(self) -> None:
        self._connection.close()
        for output in self._outputs or ():
            os.close(output)
