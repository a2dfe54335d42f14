# SPDX-License-Identifier: BSD-3-Clause
"""Traffic between two test hosts that has nothing to do with Urakata, compared by checksum.

    answer TCP_PORT UDP_PORT...                     sends back all that comes; says "ready"
    ask PEER TCP_PORT TAKEN_PORT UDP_PORT...        asks until the end of its standard input, once at least

What is asked goes through a connection in bulk, and as datagrams of several sizes: to the ports that answer, whole and
back, and to the port TAKEN_PORT, which a job has, without an answer. Says what it has compared, as JSON.
"""

from __future__ import annotations

import hashlib
import json
import random
import selectors
import socket
import struct
import sys
from collections.abc import Sequence

BULK = 4 << 20
SIZES = (1, 7, 64, 1400, 1472, 8972, 30_000)
"""Bytes of datagrams: within a frame of 1500 bytes, and of 9000, and in fragments."""
MARK = bytes.fromhex("75726b34")
"""A frame of eBPF code's begins so."""

_LENGTH = struct.Struct("<I")
_TRIES, _TRY = 50, 0.2  # seconds; datagrams may be lost where a receiver is slow


def _read(link: socket.socket, size: int) -> bytes:
    data = bytearray()
    while len(data) < size and (piece := link.recv(size - len(data))):
        data += piece
    return bytes(data)


def _answer_bulk(server: socket.socket) -> None:
    with server.accept()[0] as link:
        (size,) = _LENGTH.unpack(_read(link, _LENGTH.size))
        link.sendall(_read(link, size))


def _answer(tcp_port: int, udp_ports: Sequence[int]) -> None:
    with selectors.DefaultSelector() as selector, socket.create_server(("", tcp_port)) as server:
        selector.register(server, selectors.EVENT_READ)
        for port in udp_ports:
            link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            link.bind(("", port))
            selector.register(link, selectors.EVENT_READ)
        print("ready", flush=True)
        while True:
            for key, _ in selector.select():
                assert isinstance(key.fileobj, socket.socket)
                if key.fileobj is server:
                    _answer_bulk(server)
                else:
                    key.fileobj.sendto(*key.fileobj.recvfrom(1 << 16))


def _same(sent: bytes, got: bytes) -> bool:
    return hashlib.sha256(sent).digest() == hashlib.sha256(got).digest()


def _ask_bulk(peer: str, port: int, chance: random.Random) -> bool:
    data = chance.randbytes(BULK)
    with socket.create_connection((peer, port), timeout=60) as link:
        link.sendall(_LENGTH.pack(BULK) + data)
        return _same(data, _read(link, BULK))


def _ask_datagram(link: socket.socket, place: tuple[str, int], data: bytes) -> bool:
    """Its first bytes are its own, so that a late answer is not taken for another's."""
    for _ in range(_TRIES):
        link.sendto(data, place)
        try:
            while (got := link.recv(1 << 16))[:8] != data[:8]:
                pass
        except TimeoutError:
            continue
        return _same(data, got)
    return False


def _ask(peer: str, tcp_port: int, taken: int, udp_ports: Sequence[int]) -> None:
    chance = random.Random(1)
    rounds, datagrams, wrong = 0, 0, 0
    with selectors.DefaultSelector() as end, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        end.register(sys.stdin, selectors.EVENT_READ)
        link.settimeout(_TRY)
        while rounds == 0 or not end.select(0):
            rounds += 1
            wrong += not _ask_bulk(peer, tcp_port, chance)
            for size in SIZES:
                for head in (b"", MARK):
                    data = (head + chance.randbytes(size))[: max(size, 1)]
                    link.sendto(data, (peer, taken))
                    for port in udp_ports:
                        datagrams += 1
                        wrong += not _ask_datagram(link, (peer, port), data)
    print(json.dumps({"rounds": rounds, "datagrams": datagrams, "wrong": wrong}))


def main(arguments: Sequence[str]) -> int:
    if arguments[0] == "answer":
        _answer(int(arguments[1]), [*map(int, arguments[2:])])
    else:
        _ask(arguments[1], int(arguments[2]), int(arguments[3]), [*map(int, arguments[4:])])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
