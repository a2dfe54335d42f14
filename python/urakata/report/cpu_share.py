# SPDX-License-Identifier: BSD-3-Clause
"""Whether ranks got their cores while they computed: by their CPU time, beside the time that they spent outside MPI."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from urakata.report.units import of_ranks, percent
from urakata.report.whole import RankShare

_ENOUGH = 0.7  # of a core; with less the times of a run tell little
_SHORTEST = 10_000_000  # ns outside MPI: in less the scheduler's clock tells nothing


def _cpu_ns(rank: Mapping[str, Any]) -> float | None:
    """Of its whole process: more than it used while it computed. None: not known."""
    if (own := rank.get("caller_cpu_seconds")) is None:
        return None
    return 1e9 * (
        float(own) + sum(float(progress_thread["cpu_seconds"]) for progress_thread in rank["progress_threads"])
    )


def starved(reports: Iterable[Mapping[str, Any]], shares: Iterable[RankShare]) -> str:
    """A sentence without its full stop; empty: all ranks had their cores, or it is not known."""
    cpu = {int(rank["rank"]): _cpu_ns(rank) for rank in reports}
    found: dict[int, tuple[float, int]] = {}
    for share in shares:
        used, outside = cpu.get(share.rank), share.run_ns - share.mpi_ns
        if used is not None and outside >= _SHORTEST and used < _ENOUGH * outside:
            found[share.rank] = used, outside
    if not found:
        return ""
    part = sum(used for used, _ in found.values()) / sum(outside for _, outside in found.values())
    they = "they" if len(found) > 1 else "it"
    had = f"{of_ranks(list(found))} had at most {percent(part)} of a core while {they} computed"
    return f"{had}: the machine was busy, or the program slept or read files. So these times may mislead"
