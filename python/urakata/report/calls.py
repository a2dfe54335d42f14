# SPDX-License-Identifier: BSD-3-Clause
"""Reads DIR/calls-N.bin of all ranks: each MPI call, counted and timed by call site (src/observe/call_profile.hpp)."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from urakata.report.errors import ReportError
from urakata.report.files import Faults, JobKey, blame, own_files

_FORMAT = 2
_HEAD = struct.Struct("=8s12I3Qq4I")
_RECORD = struct.Struct("=5Ii8Q")
_STATES = ("not finished", "finished", "aborted")


class _Head(NamedTuple):
    """CallFile. Times are CLOCK_MONOTONIC in ns."""

    mark: bytes
    form: int
    state: int
    rank: int
    ranks: int
    most: int
    records: int
    texts: int
    text_bytes: int
    host: int
    program: int
    clock: int
    pid: int
    begin: int
    end: int
    since: int
    wall: int
    inside: int
    last: int
    job: int
    reserved: int


@dataclass(frozen=True)
class Call:
    """The calls from one place of one rank. Times in ns."""

    operation: str
    site: dict[str, Any]  # as the other files describe a place: see places.py
    calls: int
    ns: int
    least_ns: int
    most_ns: int
    sized: int  # calls whose payload is known
    bytes: int  # of those


@dataclass(frozen=True)
class RankCalls:
    """What a rank has called from MPI_Init's return to MPI_Finalize, or to its last call where it did not get there."""

    rank: int
    ranks: int
    host: str
    program: str
    state: str  # "finished"; "aborted": it has called MPI_Abort; "not finished": it was killed, or runs still
    ns: int
    calls: list[Call]
    inside: Call | None  # the call that it had begun and did not return from
    inside_after_ns: int  # when that began
    begin_ns: int  # MPI_Init's return, by CLOCK_MONOTONIC
    clock: str  # ranks with the same one have the same CLOCK_MONOTONIC
    operations: list[str]  # by the number of a record in the file
    job: int  # see JobKey
    pid: int
    wall: int  # to be added to its CLOCK_MONOTONIC to get the time of day
    last: Call | None  # the call that ended last
    last_after_ns: int  # when that ended

    @property
    def key(self) -> JobKey:
        return JobKey(self.job, self.ranks)


def _texts(data: bytes) -> dict[int, str]:
    """By offset."""
    texts, at = {}, 0
    for text in data.split(b"\0")[:-1]:
        texts[at] = text.decode(errors="replace")
        at += len(text) + 1
    return texts


def _call(fields: tuple[int, ...], texts: dict[int, str]) -> Call:
    operation, module, symbol, python_file, python_function, python_line, offset, symbol_offset, *numbers = fields
    site: dict[str, Any] = {
        "module": texts[module],
        "offset": offset,
        "symbol": texts[symbol],
        "symbol_offset": symbol_offset,
    }
    if python_file:
        site["python"] = {"file": texts[python_file], "line": python_line, "function": texts[python_function]}
    return Call(texts[operation], site, *numbers)


def read_calls(path: Path) -> RankCalls:
    """One rank's file, also of a rank that was killed, or is running still."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from error
    if len(data) < _HEAD.size and b"URACALLS".startswith(data[:8]):
        raise ReportError(f"{path} is broken, or cut off")
    if not data.startswith(b"URACALLS"):
        raise ReportError(f"{path} is no report of Urakata")
    head = _Head._make(_HEAD.unpack_from(data))
    if head.form != _FORMAT:
        raise ReportError(f"{path} has form {head.form}, this urakata reads form {_FORMAT}")
    try:
        texts = _texts(data[head.texts : head.texts + head.text_bytes])
        found = [_call(_RECORD.unpack_from(data, _HEAD.size + _RECORD.size * i), texts) for i in range(head.records)]
        return RankCalls(
            head.rank,
            head.ranks,
            texts[head.host],
            texts[head.program].strip(),
            _STATES[head.state],
            max(head.end, head.since if head.inside else 0) - head.begin,
            [call for call in found if call.calls],
            found[head.inside - 1] if head.inside else None,
            head.since - head.begin,
            head.begin,
            texts[head.clock] or texts[head.host],
            [call.operation for call in found],
            head.job,
            head.pid,
            head.wall,
            found[head.last - 1] if head.last else None,
            head.end - head.begin,
        )
    except (struct.error, KeyError, IndexError) as error:
        raise ReportError(f"{path} is broken, or cut off") from error


def read_all_calls(folder: Path, faults: Faults | None = None) -> list[RankCalls]:
    """All ranks' in order of rank; none where the run had no profile. What an earlier job has left is passed over: the
    newest file tells which job it is."""
    read: list[tuple[float, RankCalls]] = []
    for path, number in own_files(folder, "calls"):
        try:
            read.append((path.stat().st_mtime, read_calls(path)))
        except OSError as error:
            blame(ReportError(f"{path}: {error.strerror}"), path, number, faults)
        except ReportError as error:
            blame(error, path, number, faults)
    if not read:
        return []
    newest = max(read, key=lambda one: one[0])[1].key
    return sorted((rank for _, rank in read if rank.key == newest), key=lambda rank: rank.rank)
