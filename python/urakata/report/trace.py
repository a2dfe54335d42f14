# SPDX-License-Identifier: BSD-3-Clause
"""The time line as a Chrome trace, which Perfetto opens.

For each rank tracks of computation, of the MPI calls of each thread, of what it waited for late ranks, and of each
progress thread; arrows go from the call that sends a message to the one that found it received.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, count, groupby, pairwise
from typing import Any, TextIO

from urakata.report.events import Message, RankLine, TimeLine
from urakata.report.hidden import Sample, all_need_all, whole_instances

# Numbers of tracks. Above those of all ranks: Perfetto takes thread 0 for the kernel's, of whichever process, and a
# thread with its process's number for the main one.
_COMPUTE = 1_000_000
_FIRST_CALLER = _COMPUTE + 1
_LATE = _COMPUTE + 70_000  # behind those of all threads
_FIRST_PROGRESS_THREAD = _LATE + 1


def _span(process: int, thread: int, begin: int, end: int, name: str, **more: Any) -> dict[str, Any]:
    times = {"ts": begin / 1000, "dur": max(0, end - begin) / 1000}
    return {"ph": "X", "pid": process, "tid": thread, "name": name, **times, **more}


def _name(process: int, thread: int, name: str) -> Iterator[dict[str, Any]]:
    common = {"ph": "M", "pid": process, "tid": thread}
    yield {**common, "name": "thread_name", "args": {"name": name}}
    yield {**common, "name": "thread_sort_index", "args": {"sort_index": thread}}


def _compute(rank: RankLine) -> Iterator[dict[str, Any]]:
    """What lies between the calls of the thread that called first."""
    at = rank.first
    thread = min((call.thread for call in rank.calls), default=0)
    for call in sorted(call for call in rank.calls if call.thread == thread):
        if call.begin > at:
            yield _span(rank.rank, _COMPUTE, at, call.begin, "compute")
        at = max(at, call.end)
    if rank.end > at:
        yield _span(rank.rank, _COMPUTE, at, rank.end, "compute")


def _calls(rank: RankLine, digits: int) -> Iterator[dict[str, Any]]:
    """`digits`: of the largest rank's number. Perfetto orders processes by their names, Chrome by their sort index."""
    name = f"rank {rank.rank:0{digits}} on {rank.host}"
    yield {"ph": "M", "pid": rank.rank, "name": "process_name", "args": {"name": name}}
    yield {"ph": "M", "pid": rank.rank, "name": "process_sort_index", "args": {"sort_index": rank.rank}}
    yield from _name(rank.rank, _COMPUTE, "compute")
    threads = {call.thread for call in rank.calls}
    for thread in sorted(threads):
        yield from _name(rank.rank, _FIRST_CALLER + thread, "MPI" if len(threads) == 1 else f"MPI, thread {thread}")
    for call in rank.calls:
        yield _span(rank.rank, _FIRST_CALLER + call.thread, call.begin, call.end, call.name)
    yield from _compute(rank)


def _inside(rank: dict[str, Any], shift: int) -> Iterator[dict[str, Any]]:
    """What Urakata did inside: from start to end the operations that the report keeps in full, and its progress
    threads."""
    process = rank["rank"]
    for site in rank["call_sites"]:
        for index, row in enumerate(site["samples"]):
            sample = Sample(*row).shifted(shift)
            name = f"{site['operation']} {site['bytes']} B"
            instance = {"local": f"{site['number']}.{index}"}  # local: Perfetto shows it among the rank's tracks
            common = {"cat": "operation", "id2": instance, "pid": process, "name": name}
            yield {"ph": "b", "ts": sample.begin / 1000, **common}
            yield {"ph": "e", "ts": max(sample.begin, sample.done) / 1000, **common}
    for number, track in enumerate(rank["tracks"], _FIRST_PROGRESS_THREAD):
        yield from _name(process, number, track["name"])
        for begin, end in track["spans"]:
            yield _span(process, number, begin + shift, end + shift, "progress")


def _starts(rank: RankLine) -> dict[int, array[int]]:
    """By thread, when each call began, in order."""
    found: dict[int, array[int]] = {}
    for call in rank.calls:
        found.setdefault(call.thread, array("q")).append(call.begin)
    for thread, begins in found.items():
        if any(late < early for early, late in pairwise(begins)):  # a torn entry
            found[thread] = array("q", sorted(begins))
    return found


def _arrows(line: TimeLine) -> Iterator[dict[str, Any]]:
    """From the call that sends each message to the one that found it received; none where a call was overwritten."""
    starts = {rank.rank: _starts(rank) for rank in line.ranks}
    lines = {rank.rank: rank for rank in line.ranks}

    def called(rank: int, thread: int, begin: int) -> bool:
        begins = starts.get(rank, {}).get(thread, array("q"))
        place = bisect_left(begins, begin)
        return place < len(begins) and begins[place] == begin

    numbers = count()
    for receiver, messages in groupby(line.messages, lambda message: message.receiver):
        begins = {(call.thread, call.end): call.begin for call in lines[receiver].calls}
        found: dict[tuple[int, int], list[Message]] = {}
        for message in sorted(messages, key=lambda each: each.sent):
            call = message.threads[1], message.received
            if (begin := begins.get(call)) is None or not called(message.sender, message.threads[0], message.sent):
                continue
            sends = message.sender, message.threads[0], message.sent
            if sends != (receiver, call[0], begin):  # else to itself, by MPI_Sendrecv
                found.setdefault(call, []).append(message)
        for call, its in found.items():
            yield from _arrows_to(begins[call], its, numbers)


def _arrows_to(begin: int, messages: list[Message], numbers: Iterator[int]) -> Iterator[dict[str, Any]]:
    """To a call that began then. Perfetto points an arrow to the slice that began later: so what was sent while the
    call waited has slices of its own within it, one after the other, each from when it was sent.
    """
    ends = messages[0].received
    at_once = groupby(messages, lambda message: max(begin, min(message.sent, ends - 1)))
    parts = [(start, list(part)) for start, part in at_once]
    for (start, part), end in zip(parts, [*(start for start, _ in parts[1:]), ends], strict=True):
        receiver = _FIRST_CALLER + part[0].threads[1]
        if start > begin:
            ranks = ", ".join(str(rank) for rank in sorted({message.sender for message in part}))
            size = sum(message.bytes for message in part)
            name = f"from rank{'s' if ',' in ranks else ''} {ranks}: {size} B"
            yield _span(part[0].receiver, receiver, start, end, name)
        for message in part:
            common = {"cat": "message", "name": f"{message.bytes} B, tag {message.tag}", "id": next(numbers)}
            sender = _FIRST_CALLER + message.threads[0]
            yield {"ph": "s", "pid": message.sender, "tid": sender, "ts": message.sent / 1000, **common}
            yield {"ph": "f", "pid": message.receiver, "tid": receiver, "ts": start / 1000, "bp": "e", **common}


def _late_in_instances(
    ranks: Iterable[dict[str, Any]], shifts: Mapping[int, int]
) -> Iterator[tuple[int, int, int, int, str]]:
    """Rank, begin, end, late rank and operation: what ranks waited for the last one in the non-blocking collectives
    that the report keeps in full."""
    for parts in whole_instances(ranks):
        site, _ = next(iter(parts.values()))
        operation = site["operation"]
        open_ended = operation.startswith("I") or "_init" in operation  # the others' calls tell it themselves
        if not open_ended or not all_need_all(operation, site["bytes"]) or not parts.keys() <= shifts.keys():
            continue
        begins = {rank: part.begin + shifts[rank] for rank, (_, part) in parts.items()}
        late = max(begins, key=begins.__getitem__)
        for rank, (_, part) in parts.items():
            begin, end = part.wait + shifts[rank], min(begins[late], part.end + shifts[rank])
            if end > begin:
                yield rank, begin, end, late, operation


def _waits(line: TimeLine, ranks: list[dict[str, Any]], shifts: Mapping[int, int]) -> Iterator[dict[str, Any]]:
    named: set[int] = set()
    waits = ((wait.rank, wait.begin, wait.end, wait.late_rank, wait.name) for wait in line.waits)
    for number, begin, end, late, name in chain(waits, _late_in_instances(ranks, shifts)):
        if number not in named:
            named.add(number)
            yield from _name(number, _LATE, "waits for late ranks")
        yield _span(number, _LATE, begin, end, f"waits for rank {late}", args={"operation": name})


def trace_events(line: TimeLine, ranks: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """`ranks`: those that told what Urakata did. Times are in us since the earliest MPI_Init."""
    shifts = {rank.rank: rank.shift for rank in line.ranks}
    digits = len(str(max(shifts, default=0)))
    for one in line.ranks:
        yield from _calls(one, digits)
    for rank in ranks:
        if rank["rank"] in shifts:
            yield from _inside(rank, shifts[rank["rank"]])
    yield from _arrows(line)
    yield from _waits(line, ranks, shifts)


def write_trace(line: TimeLine, ranks: list[dict[str, Any]], file: TextIO) -> None:
    """Event by event: all of them together can be larger than the memory."""
    file.write('{"displayTimeUnit": "ns", "traceEvents": [')
    for number, event in enumerate(trace_events(line, ranks)):
        file.write(",\n" if number else "\n")
        file.write(json.dumps(event))
    file.write("\n]}\n")
