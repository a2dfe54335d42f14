# SPDX-License-Identifier: BSD-3-Clause
"""DIR/events-N.bin of a rank (src/observe/call_events.hpp), read entry by entry.

Those of a thousand ranks would fill the memory as objects.
"""

from __future__ import annotations

import mmap
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from urakata.report.calls import RankCalls, read_all_calls
from urakata.report.errors import ReportError
from urakata.report.files import Faults, blame, own_files

_FORMAT = 1
_HEAD = struct.Struct("=8s4IqQ")
_ENTRY = struct.Struct("=2Q3I2iHBx")
CALL, COLLECTIVE, SEND, RECEIVE = range(4)


class Entry(NamedTuple):
    """CallEvent. Times are the rank's CLOCK_MONOTONIC in ns."""

    begin: int  # of a receive: the end of the call that found it finished
    end: int  # of messages: their bytes
    record: int
    communicator: int
    number: int
    peer: int
    tag: int
    thread: int
    kind: int


class RankEvents:
    """One rank's entries, oldest first."""

    def __init__(self, calls: RankCalls, wall: int, most: int, added: int, data: bytes | mmap.mmap) -> None:
        self.calls = calls
        self.wall = wall  # to be added to its clock to get the time of day
        self.lost = max(0, added - most)  # that were overwritten
        self._most, self._added, self._data = most, added, data

    def places(self, *kinds: int) -> Iterator[tuple[int, Entry]]:
        """Each entry of these kinds, and its place in the file."""
        records = len(self.calls.operations)
        for number in range(self.lost, self._added):
            place = number % self._most
            entry = self.at(place)
            # One that was claimed and not written yet when the rank was killed has no time.
            if entry.kind in kinds and entry.begin > 0 and entry.record < records:
                yield place, entry

    def entries(self, *kinds: int) -> Iterator[Entry]:
        return (entry for _, entry in self.places(*kinds))

    def at(self, place: int) -> Entry:
        return Entry._make(_ENTRY.unpack_from(self._data, _HEAD.size + _ENTRY.size * place))


def _read(path: Path, calls: dict[int, RankCalls]) -> RankEvents | None:
    """None: of a rank of another job."""
    try:
        with path.open("rb") as file:
            if not (size := path.stat().st_size):
                raise ReportError(f"{path} is broken, or cut off")
            data = mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ)
        mark, form, rank, ranks, most, wall, added = _HEAD.unpack_from(data)
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from error
    except (ValueError, struct.error) as error:
        raise ReportError(f"{path} is broken, or cut off") from error
    if mark != b"URAEVENT":
        raise ReportError(f"{path} is no time line of Urakata")
    if form != _FORMAT:
        raise ReportError(f"{path} has form {form}, this urakata reads form {_FORMAT}")
    if most == 0 or len(data) < _HEAD.size + most * _ENTRY.size:
        raise ReportError(f"{path} is broken, or cut off")
    own = calls.get(rank)
    if own is None or own.ranks != ranks:
        return None
    return RankEvents(own, wall, most, added, data)


def read_event_files(folder: Path, faults: Faults | None) -> list[RankEvents]:
    """Of all ranks that have a time line, in order of rank."""
    calls = {rank.rank: rank for rank in read_all_calls(folder, faults)}
    ranks = []
    for path, number in own_files(folder, "events"):
        try:
            if rank := _read(path, calls):
                ranks.append(rank)
        except ReportError as error:
            blame(error, path, number, faults)
    return sorted(ranks, key=lambda rank: rank.calls.rank)
