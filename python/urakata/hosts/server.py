# SPDX-License-Identifier: BSD-3-Clause
"""PID 1 of a test host: runs the commands that arrive on its socket, and reaps whatever ends in the host."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket

from urakata.hosts import wire

_CANNOT_RUN = 127


def _run(request: wire.Request, streams: list[int], host: str) -> None:
    """In the child: becomes the command, in a session of its own, or leaves with 127 and a line on its stderr."""
    try:
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
        for name in (signal.SIGPIPE, signal.SIGCHLD, signal.SIGINT, signal.SIGTERM):
            signal.signal(name, signal.SIG_DFL)
        signal.set_wakeup_fd(-1)
        os.setsid()
        os.chdir(request.folder)
        os.execvpe(request.arguments[0], request.arguments, request.environment)
    except OSError as error:
        os.write(2, f"{host}: cannot run {request.arguments[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(_CANNOT_RUN)


class _Server:
    def __init__(self, listener: socket.socket, host: str) -> None:
        self._listener = listener
        self._host = host
        self._selector = selectors.DefaultSelector()
        self._callers: dict[int, socket.socket] = {}
        self._failures: dict[int, str] = {}  # of running commands, those with such a file

    def _accept(self) -> None:
        connection, _ = self._listener.accept()
        taken = None
        with contextlib.suppress(OSError):
            taken = wire.take(connection)
        if taken is None:
            connection.close()
            return
        request, streams = taken
        # Clear of 0, 1 and 2, onto which the child puts the streams.
        child = os.fork()
        if child == 0:
            _run(request, streams, self._host)
        for stream in streams:
            os.close(stream)
        self._callers[child] = connection
        if request.failures:
            self._failures[child] = request.failures
        self._selector.register(connection, selectors.EVENT_READ, child)

    def _signal(self, connection: socket.socket, child: int) -> None:
        """The caller sent signals, or has gone: then the command is told to end."""
        numbers = b""
        with contextlib.suppress(OSError):
            numbers = connection.recv(16)
        for number in numbers or bytes([signal.SIGTERM]):
            with contextlib.suppress(OSError):
                os.killpg(child, number)
        if not numbers:
            self._selector.unregister(connection)
            connection.close()
            del self._callers[child]

    def _reap(self) -> None:
        while True:
            try:
                child, result = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if child == 0:
                return
            status, failures = os.waitstatus_to_exitcode(result), self._failures.pop(child, "")
            if connection := self._callers.pop(child, None):
                self._selector.unregister(connection)
                if failures and status != 0:
                    self._note(failures, status)
                with contextlib.suppress(OSError):
                    connection.sendall(wire.STATUS.pack(status))
                connection.close()

    def _note(self, failures: str, status: int) -> None:
        with contextlib.suppress(OSError), open(failures, "a", encoding="ascii") as file:
            file.write(f"{self._host} {status}\n")

    def loop(self) -> None:
        wake, woken = socket.socketpair()
        for end in (wake, woken):
            end.setblocking(False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(wake.fileno(), warn_on_full_buffer=False)
        self._selector.register(self._listener, selectors.EVENT_READ)
        self._selector.register(woken, selectors.EVENT_READ)
        while True:
            for key, _ in self._selector.select():
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj is woken:
                    with contextlib.suppress(BlockingIOError):
                        woken.recv(4096)
                elif isinstance(key.fileobj, socket.socket) and key.data in self._callers:
                    self._signal(key.fileobj, key.data)
            self._reap()


def serve(listener: socket.socket, host: str) -> None:
    """Serves for ever; the host ends when its PID namespace does."""
    _Server(listener, host).loop()
