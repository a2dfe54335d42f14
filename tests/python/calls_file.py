"""Writes what a rank's profile would: src/observe/call_profile.hpp."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

FINISHED, ABORTED, RUNNING = 1, 2, 0


class CallsFile:
    """One rank of the program `./app`; times in ns after its MPI_Init."""

    def __init__(self, rank: int, ranks: int, host: str = "node") -> None:
        self._rank, self._ranks = rank, ranks
        self._texts = b"\0"
        self._host, self._program = self._text(host), self._text("./app ")
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

    def write(self, folder: Path, state: int = FINISHED, ns: int = 1_000_000, inside: int = 0, since: int = 0) -> Path:
        head = 1, state, self._rank, self._ranks, 1024, len(self._records)
        texts = 88 + 88 * len(self._records), len(self._texts), self._host, self._program, 0
        times = 5000, 5000 + ns, 5000 + since
        path = folder / f"calls-{self._rank}.bin"
        packed = struct.pack("=8s12I3Q2I", b"URACALLS", *head, *texts, 7, *times, inside, 0)
        path.write_bytes(packed + b"".join(self._records) + self._texts)
        return path
