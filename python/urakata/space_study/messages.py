# SPDX-License-Identifier: BSD-3-Clause
"""Contiguous messages between two ranks: half round trip, bandwidth, message rate (bench/space)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from statistics import geometric_mean
from typing import Any

from urakata.measure.plots import Drawing
from urakata.measure.sides import TITLES, Side
from urakata.measure.text_table import TextTable, cell, ratio, ratio_cell, time_text
from urakata.sizes import size_text
from urakata.space_study.figures import Curves, Floor, draw_curves, draw_ratios
from urakata.space_study.part import Part, Run
from urakata.space_study.results import Results, Value, side_table

TRIP, FRESH, RATE, BANDWIDTH = "half round trip", "fresh message", "message rate", "bandwidth"
LINE, MEMCPY, OVER_LINE = "line", "memcpy", "half round trip over the line"
LINE_BYTES = 64
# A rank's core copies from here on; below, a message is a line or a few.
COPIED = 4096

_MEASURES = ["--measure", "line,memcpy,latency,fresh,stream"]
_QUICK = [*_MEASURES, "--sizes", "0,8,64,512,4K,32K,256K,1M,4M", "--turns", "11", "--budget-ms", "1500"]
_STUDY = [*_MEASURES, "--turns", "21", "--budget-ms", "6000"]


def _runs(quick: bool) -> list[Run]:
    return [Run(2, _QUICK if quick else _STUDY)]


def _read(record: dict[str, Any]) -> Iterator[Value]:
    kind = record["measure"]
    if kind == "setup":
        return
    size, ns = record["bytes"], record["ns"]
    if kind == "half-round-trip":
        yield Value(TRIP, size, ns / 1e3)
        yield Value(OVER_LINE, size, record["over_line"])
    elif kind == "fresh":
        yield Value(FRESH, size, ns / 1e3)
    elif kind == "stream":
        yield Value(RATE, size, 1e3 / ns)
        yield Value(BANDWIDTH, size, size / ns)
    else:
        yield Value(kind, size, ns / 1e3)


def _line(results: Results, size: int) -> float | None:
    return results.floor(LINE, LINE_BYTES) if size <= COPIED else None


def _memcpy(results: Results, size: int) -> float | None:
    return results.floor(MEMCPY, size) if size >= COPIED else None


def _memcpy_bandwidth(results: Results, size: int) -> float | None:
    us = results.floor(MEMCPY, size)
    return size / us / 1e3 if us else None


_LINE = Floor("floor: a cache line, one way", _line)
_MEMCPY = Floor("floor: memcpy by one core", _memcpy, (0, (5, 1, 1, 1)))
_CURVES = (
    Curves("latency", "Half round trip", "half round trip [µs]", TRIP, (_LINE, _MEMCPY)),
    Curves("fresh", "A message that was just written and is read", "one way [µs]", FRESH, (_LINE, _MEMCPY)),
    Curves(
        "bandwidth",
        "Bandwidth one way, up to 64 messages or 8 MiB outstanding",
        "GB/s",
        BANDWIDTH,
        (Floor("limit: memcpy by one core", _memcpy_bandwidth, (0, (5, 1, 1, 1))),),
        least=256,
    ),
    Curves("rate", "Messages one way, 64 outstanding", "million messages a second", RATE, most=COPIED),
)


def _draw(results: Results, subtitle: str, folder: Path) -> list[Drawing]:
    drawings = draw_curves(_CURVES, results, subtitle, folder)
    title = "Half round trip in a space over that of the MPI library alone"
    path = folder / "latency-ratio.png"
    if draw_ratios(results, TRIP, title, subtitle, path):
        drawings.insert(1, Drawing(title, path))
    return drawings


def _summary(results: Results) -> TextTable:
    line = results.floor(LINE, LINE_BYTES)
    rows = []
    for family in results.families(TRIP):
        alone, within = results.both(family, TRIP, 8)
        over_line = results.median(Side(family, "space"), OVER_LINE, 8)
        ratios = results.ratios(family, TRIP)
        large = [one for size, one in ratios.items() if size >= COPIED]
        worst = max(ratios, key=lambda size: ratios[size])
        fresh = [one for size, one in results.ratios(family, FRESH).items() if size >= COPIED]
        rows.append(
            [
                TITLES[family],
                cell(alone),
                cell(within),
                ratio_cell(within, alone),
                cell(over_line, ratio),
                ratio(geometric_mean(large)) if large else "-",
                ratio(geometric_mean(fresh)) if fresh else "-",
                f"{ratio(ratios[worst])} at {size_text(worst)}",
                cell(results.ratios(family, RATE).get(8), ratio),
            ]
        )
    note = (
        f"A cache line takes {time_text(line)} from core to core, one way; over the line: in turns of a millisecond. "
        if line
        else ""
    )
    return TextTable(
        "Messages in a space over the MPI library alone",
        [
            "MPI library",
            "8 B alone",
            "8 B in a space",
            "ratio",
            "over the line",
            "4 KiB and up",
            "fresh",
            "worst size",
            "rate of 8 B",
        ],
        rows,
        note
        + "Half round trips; 4 KiB and up: geometric mean of the ratios; fresh: the same of messages that were just "
        "written and are read. The rate is better when it is above 1.",
    )


def _details(results: Results, quantity: str, title: str) -> TextTable:
    table = side_table(results, quantity, title, "size", size_text)
    table.columns.append("memcpy")
    for size, row in zip(results.points(quantity), table.rows, strict=True):
        row.append(cell(results.floor(MEMCPY, size)))
    return table


def _tables(results: Results) -> list[TextTable]:
    if not results.families(TRIP):
        return []
    fresh = _details(results, FRESH, "A message that was just written and is read")
    return [_summary(results), _details(results, TRIP, "Half round trip"), fresh]


MESSAGES = Part(
    name="messages",
    title="Messages",
    program="space",
    runs=_runs,
    read=_read,
    tables=_tables,
    draw=_draw,
    text="Two ranks, pinned to a core each, send to and fro (MPI_Send, MPI_Recv), and one way with many "
    "outstanding (MPI_Isend, MPI_Irecv, MPI_Waitall). Nobody writes the buffers of the ping-pong, so that "
    "they stay in both caches; a fresh message is one that the sender has just written and the receiver "
    "reads: from the call of MPI_Send to the return of the MPI_Recv that already waits. The floor is "
    "measured by the same jobs on the same two cores: a cache line that two threads write in turn, and "
    "memcpy by one core of data that is in its cache as far as it fits. A job takes turns of a "
    "millisecond or so; its median turn counts.",
)
