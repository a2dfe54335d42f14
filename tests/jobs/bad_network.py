# SPDX-License-Identifier: BSD-3-Clause
"""A network that loses, doubles, delays and so reorders eBPF code's frames between test hosts; all else passes.

    python bad_network.py SEED

Runs in the network namespace of the hosts' bridge. What comes in at its ports with Urakata's mark is led to a TAP
device, which this program reads; what it lets through goes out of the bridge. So frames that eBPF code itself sends are
among them, too. It says "ready", and at the end of its standard input, as JSON, how many frames it has had and what it
has done to them.
"""

from __future__ import annotations

import contextlib
import fcntl
import heapq
import json
import os
import random
import re
import select
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from urakata.hosts import Hosts

MARK = 0x75726B34  # URA_XDP_MAGIC as it stands on the wire
LOST, DOUBLED, DELAYED = 0.05, 0.05, 0.2
LONGEST = 0.002  # seconds

_TAP = "bad0"
_PER_TURN = 64
_TUNSETIFF = 0x400454CA
_IFF_TAP, _IFF_NO_PI = 0x0002, 0x1000


class CannotError(Exception):
    """There can be no such network here; the text says why."""


@contextlib.contextmanager
def spoiled(hosts: Hosts, seed: int) -> Iterator[Counter[str]]:
    """Hosts of one site whose network is bad meanwhile; afterwards it has told how bad."""
    enter = shutil.which("nsenter")
    if enter is None:
        raise CannotError("there is no nsenter (util-linux)")
    assert hosts._keeper
    keeper = hosts._keeper.pid
    (first,) = Path(f"/proc/{keeper}/task/{keeper}/children").read_text().split()
    words = [enter, "--net", f"--target={first}", sys.executable, __file__, str(seed)]
    told: Counter[str] = Counter()
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as network:
        assert network.stdout
        if network.stdout.readline() != "ready\n":
            raise CannotError(network.communicate()[1].strip())
        try:
            yield told
        finally:
            told.update(json.loads(network.communicate()[0]))


def _open_tap() -> int:
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC | os.O_NONBLOCK)
    fcntl.ioctl(device, _TUNSETIFF, struct.pack("16sH22x", _TAP.encode(), _IFF_TAP | _IFF_NO_PI))
    return device


def _tc(lines: Sequence[str]) -> None:
    words = ["tc", "-batch", "-"]
    done = subprocess.run(words, input="\n".join(lines), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise CannotError(" ".join(done.stderr.split()))


@contextlib.contextmanager
def _led_to_tap() -> Iterator[None]:
    """Ours are known by IPv4, UDP, and the first word behind UDP's header."""
    match = f"protocol ip prio 1 u32 match u8 17 0xff at 9 match u32 {MARK:#x} 0xffffffff at 28"
    ports = [name for _, name in socket.if_nameindex() if re.fullmatch(r"link\d+", name)]
    _tc([f"qdisc add dev {port} clsact" for port in ports])
    try:
        _tc([f"filter add dev {port} ingress {match} action mirred egress redirect dev {_TAP}" for port in ports])
        yield
    finally:
        _tc([f"qdisc del dev {port} clsact" for port in ports])


class _Network:
    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._out = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        self._out.bind(("switch", 0))
        self._waiting: list[tuple[float, int, bytes]] = []  # until when, which of them, the frame
        self.counts = Counter(frames=0, lost=0, doubled=0, delayed=0)

    def take(self, frame: bytes) -> None:
        self.counts["frames"] += 1
        if self._chance.random() < LOST:
            self.counts["lost"] += 1
            return
        copies = 1
        if self._chance.random() < DOUBLED:
            self.counts["doubled"] += 1
            copies = 2
        for _ in range(copies):
            if self._chance.random() < DELAYED:
                self.counts["delayed"] += 1
                until = time.monotonic() + self._chance.uniform(0, LONGEST)
                heapq.heappush(self._waiting, (until, self.counts["delayed"], frame))
            else:
                self._send(frame)

    def send_due(self) -> float | None:
        """Seconds until there is more to do; None: nothing waits."""
        while self._waiting:
            remaining = self._waiting[0][0] - time.monotonic()
            if remaining > 0:
                return remaining
            self._send(heapq.heappop(self._waiting)[2])
        return None

    def _send(self, frame: bytes) -> None:
        with contextlib.suppress(OSError):  # a queue is full: it is lost like others
            self._out.send(frame)


def _frames(device: int) -> Iterator[bytes]:
    """Those that are there, some at a time."""
    with contextlib.suppress(BlockingIOError):
        for _ in range(_PER_TURN):
            yield os.read(device, 1 << 16)


def _serve(device: int, network: _Network) -> None:
    """Until the end of the standard input."""
    poll = select.poll()
    for descriptor in (device, sys.stdin.fileno()):
        poll.register(descriptor, select.POLLIN)
    while True:
        remaining = network.send_due()
        ready = dict(poll.poll(None if remaining is None else remaining * 1000))
        if sys.stdin.fileno() in ready:
            return
        if device in ready:
            for frame in _frames(device):
                network.take(frame)


def main(arguments: Sequence[str]) -> int:
    try:
        device = _open_tap()
        subprocess.run(["ip", "link", "set", "dev", _TAP, "addrgenmode", "none", "up"], check=True)
        with _led_to_tap():
            network = _Network(int(arguments[0]))
            print("ready", flush=True)
            _serve(device, network)
    except (OSError, CannotError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps(network.counts))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
