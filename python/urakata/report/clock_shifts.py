# SPDX-License-Identifier: BSD-3-Clause
"""Brings the clocks of different nodes together.

Messages and collectives give bounds: no message is received before it is sent, and no rank ends a collective that needs
all ranks before each has begun it. A clock's shift is the middle between its two bounds. If there is only one bound, it
is the shift nearest to the node's wall clock that this bound allows.

Clocks are shifted one after the other. Each is compared with all that have been shifted already, by its own ranks'
events alone. Of each collective only two times are kept: when the last of those ranks began it and the first ended it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from urakata.report.meetings import Meetings

# By clock, and then by another clock: what the first must be set forward against the other, so that each message from
# the other comes after it was sent. Times of day, by the walls.
Behind = dict[str, dict[str, int]]


def behind(orders: Iterable[tuple[str, int, str, int]]) -> Behind:
    """`orders`: clock and time of what comes before, and of what comes after."""
    least: Behind = {}
    for before, begin, after, end in orders:
        if before != after:
            known = least.setdefault(after, {})
            known[before] = max(known.get(before, begin - end), begin - end)
    return least


def _in_order(walls: Mapping[str, int], messages: Behind, meetings: Meetings) -> Iterator[str]:
    """The clocks but the first one, each after those that bound it: where it can be from both sides."""
    groups = [group for group in meetings.clocks_that_meet() if len(group) > 1]
    groups_of: dict[str, list[int]] = {}
    for number, group in enumerate(groups):
        for clock in group:
            groups_of.setdefault(clock, []).append(number)
    later: dict[str, set[str]] = {}  # that have received from it
    for after, known in messages.items():
        for before in known:
            later.setdefault(before, set()).add(after)
    waiting = dict.fromkeys(walls)  # in their order
    both: dict[str, None] = {}
    one_side: dict[str, None] = {}
    met: set[int] = set()

    def place(clock: str) -> None:
        waiting.pop(clock, None)
        for number in groups_of.get(clock, ()):
            if number not in met:
                met.add(number)
                both.update(dict.fromkeys(sorted(groups[number])))
        before, after = messages.get(clock, {}).keys(), later.get(clock, set())
        both.update(dict.fromkeys(sorted(before & after)))
        one_side.update(dict.fromkeys(sorted(before | after)))

    place(next(iter(walls)))
    while waiting:
        for ready in (both, one_side, waiting):
            while ready and (clock := next(iter(ready))) not in waiting:
                del ready[clock]
            if ready:
                break
        clock = next(iter(ready))
        yield clock
        place(clock)


def shifts(walls: Mapping[str, int], messages: Behind, meetings: Meetings) -> dict[str, int]:
    """By clock: what is to be added to its times. `walls`: its wall clock's; those that nothing joins keep that."""
    first = next(iter(walls))
    moved = {first: 0}
    if len(walls) == 1:
        return dict(walls)
    begun: list[int | None] = [None] * len(meetings)  # by the last of the known ranks
    ended: list[int | None] = [None] * len(meetings)  # by the first

    def meet(clock: str) -> None:
        for number, begin, end in meetings.of_clock(clock, walls[clock] + moved[clock]):
            last, least = begun[number], ended[number]
            begun[number] = begin if last is None else max(last, begin)
            ended[number] = end if least is None else min(least, end)

    def bounds(clock: str) -> tuple[int | None, int | None]:
        low = [moved[other] + by for other, by in messages.get(clock, {}).items() if other in moved]
        high = [moved[other] - messages[other][clock] for other in moved if clock in messages.get(other, ())]
        for number, begin, end in meetings.of_clock(clock, walls[clock]):
            last, least = begun[number], ended[number]
            if last is not None and least is not None:
                low.append(last - end)
                high.append(least - begin)
        return max(low, default=None), min(high, default=None)

    meet(first)
    for clock in _in_order(walls, messages, meetings):
        low, high = bounds(clock)
        if low is not None and high is not None:
            moved[clock] = (low + high) // 2
        else:
            moved[clock] = max(0, low) if low is not None else min(0, high) if high is not None else 0
        meet(clock)
    return {clock: wall + moved[clock] for clock, wall in walls.items()}
