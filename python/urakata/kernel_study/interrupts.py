# SPDX-License-Identifier: BSD-3-Clause
"""Who takes the interrupts, as a table: for each operation and each core, or group of cores."""

from __future__ import annotations

from collections.abc import Sequence

from urakata import cpus
from urakata.kernel_study.methods import ALGORITHMS, METHODS, PARTS, STEERING, WOKEN
from urakata.kernel_study.results import Results, key_of
from urakata.measure.text_table import TextTable
from urakata.sizes import size_text

KINDS = {"net_rx": "packets taken in", "function_call": "function calls", "reschedule": "rescheduling"}

_EACH = 4
"""Cores that have a column each; where there are more, they are shown in groups."""

_NOTE = (
    "For each operation, of the whole machine: medians over rounds. Packets taken in: softirqs NET_RX, each of one "
    "packet or more. Function calls and rescheduling: interrupts by other cores, by which the kernel has a thread go "
    "on with what came. The ranks' own words before each operation are counted, too."
)

Group = tuple[str, Sequence[int]]


def _groups(results: Results, part: str) -> list[Group]:
    """Cores with the same role, with what they are called."""
    places = results.places.get(part, [])
    relays = {core for host in PARTS[part].relay_hosts(len(places)) for core in places[host]}
    ranks = {core for place in places for core in place}
    counted = {
        int(core)
        for key, rounds in results.interrupts.items()
        if key.part == part
        for counts in rounds
        for each in counts.values()
        for core in each
    }
    every = sorted(counted | ranks)
    if len(every) <= _EACH:
        return [(f"core {core}" + (" (relay's)" if core in relays else ""), [core]) for core in every]
    roles = {"relays'": relays, "ranks'" if not relays else "other ranks'": ranks - relays, "others": counted - ranks}
    return [
        (f"{role} ({cpus.list_text(cores)})" if role != "others" else role, sorted(cores))
        for role, cores in roles.items()
        if cores
    ]


def interrupts_table(results: Results, part: str) -> TextTable | None:
    """A row for each operation, size and variant of WOKEN; None where nothing was counted."""
    groups = _groups(results, part)
    several = len({variant.algorithm for variant in results.variants(part)}) > 1
    rows = []
    for point in results.points(part):
        for variant in results.variants(part):
            key = key_of(part, point, variant)
            if variant.method not in WOKEN or key not in results.interrupts:
                continue
            algorithm = f", {ALGORITHMS[variant.algorithm].title}" if several and variant.algorithm else ""
            cells = [f"{results.interrupts_on(key, kind, cores):.1f}" for kind in KINDS for _, cores in groups]
            what = f"{point[0]}, {size_text(point[1])}{algorithm}"
            rows.append([what, METHODS[variant.method].title, STEERING[variant.steering], *cells])
    columns = ["", "by", "packets", *(f"{title}, {name}" for title in KINDS.values() for name, _ in groups)]
    title = f"Who takes the interrupts: {PARTS[part].title[:1].lower()}{PARTS[part].title[1:]}"
    return TextTable(title, columns, rows, _NOTE, ("by", "packets")) if rows else None
