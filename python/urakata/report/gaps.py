# SPDX-License-Identifier: BSD-3-Clause
"""What a report is without, and why: ranks whose files are missing or cannot be read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from urakata.report.files import Fault
from urakata.report.units import of_ranks

_KINDS = {"rank": "record of what Urakata did", "calls": "MPI calls", "events": "time line"}


def _without(kind: str, ranks: list[int]) -> str:
    return f"the report is without {'their' if len(ranks) > 1 else 'its'} {_KINDS[kind]}"


def fault_lines(faults: Iterable[Fault], size: int) -> list[str]:
    """A line for all ranks of one fault; faults of ranks that the job does not have are an earlier job's."""
    alike: dict[tuple[str, str, str], list[int]] = {}
    for fault in faults:
        if fault.rank < size:
            kind = fault.path.name.partition("-")[0]
            alike.setdefault((kind, fault.path.suffix, fault.why), []).append(fault.rank)
    lines = []
    for (kind, suffix, why), ranks in sorted(alike.items()):
        file = f"{kind}-{ranks[0] if len(ranks) == 1 else 'N'}{suffix}"
        lines.append(f"{of_ranks(ranks)}: {file} {why}; {_without(kind, ranks)}")
    return lines


def gap_lines(folder: Path, size: int, told: set[int], states: Mapping[int, str], faults: Iterable[Fault]) -> list[str]:
    """A line for all ranks of which the same is missing for the same reason.

    `told`: ranks with a rank-N.json. `states`: how each rank with a calls-N.bin ended; empty: no rank has one.
    """
    faults = list(faults)
    lines = fault_lines(faults, size)
    torn = {(fault.path.name.partition("-")[0], fault.rank) for fault in faults}
    silent = [
        rank
        for rank in range(size)
        if rank not in told and rank not in states and not torn & {("rank", rank), ("calls", rank)}
    ]
    if silent:
        shared = f"is {folder} on a file system that all nodes see?"
        if told or "finished" in states.values():  # so all ranks have come out of MPI_Init
            lines.append(f"no file of {of_ranks(silent)}: {shared}")
        else:
            lines.append(f"no file of {of_ranks(silent)}: not out of MPI_Init yet; if the program is, {shared}")
    if states:
        unprofiled = [rank for rank in sorted(told) if rank not in states and ("calls", rank) not in torn]
        if unprofiled:
            lines.append(f"no calls-N.bin of {of_ranks(unprofiled)}: {_without('calls', unprofiled)}")
    ended = [
        rank
        for rank, state in sorted(states.items())
        if state == "finished" and rank not in told and ("rank", rank) not in torn
    ]
    if ended:
        reason = "the rank has ended in MPI_Finalize, the disk is full, or the file was removed"
        lines.append(f"no rank-N.json of {of_ranks(ended)}: {reason}; {_without('rank', ended)}")
    return lines
