# SPDX-License-Identifier: BSD-3-Clause
"""Blocking collectives that no rank can end before all have begun: when each clock's ranks were in each of them.

Nothing is kept for a rank and a collective, only numbers for each collective.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from urakata.report.event_files import COLLECTIVE, Entry, RankEvents
from urakata.report.hidden import all_need_all


class Meeting(NamedTuple):
    """A collective, seen by one clock: when its last rank began, and its first one ended."""

    number: int  # of the collective: 0, 1, ...
    begin: int
    end: int


class Meetings:
    """Those of which all members have told."""

    def __init__(self, ranks: list[RankEvents]) -> None:
        self._ranks = ranks
        self._members: dict[int, set[int]] = {}  # by communicator
        seen: dict[tuple[int, int, str], int] = {}
        for rank in ranks:
            for entry in rank.entries(COLLECTIVE):
                if entry.communicator == 0:
                    continue
                self._members.setdefault(entry.communicator, set()).add(rank.calls.rank)
                if key := self._key(rank, entry):
                    seen[key] = seen.get(key, 0) + 1
        whole = (key for key, parts in seen.items() if parts == len(self._members[key[0]]) > 1)
        self._numbers = {key: number for number, key in enumerate(whole)}

    @staticmethod
    def _key(rank: RankEvents, entry: Entry) -> tuple[int, int, str] | None:
        name = rank.calls.operations[entry.record]
        if name.startswith("I") or not all_need_all(name, 1):
            return None
        return entry.communicator, entry.number, name

    def __len__(self) -> int:
        return len(self._numbers)

    def of_rank(self, rank: RankEvents) -> Iterator[tuple[int, str, Entry]]:
        """Number and name of each of these that the rank took part in."""
        for entry in rank.entries(COLLECTIVE):
            key = self._key(rank, entry) if entry.communicator else None
            if key is not None and (number := self._numbers.get(key)) is not None:
                yield number, key[2], entry

    def of_clock(self, clock: str, wall: int) -> Iterator[Meeting]:
        """Of all ranks with that clock; `wall` is added to their times."""
        found: dict[int, tuple[int, int]] = {}
        for rank in self._ranks:
            if rank.calls.clock != clock:
                continue
            for number, _, entry in self.of_rank(rank):
                begin, end = found.get(number, (entry.begin, entry.end))
                found[number] = max(begin, entry.begin), min(end, entry.end)
        for number, (begin, end) in found.items():
            yield Meeting(number, begin + wall, end + wall)

    def clocks_that_meet(self) -> Iterator[set[str]]:
        """For each communicator with one of these, the clocks of its members."""
        clock = {rank.calls.rank: rank.calls.clock for rank in self._ranks}
        for communicator in {key[0] for key in self._numbers}:
            yield {clock[rank] for rank in self._members[communicator]}
