# SPDX-License-Identifier: BSD-3-Clause
"""Writes what a rank's profile would: src/observe/call_profile.hpp, call_events.hpp."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

FINISHED, ABORTED, RUNNING = 1, 2, 0


class CallsFile:
    """One rank of the program `./app`; times in ns after its MPI_Init."""

    def __init__(
        self, rank: int, ranks: int, host: str = "node", clock: str = "", job: int = 0, pid: int = 7, wall: int = 0
    ) -> None:
        self._rank, self._ranks, self._job, self._pid, self._wall = rank, ranks, job, pid, wall
        self._texts = b"\0"
        self._host, self._program = self._text(host), self._text("./app ")
        self._clock = self._text(clock) if clock else 0
        self._records: list[bytes] = []

    def _text(self, words: str) -> int:
        at = len(self._texts)
        self._texts += words.encode() + b"\0"
        return at

    def call(
        self, operation: str, calls: int, ns: int, sized: int = 0, size: int = 0, offset: int = 0x10, **place: Any
    ) -> int:
        """The number of its record. `place`: of a Python program file, line and function."""
        named = self._text(operation), self._text("/nowhere/app"), 0
        python = (self._text(place["file"]), self._text(place["function"]), place["line"]) if place else (0, 0, 0)
        mean = ns // calls if calls else 0
        self._records.append(struct.pack("=5Ii8Q", *named, *python, offset, 0, calls, ns, mean, mean, sized, size))
        return len(self._records)

    def write(
        self,
        folder: Path,
        state: int = FINISHED,
        ns: int = 1_000_000,
        inside: int = 0,
        since: int = 0,
        last: int = 0,
    ) -> Path:
        head = 2, state, self._rank, self._ranks, 1024, len(self._records)
        texts = 104 + 88 * len(self._records), len(self._texts), self._host, self._program, self._clock
        times = 5000, 5000 + ns, 5000 + since
        path = folder / f"calls-{self._rank}.bin"
        packed = struct.pack(
            "=8s12I3Qq4I", b"URACALLS", *head, *texts, self._pid, *times, self._wall, inside, last, self._job, 0
        )
        path.write_bytes(packed + b"".join(self._records) + self._texts)
        return path


CALL, COLLECTIVE, SEND, RECEIVE = range(4)


class EventsFile:
    """One rank's events, of which the last `most` are kept; times as in CallsFile."""

    def __init__(self, rank: int, ranks: int, most: int = 16, wall: int = 0) -> None:
        self._rank, self._ranks, self._most, self._wall = rank, ranks, most, wall
        self._entries: list[bytes] = []

    def _add(self, begin: int, end: int, *rest: int) -> None:
        self._entries.append(struct.pack("=2Q3I2iHBx", begin, end, *rest))

    def call(self, record: int, begin: int, end: int, thread: int = 0) -> None:
        self._add(begin + 5000, end + 5000, record, 0, 0, 0, 0, thread, CALL)

    def collective(self, record: int, begin: int, end: int, number: int, communicator: int = 9) -> None:
        self._add(begin + 5000, end + 5000, record, communicator, number, 0, 0, 0, COLLECTIVE)

    def message(self, kind: int, time: int, size: int, number: int, peer: int, tag: int = 3) -> None:
        self._add(time + 5000, size, 0, 9, number, peer, tag, 0, kind)

    def write(self, folder: Path) -> Path:
        ring = [bytes(40)] * self._most
        for number, entry in enumerate(self._entries):
            ring[number % self._most] = entry
        head = 1, self._rank, self._ranks, self._most, self._wall, len(self._entries)
        path = folder / f"events-{self._rank}.bin"
        path.write_bytes(struct.pack("=8s4IqQ", b"URAEVENT", *head) + b"".join(ring))
        return path
