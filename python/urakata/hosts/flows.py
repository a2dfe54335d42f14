# SPDX-License-Identifier: BSD-3-Clause
"""The program that runs on two hosts of different sites while `urakata hosts check` measures the link between them.

    answer PORT                              answers single bytes of one connection
    ask PEER PORT TURNS                      prints the median round trip in microseconds
    receive PORT COUNT WARM_UP SECONDS       receives COUNT connections; prints the bits a second of all
    send PEER PORT COUNT SECONDS             fills COUNT connections
    count PORT                               receives datagrams; prints how many came and which runs are missing
    datagrams PEER PORT NUMBER A_SECOND      sends numbered datagrams, as evenly as a timer permits

Each receiver says that it listens by a line before its result. What is printed is JSON.
"""

from __future__ import annotations

import contextlib
import json
import selectors
import socket
import struct
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

_NUMBER = struct.Struct("<q")
_DATAGRAM = bytes(192)
_END = -1
_SO_RCVBUFFORCE = 33


def _say(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


def _answer(port: int) -> None:
    with socket.create_server(("", port)) as server:
        _say("ready")
        link, _ = server.accept()
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while byte := link.recv(1):
        link.sendall(byte)


def _ask(peer: str, port: int, turns: int) -> None:
    link = socket.create_connection((peer, port), timeout=30)
    link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    times = []
    for _ in range(turns):
        before = time.perf_counter()
        link.sendall(b"x")
        link.recv(1)
        times.append(time.perf_counter() - before)
    _say(sorted(times)[turns // 2] * 1e6)


def _receive(port: int, count: int, warm_up: float, seconds: float) -> None:
    """One connection's rate counts from its first bytes after the warm-up, that of several from the end of the warm-up,
    to the last bytes before the end."""
    with socket.create_server(("", port), backlog=count) as server:
        _say("ready")
        links = [server.accept()[0] for _ in range(count)]
    begin = time.monotonic() + warm_up
    total, first, last = 0, begin if count > 1 else 0.0, begin
    space = bytearray(1 << 18)
    with selectors.DefaultSelector() as selector:
        for link in links:
            selector.register(link, selectors.EVENT_READ)
        while (now := time.monotonic()) < begin + seconds and selector.get_map():
            for key, _ in selector.select(timeout=0.1):
                assert isinstance(key.fileobj, socket.socket)
                got = key.fileobj.recv_into(space)
                now = time.monotonic()
                if not got:
                    selector.unregister(key.fileobj)
                elif now >= begin:
                    total += got if first else 0
                    first, last = first or now, now
    _say(8 * total / (last - first) if last > first else 0.0)


def _send(peer: str, port: int, count: int, seconds: float) -> None:
    data = memoryview(bytes(1 << 16))
    with selectors.DefaultSelector() as selector:
        for _ in range(count):
            link = socket.create_connection((peer, port), timeout=30)
            link.setblocking(False)
            selector.register(link, selectors.EVENT_WRITE)
        end = time.monotonic() + seconds
        with contextlib.suppress(ConnectionError):  # the receiver has seen enough
            while time.monotonic() < end:
                for key, _ in selector.select(timeout=0.1):
                    assert isinstance(key.fileobj, socket.socket)
                    with contextlib.suppress(BlockingIOError):
                        key.fileobj.send(data)
    _say("done")


def _receiver_errors() -> int:
    """Datagrams that this host's own queues dropped so far."""
    names, numbers = [line.split() for line in Path("/proc/net/snmp").read_text().splitlines() if line[:4] == "Udp:"]
    return int(dict(zip(names, numbers, strict=True))["RcvbufErrors"])


def _count(port: int) -> None:
    """Runs: by length, how often so many numbers in a row are missing between two that came."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        with contextlib.suppress(OSError):
            link.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, 1 << 24)
        link.bind(("", port))
        link.settimeout(15)
        before = _receiver_errors()
        _say("ready")
        came, next_one, runs = 0, 0, Counter[int]()
        with contextlib.suppress(TimeoutError):
            while (number := _NUMBER.unpack_from(link.recv(2048))[0]) != _END:
                came += 1
                if number > next_one:
                    runs[number - next_one] += 1
                next_one = number + 1
    _say({"came": came, "until": next_one, "runs": runs, "overrun": _receiver_errors() - before})


def _datagrams(peer: str, port: int, number: int, a_second: float) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.connect((peer, port))
        begin = time.monotonic()
        for i in range(number):
            if (early := begin + i / a_second - time.monotonic()) > 0.0005:
                time.sleep(early)
            link.send(_NUMBER.pack(i) + _DATAGRAM)
        with contextlib.suppress(ConnectionError):  # one of them has ended the receiver
            for _ in range(20):
                time.sleep(0.01)
                link.send(_NUMBER.pack(_END))
    _say("done")


def main(arguments: list[str]) -> int:
    """The first word says what to do."""
    words = arguments[1:]
    match arguments[0]:
        case "answer":
            _answer(int(words[0]))
        case "ask":
            _ask(words[0], int(words[1]), int(words[2]))
        case "receive":
            _receive(int(words[0]), int(words[1]), float(words[2]), float(words[3]))
        case "send":
            _send(words[0], int(words[1]), int(words[2]), float(words[3]))
        case "count":
            _count(int(words[0]))
        case "datagrams":
            _datagrams(words[0], int(words[1]), int(words[2]), float(words[3]))
    return 0
