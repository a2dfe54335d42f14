# SPDX-License-Identifier: BSD-3-Clause
"""The time line of all ranks: when each MPI call was, which messages met, and who waited for whom, on one clock.

Calls, messages and waits are read anew each time that they are gone through, one rank after the other.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from urakata.report.clock_shifts import behind, shifts
from urakata.report.event_files import CALL, COLLECTIVE, RECEIVE, SEND, Entry, RankEvents, read_event_files
from urakata.report.files import Faults
from urakata.report.meetings import Meetings

Item = TypeVar("Item")


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


class Stream(Generic[Item]):
    """Items that are made each time they are gone through, since there may be millions of them."""

    def __init__(self, make: Callable[[], Iterator[Item]]) -> None:
        self._make = make

    def __iter__(self) -> Iterator[Item]:
        return self._make()


@dataclass
class RankLine:
    rank: int
    host: str
    shift: int  # to be added to the rank's CLOCK_MONOTONIC
    begin: int  # MPI_Init's return
    end: int  # MPI_Finalize's beginning, or the last call's end
    first: int  # from here on all calls are there: earlier ones may have been overwritten
    calls: Stream[Call]


@dataclass
class TimeLine:
    ranks: list[RankLine]
    messages: Stream[Message]  # receiver by receiver
    waits: Stream[Wait]  # rank by rank


class _Part(NamedTuple):
    """An entry and the rank whose it is."""

    rank: RankEvents
    entry: Entry


def _sends(ranks: list[RankEvents]) -> dict[int, array[int]]:
    """By receiver, where the messages to it stand: the sender's place among the ranks and the entry's in its file."""
    found: dict[int, array[int]] = {}
    for index, rank in enumerate(ranks):
        for place, entry in rank.places(SEND):
            found.setdefault(entry.peer, array("Q")).append(index << 32 | place)
    return found


def _pairs(ranks: list[RankEvents], sends: Mapping[int, array[int]]) -> Iterator[tuple[_Part, _Part]]:
    """Each message that is known on both sides. Bytes or times do not fit where a stream's numbers are off."""
    for rank in ranks:
        sent_here: dict[tuple[int, int, int, int], _Part] = {}
        for packed in sends.get(rank.calls.rank, ()):
            sender = ranks[packed >> 32]
            entry = sender.at(packed & 0xFFFFFFFF)
            sent_here[sender.calls.rank, entry.communicator, entry.tag, entry.number] = _Part(sender, entry)
        if not sent_here:
            continue
        for entry in rank.entries(RECEIVE):
            sent = sent_here.get((entry.peer, entry.communicator, entry.tag, entry.number))
            if sent is None or sent.entry.end != entry.end:
                continue
            if sent.rank.calls.clock != rank.calls.clock or sent.entry.begin <= entry.begin:
                yield sent, _Part(rank, entry)


def _waits(ranks: list[RankEvents], meetings: Meetings, by: Mapping[str, int]) -> Iterator[Wait]:
    """What each rank waited before the last one had begun."""
    late: dict[int, tuple[int, int]] = {}  # by collective: when the last rank began, and which that is
    for rank in ranks:
        for number, _, entry in meetings.of_rank(rank):
            begin = entry.begin + by[rank.calls.clock]
            if number not in late or begin > late[number][0]:
                late[number] = begin, rank.calls.rank
    for rank in ranks:
        shift = by[rank.calls.clock]
        for number, name, entry in meetings.of_rank(rank):
            until = min(late[number][0], entry.end + shift)
            if until > entry.begin + shift:
                yield Wait(rank.calls.rank, entry.begin + shift, until, late[number][1], name)


def _calls(rank: RankEvents, shift: int) -> Iterator[Call]:
    for entry in rank.entries(CALL, COLLECTIVE):
        yield Call(entry.begin + shift, entry.end + shift, rank.calls.operations[entry.record], entry.thread)


def _rank_line(rank: RankEvents, shift: int) -> RankLine:
    calls = Stream(lambda: _calls(rank, shift))
    begin = rank.calls.begin_ns + shift
    first = min((call.begin for call in calls), default=begin) if rank.lost else begin
    return RankLine(rank.calls.rank, rank.calls.host, shift, begin, begin + rank.calls.ns, first, calls)


def read_events(folder: Path, faults: Faults | None = None) -> TimeLine | None:
    """Of all ranks that have one, also of a job that was killed; None: none has. Times are ns since the first rank's
    MPI_Init."""
    ranks = read_event_files(folder, faults)
    if not ranks:
        return None
    # A rank that was stopped between its two readings has a wall clock that is behind.
    walls: dict[str, int] = {}
    for rank in ranks:
        walls[rank.calls.clock] = max(walls.get(rank.calls.clock, rank.wall), rank.wall)
    sends, meetings = _sends(ranks), Meetings(ranks)

    def orders() -> Iterator[tuple[str, int, str, int]]:
        for sent, got in _pairs(ranks, sends):
            before, after = sent.rank.calls.clock, got.rank.calls.clock
            yield before, sent.entry.begin + walls[before], after, got.entry.begin + walls[after]

    by_wall = shifts(walls, behind(orders()) if len(walls) > 1 else {}, meetings)
    origin = min(rank.calls.begin_ns + by_wall[rank.calls.clock] for rank in ranks)
    by = {clock: shift - origin for clock, shift in by_wall.items()}

    def messages() -> Iterator[Message]:
        for sent, got in _pairs(ranks, sends):
            begin, end = sent.entry.begin + by[sent.rank.calls.clock], got.entry.begin + by[got.rank.calls.clock]
            threads = sent.entry.thread, got.entry.thread
            sender, receiver = sent.rank.calls.rank, got.rank.calls.rank
            yield Message(sender, receiver, begin, end, sent.entry.end, sent.entry.tag, threads)

    lines = [_rank_line(rank, by[rank.calls.clock]) for rank in ranks]
    return TimeLine(lines, Stream(messages), Stream(lambda: _waits(ranks, meetings, by)))
