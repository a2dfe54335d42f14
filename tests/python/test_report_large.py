# SPDX-License-Identifier: BSD-3-Clause
"""Reports of many ranks and nodes: work grows with what is in the files, and memory with one rank's."""

from __future__ import annotations

import tracemalloc
from io import StringIO
from pathlib import Path

import pytest
from calls_file import RECEIVE, SEND, CallsFile, EventsFile
from test_report import rank, shown, site

from urakata.report.event_files import RankEvents
from urakata.report.events import TimeLine, read_events
from urakata.report.trace import write_trace

AHEAD = 1_000_000_000  # of each node's clock against the one before


def nodes(folder: Path, ranks: int, collectives: int) -> Path:
    """A rank a node. In each MPI_Allreduce rank r begins 10 r ns after rank 0, and all end together."""
    folder.mkdir()
    for number in range(ranks):
        calls = CallsFile(number, ranks, f"node{number}", clock=f"clock{number}")
        allreduce = calls.call("Allreduce", 1, 100) - 1
        calls.write(folder, ns=10_000)
        events = EventsFile(number, ranks, most=collectives)
        for turn in range(collectives):
            at = number * AHEAD + 100_000 * turn
            events.collective(allreduce, at + 10 * number, at + 10 * ranks + 5, number=turn)
        events.write(folder)
    return folder


def line_of(folder: Path) -> TimeLine:
    line = read_events(folder)
    assert line is not None
    return line


def test_clocks_of_many_nodes_agree_and_each_event_is_read_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = 0
    at = RankEvents.at

    def counted(self: RankEvents, place: int) -> object:
        nonlocal read
        read += 1
        return at(self, place)

    monkeypatch.setattr(RankEvents, "at", counted)
    reads = []
    for ranks in (20, 40):
        read = 0
        line = line_of(nodes(tmp_path / str(ranks), ranks, 5))
        reads.append(read)
        begins = [[call.begin for call in rank.calls] for rank in line.ranks]
        ends = [[call.end for call in rank.calls] for rank in line.ranks]
        for turn in range(5):
            assert max(begin[turn] for begin in begins) <= min(end[turn] for end in ends)
    assert reads[1] <= 2.1 * reads[0] and reads[1] <= 5 * 40 * 5


def ring(folder: Path, ranks: int, messages: int) -> Path:
    """Each rank sends to the next one, in a call for each message."""
    folder.mkdir()
    for number in range(ranks):
        calls = CallsFile(number, ranks)
        for name in ("Send", "Recv"):
            calls.call(name, messages, 100)
        calls.write(folder, ns=1_000_000)
        events = EventsFile(number, ranks, most=4 * messages)
        for turn in range(messages):
            at = 100 * turn
            events.call(0, at + 10, at + 20)
            events.message(SEND, at + 10, 8, turn, peer=(number + 1) % ranks)
            events.call(1, at + 30, at + 40)
            events.message(RECEIVE, at + 40, 8, turn, peer=(number - 1) % ranks)
        events.write(folder)
    return folder


class Nowhere(StringIO):
    """Counts what is written."""

    arrows = 0

    def write(self, text: str) -> int:
        self.arrows += '"ph": "f"' in text
        return len(text)


def test_the_memory_of_a_time_line_is_that_of_one_rank(tmp_path: Path) -> None:
    peaks = []
    for ranks in (3, 12):
        folder = ring(tmp_path / str(ranks), ranks, 300)
        tracemalloc.start()
        out = Nowhere()
        write_trace(line_of(folder), [], out)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert out.arrows == ranks * 300
    assert peaks[1] < 1.5 * peaks[0], peaks


def test_of_many_ranks_a_line_stands_for_all(tmp_path: Path) -> None:
    """64 ranks with a progress thread, devices, and a site that each sends to."""
    way = {
        "site": "east",
        "bytes": 1 << 20,
        "pieces": 16,
        "connections": 4,
        "round_trip_ms": 16.25,
        "lost": 0,
        "again": 0,
    }
    devices = {"drivers": "CUDA", "fetched": 1 << 20, "stored": 0}
    sites = {"found": "two sites: west, east", "links": [], "ways": [way]}
    told = [
        rank(
            number,
            ranks=64,
            sites=sites,
            devices=devices,
            transport="wire",
            engine="thread/spare",
            call_sites=[site()],
            progress_threads=[{"placement": "spare core", "cpus": str(number), "cpu_seconds": 0.25 + number / 500}],
        )
        for number in range(64)
    ]
    lines = shown(tmp_path, *told)
    about = [line for line in lines if line.startswith("rank") and "app+" not in line]
    assert about == [
        "ranks 0-63: progress threads 0.313 CPU s each (0.250 of rank 0 to 0.376 of rank 63; spare core)",
        "ranks 0-63: messages between nodes by wire",
        "ranks 0-63: 64 MiB to site east (round trip 16.2 ms) in 1024 pieces over up to 4 connections",
        "ranks 0-63: CUDA is loaded; of buffers on devices 64.0 MiB were read and 0.0 MiB written",
    ]
