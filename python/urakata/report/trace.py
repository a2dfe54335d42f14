"""The time line as a Chrome trace, which Perfetto opens: for each rank tracks of compute, calls and each helper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

_CALLS = {"start", "wait", "test", "call"}
_COMPUTE, _FIRST_CALLER, _FIRST_HELPER = 0, 1, 1000


def _name(process: int, thread: int, name: str) -> dict[str, Any]:
    return {"ph": "M", "pid": process, "tid": thread, "name": "thread_name", "args": {"name": name}}


def _compute(calls: list[tuple[int, int]], begin: int, end: int) -> Iterator[tuple[int, int]]:
    """What lies between the calls of the first caller."""
    for start, stop in sorted(calls):
        if start > begin:
            yield begin, start
        begin = max(begin, stop)
    if end > begin:
        yield begin, end


def _rank_events(rank: dict[str, Any], shift: int) -> Iterator[dict[str, Any]]:
    process = rank["rank"]
    sites = {site["number"]: f"{site['operation']} {site['bytes']} B" for site in rank["call_sites"]}

    def span(thread: int, begin: int, end: int, name: str) -> dict[str, Any]:
        times = {"ts": (begin + shift) / 1000, "dur": max(0, end - begin) / 1000}
        return {"ph": "X", "pid": process, "tid": thread, "name": name, **times}

    yield {"ph": "M", "pid": process, "name": "process_name", "args": {"name": f"rank {process} on {rank['host']}"}}
    yield {"ph": "M", "pid": process, "name": "process_sort_index", "args": {"sort_index": process}}
    yield _name(process, _COMPUTE, "compute")
    calls: list[tuple[int, int]] = []
    callers: dict[int, int] = {}
    for number, track in enumerate(rank["tracks"]):
        if number:
            yield _name(process, _FIRST_HELPER + number, track["name"])
        for index, (begin, end, kind, site, thread) in enumerate(track["events"]):
            name = f"{kind} {sites[site]}" if site in sites else kind
            if kind == "instance":
                common = {"cat": "instance", "id": f"{process}.{number}.{index}", "pid": process, "name": name}
                yield {"ph": "b", "ts": (begin + shift) / 1000, **common}
                yield {"ph": "e", "ts": (end + shift) / 1000, **common}
                continue
            if number:
                yield span(_FIRST_HELPER + number, begin, end, name)
                continue
            if thread not in callers:
                callers[thread] = _FIRST_CALLER + len(callers)
                yield _name(process, callers[thread], "calls" if len(callers) == 1 else f"calls of thread {thread}")
            if kind in _CALLS and callers[thread] == _FIRST_CALLER:
                calls.append((begin, end))
            yield span(callers[thread], begin, end, name)
    lost = bool(rank["tracks"]) and rank["tracks"][0]["lost"] > 0
    if calls:  # before the oldest event that was kept nothing is known
        first = min(begin for begin, _ in calls) if lost else rank["init_ns"]
        for begin, end in _compute(calls, first, rank["finalize_ns"]):
            yield span(_COMPUTE, begin, end, "compute")


def trace(ranks: list[dict[str, Any]]) -> dict[str, Any]:
    """Times are in us since the earliest MPI_Init; clocks of different nodes are aligned by their wall clocks."""
    origin = min(rank["init_ns"] + rank["realtime_minus_monotonic_ns"] for rank in ranks)
    events = [event for rank in ranks for event in _rank_events(rank, rank["realtime_minus_monotonic_ns"] - origin)]
    return {"displayTimeUnit": "ns", "traceEvents": events}
