# SPDX-License-Identifier: BSD-3-Clause
"""Steering of a job's packets: which ways can be set here, and to which cores."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence

from urakata.hosts import steering
from urakata.measure.session import Refused


def away(places: Sequence[Sequence[int]], relays: Sequence[int], usable: Iterable[int]) -> list[list[int]]:
    """For each host the cores that are to handle its packets: all but the relays', for all hosts alike; where nobody
    relays, or the relays have all cores, all but the host's own. `places`: the cores of each host."""
    cores = set(usable)
    free = cores.difference(*(places[relay] for relay in relays)) if relays else set()
    return [sorted(free or cores.difference(own)) for own in places]


def settable(wanted: Sequence[str]) -> tuple[list[str], list[Refused]]:
    """Those of the ways that can be set here, and why others cannot."""
    possible, refused = [], []
    for way in wanted:
        reason = steering.obstacle(way)
        if not reason and way == "rps" and len(os.sched_getaffinity(0)) < 2:
            reason = "there is no second core to hand packets to"
        if reason:
            refused.append(Refused(f"steering {way}", reason))
        else:
            possible.append(way)
    return possible, refused
