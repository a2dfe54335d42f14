# SPDX-License-Identifier: BSD-3-Clause
"""How much of an operation was hidden: from samples that all ranks kept of the same instances (observe/samples.hpp).

On one rank an instance is: begin .. returned (the starting call), gap, wait .. end (the call that found it finished),
and it was done at `done`. A rank that comes late makes the others wait, and that is no communication. So first it is
asked when the last rank began; that moment is `all_begun`. What follows it is the operation's.

    late    = the part of wait .. end before all_begun
    exposed = starting call + unsuccessful tests + (wait .. end) - late
    own     = median of (done - all_begun) of instances in which all ranks waited as soon as all had begun
              (the last wait began within 1/20 of that time)
    hidden  = mean of min(own - exposed, gap) / own, in 0..1

Where `own` was not seen (no three such instances) it is known how much came while the program did not wait: was in no
call, or in one that starts something. With life = done - all_begun, gap_part the part of life in the gap, and computing
that share of all that came:

    hidden  = mean of min(gap_part / life, computing), of the instances that have a life

(Of several operations that are open at a time each has its turn on the link, so the life of the later ones is longer;
the bytes are not.) Without a progress thread that is the least that was hidden; the most is the mean of gap_part /
life. Where these are more than a tenth apart, it is not known.

Only operations in which no rank can end before all have begun tell of late ranks; of the others all_begun is the rank's
own begin, so that waiting for a late rank counts as exposed, and `own` is only taken where all ranks began together.
Clocks of different nodes are compared by the same operations: each begin comes before each end. What this leaves open
is counted as exposed and taken off `own`.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import fmean, median
from typing import Any, NamedTuple

_TOGETHER = 20  # "as soon as": within one of so many parts
_ENOUGH = 3  # instances that tell `own`
_APART = 0.1
_BUCKET = 10_000_000_000  # ns in which clocks of two nodes do not drift apart by what matters
_ALL_NEED_ALL = {"barrier", "allreduce", "allgather", "alltoall", "reduce_scatter", "reduce_scatter_block"}


class Sample(NamedTuple):
    """One rank's part in an instance; as report.cpp writes it."""

    first: int
    context: int
    sequence: int
    ranks: int
    begin: int
    returned: int
    wait: int
    end: int
    done: int
    tests: int
    work: int
    computing: int  # of the work: done while the program did not wait
    calls: int = 0  # ns inside any calls from `returned` to `wait`

    def shifted(self, by: int) -> Sample:
        times = {name: getattr(self, name) + by for name in ("begin", "returned", "wait", "end", "done")}
        return self._replace(**times)

    @property
    def gap(self) -> int:
        return max(0, self.wait - self.returned - max(self.calls, self.tests))


class Seen(NamedTuple):
    """A sample, and what the other ranks' samples of the instance say about it; times in ns."""

    late: int | None  # None: the operation does not tell
    wait: int
    exposed: int
    gap: int
    own: int | None  # None: not all ranks waited at once
    life: int
    gap_part: int
    computing: float | None  # the share of the work; None: without a profile nobody knows


@dataclass(frozen=True)
class Hidden:
    """Of a call site. `share` is None where it is not known; `why` then says why not."""

    share: float | None = None
    own_ns: float | None = None
    why: str = ""


def all_need_all(operation: str, size: int) -> bool:
    """Can no rank end it before all have begun it?"""
    name = re.sub(r"^i|_c$|_init$|_init_c$", "", operation.lower())
    return name in _ALL_NEED_ALL and (size > 0 or name == "barrier")


_Bounds = tuple[int, int]  # the least and the most that is to be added


class Clocks:
    """The differences between clocks of different nodes, and how far they may be off."""

    def __init__(self) -> None:
        self._bounds: dict[tuple[str, str, int], _Bounds] = {}  # two clocks in order, and the time
        self._hubs: dict[tuple[str, int], str] = {}  # of a clock, at a time, the first one that it was held against

    def learn(self, parts: Mapping[int, Sample], clock: Mapping[int, str]) -> None:
        """From an instance in which each begin comes before each end. Each clock is held against the first rank's, so
        that of many nodes there are as many bounds as nodes, and not one for each pair."""
        first: dict[str, int] = {}
        last: dict[str, int] = {}
        for rank, part in parts.items():
            name = clock[rank]
            first[name] = min(first.get(name, part.done), part.done)
            last[name] = max(last.get(name, part.begin), part.begin)
        bucket = min(part.begin for part in parts.values()) // _BUCKET
        one = next(iter(first))
        for other in first:
            if other != one:  # to be added to the other's times to get the one's
                self._narrow(one, other, bucket, (last[one] - first[other], first[one] - last[other]))
                self._hubs.setdefault((other, bucket), one)

    def _narrow(self, one: str, other: str, bucket: int, bounds: _Bounds) -> None:
        if one > other:
            one, other, bounds = other, one, (-bounds[1], -bounds[0])
        known = self._bounds.get((one, other, bucket), bounds)
        self._bounds[one, other, bucket] = max(known[0], bounds[0]), min(known[1], bounds[1])

    def _between(self, one: str, other: str, bucket: int) -> _Bounds | None:
        if one == other:
            return 0, 0
        bounds = self._bounds.get((min(one, other), max(one, other), bucket))
        return bounds if bounds is None or one < other else (-bounds[1], -bounds[0])

    def _by_way_of(self, hub: str | None, one: str, other: str, bucket: int) -> _Bounds | None:
        """By what is known of both against a third one."""
        if hub is None:
            return None
        ways = self._between(one, hub, bucket), self._between(hub, other, bucket)
        return None if ways[0] is None or ways[1] is None else (ways[0][0] + ways[1][0], ways[0][1] + ways[1][1])

    def to(self, one: str, other: str, time: int) -> tuple[int, int] | None:
        """What to add to the other's times, and its error; None: not known."""
        if one == other:
            return 0, 0
        bucket = time // _BUCKET
        ways = [self._between(one, other, bucket)]
        ways += [self._by_way_of(self._hubs.get((name, bucket)), one, other, bucket) for name in (one, other)]
        known = [bounds for bounds in ways if bounds is not None]
        if not known:
            return None
        least, most = max(bounds[0] for bounds in known), min(bounds[1] for bounds in known)
        return (least + most) // 2, abs(most - least) // 2 + 1

    @property
    def size(self) -> int:
        """How many bounds are kept."""
        return len(self._bounds)


def examine(
    parts: Mapping[int, Sample], operation: str, size: int, clock: Mapping[int, str], clocks: Clocks
) -> list[Seen]:
    """What an instance of which all ranks' samples are there says of each rank, in their order."""
    here = next(iter(parts))
    start = min(part.begin for part in parts.values())
    error = 0
    same: list[Sample] = []
    for rank, part in parts.items():
        shift = clocks.to(clock[here], clock[rank], start)
        if shift is None:
            return []
        same.append(part.shifted(shift[0]))
        error = max(error, 2 * shift[1])
    tells = all_need_all(operation, size)
    last = max(part.begin for part in same)
    origin = last if tells else min(part.begin for part in same)
    spread = max(part.wait for part in same) - origin + error
    at_once = spread * _TOGETHER <= max(min(part.done, part.end) for part in same) - last
    seen = []
    for part in same:
        done = min(part.done, part.end)
        begun = max(part.begin, last + error) if tells else part.begin
        late = max(0, min(part.end, last - error) - part.wait) if tells else None
        life = max(0, done - begun)
        gap_part = max(0, min(done, part.wait) - max(part.returned, begun) - part.tests)
        seen.append(
            Seen(
                late=late,
                wait=part.end - part.wait,
                exposed=part.returned - part.begin + part.tests + part.end - part.wait - (late or 0),
                gap=part.gap,
                own=life if at_once and life else None,
                life=life,
                gap_part=gap_part,
                computing=part.computing / part.work if part.work else None,
            )
        )
    return seen


def mean_late(seen: list[Seen], mean_wait: float) -> float | None:
    """Of one rank's calls, whose waits have this mean: by linear regression, since late ranks are rare, and the waits
    for them are most of what they are (Cochran, Sampling Techniques, 7.3). None: the operation does not tell, or the
    sample has none of the waits that make up the mean."""
    pairs = [(one.wait, one.late) for one in seen if one.late is not None]
    if not pairs or not min(pairs)[0] <= mean_wait <= max(pairs)[0]:
        return None
    wait, late = (fmean(values) for values in zip(*pairs, strict=True))
    spread = sum((own - wait) ** 2 for own, _ in pairs)
    slope = sum((own - wait) * (its - late) for own, its in pairs) / spread if spread else 0.0
    return min(mean_wait, max(0.0, late + min(1.0, max(0.0, slope)) * (mean_wait - wait)))


def measure(seen: list[Seen], helped: bool) -> Hidden:
    """Of a call site, from all that was seen of it on all ranks."""
    if not seen:
        return Hidden(why="no instance of which every rank's end is in the report")
    owns = [one.own for one in seen if one.own is not None]
    if len(owns) >= _ENOUGH:
        own = median(owns)
        share = fmean(min(own - one.exposed, one.gap) for one in seen) / own
        return Hidden(min(1.0, max(0.0, share)), own)
    lasting = [one for one in seen if one.life]
    if not lasting:
        return Hidden(why="no instance lasted on after the last rank had begun it")
    came = [one.computing for one in lasting if one.computing is not None]
    if len(came) < len(lasting):
        return Hidden(why="without the profile of the program's calls nobody knows when it waited")
    least = fmean(min(one.gap_part / one.life, share) for one, share in zip(lasting, came, strict=True))
    most = fmean(one.gap_part / one.life for one in lasting)
    if helped or most - least <= _APART:
        return Hidden(least)
    return Hidden(why="no instance was waited for at once by all ranks, which would tell how long it takes")


_Site = Mapping[str, Any]


def whole_instances(ranks: Iterable[_Site]) -> list[dict[int, tuple[_Site, Sample]]]:
    """By rank, the call site and the sample of each instance of which all that took part have told; times as each
    rank's clock has them."""
    instances: defaultdict[tuple[int, int, int], dict[int, tuple[_Site, Sample]]] = defaultdict(dict)
    twice = set()
    for rank in ranks:
        for site in rank["call_sites"]:
            for row in site["samples"]:
                sample = Sample(*row)
                key = sample[:3]
                if rank["rank"] in instances[key]:  # a communicator's number was given again
                    twice.add(key)
                instances[key][rank["rank"]] = site, sample
    return [
        parts
        for key, parts in instances.items()
        if key not in twice and all(sample.ranks == len(parts) for _, sample in parts.values())
    ]


def samples_of(ranks: Iterable[_Site]) -> dict[tuple[int, int], list[Seen]]:
    """What was seen at each call site, by rank and the site's number there."""
    ranks = list(ranks)
    clock: dict[int, str] = {}
    wall: dict[str, int] = {}  # one for each clock, to bring the times of different nodes near to each other
    for rank in ranks:
        clock[rank["rank"]] = rank.get("clock") or rank["host"]
        wall.setdefault(clock[rank["rank"]], rank["realtime_minus_monotonic_ns"])
    whole = [
        {number: (site, sample.shifted(wall[clock[number]])) for number, (site, sample) in parts.items()}
        for parts in whole_instances(ranks)
    ]
    clocks = Clocks()
    for parts in whole:
        site = next(iter(parts.values()))[0]
        if all_need_all(site["operation"], site["bytes"]):
            clocks.learn({rank: sample for rank, (_, sample) in parts.items()}, clock)
    found: defaultdict[tuple[int, int], list[Seen]] = defaultdict(list)
    for parts in whole:
        site = next(iter(parts.values()))[0]
        plain = {rank: sample for rank, (_, sample) in parts.items()}
        told = examine(plain, site["operation"], site["bytes"], clock, clocks)
        for (number, (own_site, _)), seen in zip(parts.items(), told, strict=False):  # none where nothing can be said
            found[number, own_site["number"]].append(seen)
    return found
