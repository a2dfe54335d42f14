# SPDX-License-Identifier: BSD-3-Clause
"""How a test host is asked to run a command: one Unix socket a host, one connection a command.

The caller sends the length and the three standard streams in one message, then a JSON object (Request). While the
command runs, each byte from the caller is the number of a signal for it, and closing the connection ends it. The host
answers once, with the exit status as subprocess counts it: the exit code, or minus the number of the
signal that ended it.
"""

from __future__ import annotations

import json
import os
import socket
import struct
from dataclasses import asdict, dataclass

LENGTH = struct.Struct("<I")
STATUS = struct.Struct("<i")


@dataclass(frozen=True)
class Request:
    """A command to run on a host."""

    arguments: list[str]
    environment: dict[str, str]
    folder: str
    failures: str = ""
    """A file that gets the line "HOST STATUS" if the command ends other than well before its caller goes."""


def socket_path(folder: str, host: str) -> str:
    """Where the host of an instance listens."""
    return f"{folder}/{host}.socket"


def link_path(folder: str, first: int, second: int) -> str:
    """Where the long link between two sites of an instance is controlled; the first site has the lower number."""
    return f"{folder}/link-{first}-{second}.socket"


def receive(connection: socket.socket, size: int) -> bytes:
    """Exactly size bytes; fewer only at the end of the connection."""
    data = b""
    while len(data) < size:
        piece = connection.recv(size - len(data))
        if not piece:
            break
        data += piece
    return data


def ask(folder: str, host: str, request: Request, streams: tuple[int, int, int]) -> socket.socket:
    """Starts a command on a host; the connection is what to signal, wait and read the status on."""
    text = json.dumps(asdict(request), ensure_ascii=True).encode()
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        connection.connect(socket_path(folder, host))
        socket.send_fds(connection, [LENGTH.pack(len(text))], list(streams))
        connection.sendall(text)
    except OSError:
        connection.close()
        raise
    return connection


def take(connection: socket.socket) -> tuple[Request, list[int]] | None:
    """The host's side of ask(); None when the caller was gone before it had said everything."""
    head, streams, _, _ = socket.recv_fds(connection, LENGTH.size, 3, socket.MSG_CMSG_CLOEXEC)
    if len(head) == LENGTH.size and len(streams) == 3:
        size = LENGTH.unpack(head)[0]
        text = receive(connection, size)
        if len(text) == size:
            return Request(**json.loads(text)), streams
    for stream in streams:
        os.close(stream)
    return None


def status(connection: socket.socket) -> int | None:
    """The exit status, waiting for it; None when the host has gone away instead."""
    data = receive(connection, STATUS.size)
    return STATUS.unpack(data)[0] if len(data) == STATUS.size else None
