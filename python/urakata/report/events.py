"""Reads DIR/events-N.bin of all ranks: when each MPI call was, and which messages met (src/observe/call_events.hpp).

Clocks of different nodes are brought together by what cannot be: no message is received before it is sent, and no rank
ends a collective that needs all ranks before each has begun it. In the middle of what that leaves they are taken to
agree; where it leaves one side open, as near to their wall clocks as it allows.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from urakata.report.calls import RankCalls, read_all_calls
from urakata.report.errors import ReportError
from urakata.report.files import Faults, blame, own_files
from urakata.report.hidden import all_need_all

_FORMAT = 1
_HEAD = struct.Struct("=8s4IqQ")
_ENTRY = struct.Struct("=2Q3I2iHBx")
_CALL, _COLLECTIVE, _SEND, _RECEIVE = range(4)


class Call(NamedTuple):
    """Times here and below are in ns, on one clock for all ranks."""

    begin: int
    end: int
    name: str
    thread: int


class Message(NamedTuple):
    """One of the program's own, of which both sides have told."""

    sender: int
    receiver: int
    sent: int  # when the call that sends it began
    received: int  # when the call ended that found it received
    bytes: int
    tag: int
    threads: tuple[int, int]  # the sender's and the receiver's


class Wait(NamedTuple):
    """A rank waits, in a blocking collective, for one that has not begun it yet."""

    rank: int
    begin: int
    end: int
    late_rank: int
    name: str


@dataclass
class RankLine:
    rank: int
    host: str
    shift: int  # to be added to the rank's CLOCK_MONOTONIC
    begin: int  # MPI_Init's return
    end: int  # MPI_Finalize's beginning, or the last call's end
    first: int  # from here on all calls are there: earlier ones may have been overwritten
    calls: list[Call] = field(default_factory=list)


@dataclass
class TimeLine:
    ranks: list[RankLine]
    messages: list[Message]
    waits: list[Wait]


class _Entry(NamedTuple):
    begin: int
    end: int
    record: int
    communicator: int
    number: int
    peer: int
    tag: int
    thread: int
    kind: int


class _Rank(NamedTuple):
    calls: RankCalls
    wall: int  # to be added to its clock to get the time of day
    lost: int
    entries: list[_Entry]


class _Part(NamedTuple):
    """An entry and the rank whose it is."""

    rank: _Rank
    entry: _Entry


_Pair = tuple[_Part, _Part]
_Together = list[_Part]


def _read(path: Path, calls: dict[int, RankCalls]) -> _Rank | None:
    """None: of a rank of an earlier run."""
    try:
        data = path.read_bytes()
        mark, form, rank, ranks, most, wall, added = _HEAD.unpack_from(data)
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from error
    except struct.error as error:
        raise ReportError(f"{path} is broken, or cut off") from error
    if mark != b"URAEVENT":
        raise ReportError(f"{path} is no time line of Urakata")
    if form != _FORMAT:
        raise ReportError(f"{path} has form {form}, this urakata reads form {_FORMAT}")
    if len(data) < _HEAD.size + most * _ENTRY.size:
        raise ReportError(f"{path} is broken, or cut off")
    own = calls.get(rank)
    if own is None or own.ranks != ranks:
        return None
    lost = max(0, added - most)
    places = (_HEAD.size + _ENTRY.size * (number % most) for number in range(lost, added))
    entries = [_Entry._make(_ENTRY.unpack_from(data, place)) for place in places]
    # One that was claimed and not written yet when the rank was killed has no time.
    whole = [entry for entry in entries if entry.begin > 0 and entry.record < len(own.operations)]
    return _Rank(own, wall, lost, whole)


def _pairs(ranks: list[_Rank]) -> Iterator[_Pair]:
    """Each message that is known on both sides. Bytes or times do not fit where a stream's numbers are off."""
    sends = {
        (rank.calls.rank, entry.peer, entry.communicator, entry.tag, entry.number): _Part(rank, entry)
        for rank in ranks
        for entry in rank.entries
        if entry.kind == _SEND
    }
    for rank in ranks:
        for entry in rank.entries:
            if entry.kind != _RECEIVE:
                continue
            key = entry.peer, rank.calls.rank, entry.communicator, entry.tag, entry.number
            sent = sends.get(key)
            if sent is None or sent.entry.end != entry.end:
                continue
            if sent.rank.calls.clock != rank.calls.clock or sent.entry.begin <= entry.begin:
                yield sent, _Part(rank, entry)


def _collectives(ranks: list[_Rank]) -> list[_Together]:
    """Blocking ones that no rank can end before all have begun, and of which all have told."""
    found: dict[tuple[int, int, str], _Together] = {}
    members: dict[int, set[int]] = {}
    for rank in ranks:
        for entry in rank.entries:
            if entry.kind != _COLLECTIVE or entry.communicator == 0:
                continue
            members.setdefault(entry.communicator, set()).add(rank.calls.rank)
            name = rank.calls.operations[entry.record]
            if not name.startswith("I") and all_need_all(name, 1):
                found.setdefault((entry.communicator, entry.number, name), []).append(_Part(rank, entry))
    return [parts for (number, _, _), parts in found.items() if len(parts) == len(members[number]) > 1]


def _orders(pairs: list[_Pair], together: list[_Together]) -> Iterator[tuple[str, int, str, int]]:
    """Clock and time of what comes before, and of what comes after."""
    for sent, got in pairs:
        yield sent.rank.calls.clock, sent.entry.begin, got.rank.calls.clock, got.entry.begin
    for parts in together:
        last: dict[str, int] = {}
        first: dict[str, int] = {}
        for rank, entry in parts:
            clock = rank.calls.clock
            last[clock] = max(last.get(clock, entry.begin), entry.begin)
            first[clock] = min(first.get(clock, entry.end), entry.end)
        for one, begin in last.items():
            for other, end in first.items():
                yield one, begin, other, end


def _shifts(ranks: list[_Rank], pairs: list[_Pair], together: list[_Together]) -> dict[str, int]:
    """By clock: what is to be added. Those that nothing joins to others stay with their wall clocks."""
    # A rank that was stopped between its two readings has a wall clock that is behind.
    shifts: dict[str, int] = {}
    for rank in ranks:
        shifts[rank.calls.clock] = max(shifts.get(rank.calls.clock, rank.wall), rank.wall)
    if len(shifts) == 1:
        return shifts
    # least[b, a]: what b's clock must be set forward against a's, so that all comes in order.
    least: dict[tuple[str, str], int] = {}
    for before, begin, after, end in _orders(pairs, together):
        if before != after:
            behind = (begin + shifts[before]) - (end + shifts[after])
            least[after, before] = max(least.get((after, before), behind), behind)
    known = {ranks[0].calls.clock: 0}
    while len(known) < len(shifts):
        bounds = []
        for clock in shifts.keys() - known.keys():
            low = [known[other] + least[clock, other] for other in known if (clock, other) in least]
            high = [known[other] - least[other, clock] for other in known if (other, clock) in least]
            bounds.append((max(low, default=None), min(high, default=None), clock))
        # First the one that is bounded best.
        low_, high_, clock = min(bounds, key=_freedom)
        if low_ is not None and high_ is not None:
            known[clock] = (low_ + high_) // 2
        else:
            known[clock] = max(0, low_) if low_ is not None else min(0, high_) if high_ is not None else 0
    return {clock: wall + known[clock] for clock, wall in shifts.items()}


def _freedom(bound: tuple[int | None, int | None, str]) -> tuple[int, int, str]:
    low, high, clock = bound
    sides = (low is None) + (high is None)
    return sides, abs(high - low) if low is not None and high is not None else 0, clock


def _waits(parts: _Together, shifts: dict[str, int]) -> Iterable[Wait]:
    """What each rank waited before the last one had begun."""
    times = {
        rank.calls.rank: (entry.begin + shifts[rank.calls.clock], entry.end + shifts[rank.calls.clock])
        for rank, entry in parts
    }
    late_rank = max(times, key=lambda rank: times[rank])
    name = parts[0].rank.calls.operations[parts[0].entry.record]
    for rank, (begin, end) in times.items():
        until = min(times[late_rank][0], end)
        if until > begin:
            yield Wait(rank, begin, until, late_rank, name)


def _rank_line(rank: _Rank, shift: int) -> RankLine:
    found = [
        Call(entry.begin + shift, entry.end + shift, rank.calls.operations[entry.record], entry.thread)
        for entry in rank.entries
        if entry.kind in (_CALL, _COLLECTIVE)
    ]
    begin = rank.calls.begin_ns + shift
    first = min((call.begin for call in found), default=begin) if rank.lost else begin
    return RankLine(rank.calls.rank, rank.calls.host, shift, begin, begin + rank.calls.ns, first, found)


def _read_all(folder: Path, faults: Faults | None) -> list[_Rank]:
    calls = {rank.rank: rank for rank in read_all_calls(folder, faults)}
    ranks = []
    for path, number in own_files(folder, "events"):
        try:
            if rank := _read(path, calls):
                ranks.append(rank)
        except ReportError as error:
            blame(error, path, number, faults)
    return sorted(ranks, key=lambda rank: rank.calls.rank)


def read_events(folder: Path, faults: Faults | None = None) -> TimeLine | None:
    """Of all ranks that have one, also of a job that was killed; None: none has. Times are ns since the first rank's
    MPI_Init."""
    ranks = _read_all(folder, faults)
    if not ranks:
        return None
    pairs, together = list(_pairs(ranks)), _collectives(ranks)
    walls = _shifts(ranks, pairs, together)
    origin = min(rank.calls.begin_ns + walls[rank.calls.clock] for rank in ranks)
    shifts = {clock: shift - origin for clock, shift in walls.items()}
    messages = [
        Message(
            sent.rank.calls.rank,
            got.rank.calls.rank,
            sent.entry.begin + shifts[sent.rank.calls.clock],
            got.entry.begin + shifts[got.rank.calls.clock],
            sent.entry.end,
            sent.entry.tag,
            (sent.entry.thread, got.entry.thread),
        )
        for sent, got in pairs
    ]
    waits = [wait for parts in together for wait in _waits(parts, shifts)]
    return TimeLine([_rank_line(rank, shifts[rank.calls.clock]) for rank in ranks], messages, waits)
