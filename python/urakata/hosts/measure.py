# SPDX-License-Identifier: BSD-3-Clause
"""Measures the links between test hosts: each host sends to the next and receives from the one before, all at once.

Also the program that runs on each host for it, with the arguments PORT PEER SECONDS.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urakata.hosts.instance import Hosts

_PORT = 7000
_WARM_UP = 0.3


@dataclass(frozen=True)
class LinkRate:
    """What one host sent and received while all hosts did both, in bits of payload a second, and the round trip of one
    byte to the next host before that, at the median in microseconds."""

    host: str
    sent: float
    received: float
    round_trip_us: float


def _connect(peer: str, port: int) -> socket.socket:
    deadline = time.monotonic() + 10
    while True:
        try:
            link = socket.create_connection((peer, port), timeout=10)
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            link.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return link


def _echo(link: socket.socket, turns: int) -> None:
    for _ in range(turns):
        link.sendall(link.recv(1))


def _round_trip(link: socket.socket, turns: int) -> float:
    times = []
    for _ in range(turns):
        before = time.perf_counter()
        link.sendall(b"x")
        link.recv(1)
        times.append(time.perf_counter() - before)
    return sorted(times)[turns // 2] * 1e6


def _sender(link: socket.socket, seconds: float, rates: dict[str, float]) -> None:
    data = memoryview(bytes(1 << 18))
    start = time.monotonic()
    mark = 0.0
    total = before = 0
    while (now := time.monotonic() - start) < seconds:
        if not mark and now > _WARM_UP:
            mark, before = now, total
        total += link.send(data)
    rates["sent"] = (total - before) * 8 / (now - mark)
    link.shutdown(socket.SHUT_WR)


def _receiver(link: socket.socket, seconds: float, rates: dict[str, float]) -> None:
    space = bytearray(1 << 18)
    start = time.monotonic()
    mark = last = 0.0
    total = before = at_last = 0
    while got := link.recv_into(space):
        now = time.monotonic() - start
        total += got
        if not mark and now > _WARM_UP:
            mark, before = now, total
        if now < seconds:
            last, at_last = now, total
    rates["received"] = (at_last - before) * 8 / max(last - mark, 1e-9)


def main(arguments: list[str]) -> int:
    """Prints one JSON object with sent, received and round_trip_us."""
    port, peer, seconds, turns = int(arguments[0]), arguments[1], float(arguments[2]), 100
    rates: dict[str, float] = {}
    with socket.create_server(("", port)) as server:
        onward = _connect(peer, port)
        inward, _ = server.accept()
    inward.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    answering = threading.Thread(target=_echo, args=(inward, turns))
    answering.start()
    rates["round_trip_us"] = _round_trip(onward, turns)
    answering.join()
    receiving = threading.Thread(target=_receiver, args=(inward, seconds, rates))
    receiving.start()
    _sender(onward, seconds, rates)
    receiving.join()
    print(json.dumps(rates))
    return 0


def measure_links(hosts: Hosts, seconds: float = 2.0) -> list[LinkRate]:
    """Takes a little more than `seconds`; needs two hosts at least. Payload is all but 1 % of what is on the wire."""
    names = hosts.names
    if len(names) < 2:
        raise ValueError("links are measured between at least two hosts")
    running = [
        hosts.start_module(i, "measure", [str(_PORT), hosts.addresses[(i + 1) % len(names)], str(seconds)])
        for i in range(len(names))
    ]
    rates = []
    for name, command in zip(names, running, strict=True):
        done = command.finish(timeout=seconds + 30)
        done.check_returncode()
        rates.append(LinkRate(host=name, **json.loads(done.stdout)))
    return rates
