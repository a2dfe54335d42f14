# SPDX-License-Identifier: BSD-3-Clause
"""What the programs of bench/ print, as samples: (quantity, point, value) for each figure in a record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from statistics import median
from typing import Any

from urakata.goals.errors import MeasurementError
from urakata.goals.jobs import Job
from urakata.goals.samples import Point
from urakata.overlap_study import measures
from urakata.sizes import size_text

Value = tuple[str, Point, float]


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
    # From times of the same round, beside each other: a machine that is faster in the next would look like either.
    if rounds := record.get("turns", {}).get("median"):
        yield "hidden", point, median(measures.hidden(r["compute_alone"], r["pure"], r["overall"]) for r in rounds)
        yield "theft", point, median(measures.theft(r["compute_alone"], r["compute"]) for r in rounds)


def _expect_space(job: Job, record: dict[str, Any]) -> None:
    if record["space"] != ("--space" in (job.side.options or ())):
        where = "in" if record["space"] else "not in"
        raise MeasurementError(f"{job.program}, side {job.side.name}: the ranks are {where} a space")


def _space(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    measure = record["measure"]
    if measure == "setup":
        _expect_space(job, record)
        return
    point = (job.label, measure, size_text(record["bytes"]))
    if measure == "stream":
        yield "million_per_second", point, 1e3 / record["ns"]
        yield "stream_us", point, record["ns"] / 1e3
    elif measure in ("half-round-trip", "persistent", "barrier"):
        yield "us", point, record["ns"] / 1e3
        if "over_line" in record:
            yield "over_line", point, record["over_line"]
        if "over_line" in record and "over_half_round_trip" in record:
            # Over 0.9 of the usual half round trip's time, or over 1.1 lines where that is more.
            yield "over_own", point, min(record["over_half_round_trip"] / 0.9, record["over_line"] / 1.1)
    else:
        yield f"{measure}_us", point, record["ns"] / 1e3


def _mini_application(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    point = (job.label, " ".join([job.program, *job.arguments]))
    yield "us", point, record["us"]
    yield "checksum", point, record["checksum"]


def _halo(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    """The MPI library's side stands for the way that is fastest there, or for the one by hand, Urakata's for the
    persistent collective; its other two forms, and messages, stand beside the same calls of the MPI library's."""
    times: dict[str, float] = record["us"]
    alone = job.side.options is None
    cells = f"{record['cells']}^3 cells"
    for quantity in ("us", "iteration_us"):
        of_ways: dict[str, float] = record[quantity]
        yield quantity, (job.label, cells), min(of_ways.values()) if alone else of_ways["neighbour-persistent"]
    if "by-hand" in times:
        return
    for way in ("neighbour", "neighbour-nonblocking"):
        yield "call_us", (job.label, cells, way), times[way]
    for way in ("messages", "persistent"):
        yield "messages_iteration_us", (job.label, cells, way), record["iteration_us"][way]


def _solver(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    """A point for each way that the job was asked for: the MPI library's side stands for it, Urakata's for the
    persistent collective of neighbours."""
    if record["measure"] == "partition":
        _expect_space(job, record)
        return
    if record["measure"] == "skip":
        return
    us = record["us"] if record["measure"] == "exchange" else record["exchange_us"]
    alone = job.side.options is None
    for way in job.arguments[job.arguments.index("--ways") + 1].split(","):
        if way != "neighbour" and record["way"] == (way if alone else "neighbour"):
            yield f"{way.partition('-')[0]}_us", (job.label, record["measure"], way), us


def _neighbours(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    """The MPI library's persistent messages stand beside each way that has channels under Urakata."""
    plans = ("halo", "neighbour-persistent")
    shown_as = {"persistent": plans} if job.side.options is None else {way: (way,) for way in plans}
    for way in shown_as.get(record["way"], ()):
        for quantity in ("call_ns", "allocations"):
            if record[quantity] is not None:
                yield quantity, (job.label, way), record[quantity]


def _memory(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    _expect_space(job, record)
    quantity = "begin_kib" if record["after"] == "init" else "node_kib"
    yield quantity, (job.label, record["after"]), record["node_kib"]


def _storm(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    _expect_space(job, record)
    yield "us", (job.label, f"{record['threads']} threads"), record["us"]


def _empty(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    if "job_seconds" in record:
        yield "job_ms", (job.label, "start and end"), 1e3 * record["job_seconds"]
    else:
        _expect_space(job, record)


def _train(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    yield "seconds", (job.label, "from the wheel to the first comparison"), record["seconds"]


def _demo(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    yield "seconds", (job.label, "from nothing to the demo's end"), record["seconds"]


def _late(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    """late_off: how far what is told of lateness is off what the program knows, as a part of that."""
    late = f"{record['late_ms']} ms late in each {record['every']}th from the {record['first']}th on"
    point = (job.label, late if record["late_ms"] else "none late")
    yield "hidden", point, record["hidden"]
    if record["late_ms"]:
        yield "late_off", point, abs(record["told_late_ns"] / record["known_late_ns"] - 1.0)


def _suite(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    if "threads" in record:
        for quantity in ("threads", "sockets", "segments"):
            yield quantity, (job.label, "whole job"), record[quantity]
        return
    yield "ms", (job.label, f"{record['communicators']} communicators, {record['rounds']} rounds"), record["ms"]


def _queue(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    yield "us", (job.label, f"{record['near']} of {record['ranks'] - 1} near", size_text(record["bytes"])), record["us"]


def _collectives(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    _expect_space(job, record)
    operation = record["operation"] if record["form"] == "blocking" else f"i{record['operation']}"
    point = (job.label, operation, record["buffers"], size_text(record["bytes"]))
    for quantity in ("us", "wait_part"):
        if quantity in record:
            yield quantity, point, record[quantity]


def _layout(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    pattern = record["pattern"]
    if pattern == "sweep":
        pattern = f"{size_text(record['block'])} every {size_text(record['stride'])}"
    point = (job.label, pattern, size_text(record["bytes"]))
    for quantity in ("us", "fast_us"):
        yield quantity, point, record[quantity]


def _kernel(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    """`lost_wanted_us` is what another method may lose to be as good as this side: of the explicit one, a third."""
    what = record.get("operation", record["part"])
    point = (job.label, what, size_text(record["bytes"]))
    for quantity in ("us", "stolen_us", "start_ns", "cpu_us", "workers", "wrong"):
        if quantity in record:
            yield quantity, point, record[quantity]
    if "lost_us" in record:
        yield "lost_us", point, record["lost_us"]
        yield "lost_wanted_us", point, record["lost_us"] / (3.0 if job.side.name == "explicit" else 1.0)


_PAYLOAD = 1448 / 1500
"""Of what a long link carries, TCP's payload."""


def _least_crossing(record: dict[str, Any]) -> float:
    """Bytes that an operation has to bring across the link between two sites, both ways together."""
    ranks, remote, whole = record["ranks"], record["remote_bytes"], record["bytes"]
    block = whole // ranks
    home = ranks - remote // block
    return float(
        {
            "scatter": remote,
            "gather": remote,
            "bcast": whole,
            "reduce": whole,
            "allgather": ranks * block,
            "allreduce": 2 * whole,
            "alltoall": 2 * home * (ranks - home) * block,
        }[record["operation"]]
    )


def _sites(job: Job, record: dict[str, Any]) -> Iterator[Value]:
    """over_ideal: the time over one delay and the remote bytes at the rate of the link. of_sum: the rate of the remote
    bytes over the sum of the connections' rates, where these were set."""
    point = _collective_point(job, record)
    us, remote_bits = record["us"], 8 * record["remote_bytes"]
    yield "us", point, us
    if job.link:
        yield "over_ideal", point, us / (1e3 * job.link["delay_ms"] + remote_bits / (job.link["link_mbit"] * _PAYLOAD))
    if rates := job.side.flows.get("rates_mbit"):
        yield "of_sum", point, remote_bits / us / (sum(rates) * _PAYLOAD)
    if (predicted := record.get("predicted_us")) is not None:
        yield "model_error", point, abs(predicted - us) / us
    if "crossed_bytes" in record:
        yield "of_least_bytes", point, record["crossed_bytes"] / _least_crossing(record)


READERS: dict[str, Callable[[Job, dict[str, Any]], Iterator[Value]]] = {
    "nbc": _nbc,
    "start": _start,
    "bypass": _bypass,
    "recording": _bypass,
    "idle": _idle,
    "late": _late,
    "overlap": _overlap,
    "space": _space,
    "layout": _layout,
    "halo": _halo,
    "solver": _solver,
    "neighbours": _neighbours,
    "halo_rows": _mini_application,
    "halo_faces": _mini_application,
    "memory": _memory,
    "storm": _storm,
    "empty": _empty,
    "suite": _suite,
    "train": _train,
    "demo": _demo,
    "collectives": _collectives,
    "kernel": _kernel,
    "queue": _queue,
    "sites": _sites,
}
