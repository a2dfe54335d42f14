"""What the programs of bench/ print, as samples: (quantity, point, value) for each figure in a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from urakata.goals.errors import MeasurementError
from urakata.goals.jobs import Job
from urakata.goals.samples import Point

Value = tuple[str, Point, float]


def size_text(size: int) -> str:
    """A number of bytes as people write it: 8 B, 4 KiB, 1 MiB."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"


def _collective_point(job: Job, record: dict[str, Any]) -> Point:
    return (job.label, record["operation"], size_text(record["bytes"]))


def _nbc(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    yield "us", _collective_point(job, record), record["us"]


def _start(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    for quantity in ("call_ns", "own_ns", "allocations"):
        if record[quantity] is not None:
            yield quantity, _collective_point(job, record), record[quantity]


def _bypass(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    if record["kind"] == "pingpong":
        yield "pingpong_ns", (job.label, "ping-pong", size_text(record["bytes"])), record["ns"]
    else:
        yield "call_ns", (job.label, record["name"], "no partner"), record["ns"]


def _idle(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    point = (job.label, record["window"])
    yield "switches_per_second", point, record["per_second"]
    yield "helpers", point, record["helpers"]


def _overlap(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    if record["type"] != "result":
        return
    point = _collective_point(job, record)
    if record["wrong_ranks"]:
        raise MeasurementError(f"overlap, side {job.side.name}: {' '.join(point)} gave a wrong result")
    for quantity in ("pure", "compute_alone", "compute", "overall"):
        yield quantity, point, record["median"][quantity]


def _space(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    measure = record["measure"]
    if measure == "setup":
        if record["space"] != ("--space" in (job.side.options or ())):
            where = "in" if record["space"] else "not in"
            raise MeasurementError(f"space, side {job.side.name}: the ranks are {where} a space")
        return
    point = (job.label, measure, size_text(record["bytes"]))
    if measure == "stream":
        yield "million_per_second", point, 1e3 / record["ns"]
    else:
        quantity = {"line": "line_us", "memcpy": "memcpy_us", "half-round-trip": "us"}[measure]
        yield quantity, point, record["ns"] / 1e3


def _halo(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    point = (job.label, " ".join([job.program, *job.arguments]))
    yield "us", point, record["us"]
    yield "checksum", point, record["checksum"]


def _layout(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    pattern = record["pattern"]
    if pattern == "sweep":
        pattern = f"{size_text(record['block'])} every {size_text(record['stride'])}"
    point = (job.label, pattern, size_text(record["bytes"]))
    for quantity in ("us", "fast_us"):
        yield quantity, point, record[quantity]


READERS: dict[str, Callable[[Job, dict[str, Any]], Iterator[Value]]] = {
    "nbc": _nbc,
    "start": _start,
    "bypass": _bypass,
    "idle": _idle,
    "overlap": _overlap,
    "space": _space,
    "layout": _layout,
    "halo_rows": _halo,
    "halo_faces": _halo,
}
