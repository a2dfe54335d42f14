# SPDX-License-Identifier: BSD-3-Clause
"""What the programs of bench/ and examples/ print, as samples."""

from __future__ import annotations

import pytest
from goal_cases import HOST, POLL, job

from urakata.goals import jobs, readers
from urakata.goals.definitions import Side
from urakata.goals.errors import MeasurementError


def test_records_of_a_side_must_come_from_that_side() -> None:
    # The MPI library's own library where Urakata should be, and the other way round, is no measurement.
    line = '{"operation": "ibcast", "bytes": 8, "us": 1.0}'
    plain = '{"mpi": "/opt/lib/libmpi.so.40"}\n' + line
    loaded = '{"mpi": "/opt/lib/urakata/liburakata-openmpi.so"}\n' + line
    assert len(jobs.read_records(job(HOST), plain)) == len(jobs.read_records(job(POLL), loaded)) == 1
    for side, output in ((HOST, loaded), (POLL, plain), (HOST, ""), (HOST, plain + "\n{half")):
        with pytest.raises(MeasurementError):
            jobs.read_records(job(side), output)


def test_what_steps_back_is_no_measurement() -> None:
    output = '{"mpi": "/opt/lib/urakata/liburakata-openmpi.so"}\n{"part": "hop", "us": 1.0}'
    assert jobs.read_records(job(POLL), output, "urakata: rank 0: transport wire: 2 nodes\n")
    for said in (
        "urakata: engine thread instead of kernel: io_uring is switched off",
        "urakata: not engine kernel for a communicator of 4 ranks, and others like it: one node",
        "urakata: calls by several threads: engine poll instead of thread",
        "urakata: engine kernel: small collectives not by eBPF code: no answer",
    ):
        with pytest.raises(MeasurementError, match=said[:40]):
            jobs.read_records(job(POLL), output, said + "\n")


def test_readers_name_points_as_people_write_them() -> None:
    record = {"operation": "ibcast", "bytes": 4096, "us": 2.5}
    assert list(readers.READERS["nbc"](job(HOST), record)) == [("us", ("node, 2 ranks", "ibcast", "4 KiB"), 2.5)]
    assert [readers.size_text(n) for n in (8, 1000, 1024, 3 << 20)] == ["8 B", "1000 B", "1 KiB", "3 MiB"]


def test_of_a_job_without_late_ranks_there_is_no_lateness_to_be_off() -> None:
    record = {"late_ms": 50, "every": 20, "first": 3, "known_late_ns": 100.0, "told_late_ns": 90.0, "hidden": 0.4}
    late = ("node, 2 ranks", "50 ms late in each 20th from the 3th on")
    assert list(readers.READERS["late"](job(POLL), record)) == [
        ("hidden", late, 0.4),
        ("late_off", late, pytest.approx(0.1)),
    ]
    even = record | {"late_ms": 0, "known_late_ns": 0.0}
    assert list(readers.READERS["late"](job(POLL), even)) == [("hidden", ("node, 2 ranks", "none late"), 0.4)]


def test_a_suite_is_one_point() -> None:
    record = {"ranks": 3, "communicators": 12, "rounds": 8, "ms": 850.5}
    read = list(readers.READERS["suite"](job(HOST, "3 hosts, 1gbit", "suite"), record))
    assert read == [("ms", ("3 hosts, 1gbit", "12 communicators, 8 rounds"), 850.5)]


def test_a_work_queue_is_a_point_by_workers_and_size() -> None:
    record = {"bytes": 4096, "ranks": 4, "near": 1, "us": 9.5}
    label = "2 hosts of 2 ranks, 1gbit"
    read = list(readers.READERS["queue"](job(HOST, label, "queue"), record))
    assert read == [("us", (label, "1 of 3 near", "4 KiB"), 9.5)]


def test_collectives_are_points_by_buffers_and_come_from_their_side() -> None:
    space = Side("space", "openmpi", ("--space",))
    read = readers.READERS["collectives"]
    record = {"operation": "bcast", "form": "blocking", "buffers": "fresh", "bytes": 1 << 20, "ranks": 2}
    record |= {"space": True, "us": 210.5}
    assert list(read(job(space), record)) == [("us", ("node, 2 ranks", "bcast", "fresh", "1 MiB"), 210.5)]
    late = ("node, 2 ranks", "ibcast", "fresh", "1 MiB")
    record |= {"form": "late", "wait_part": 0.02}
    assert list(read(job(space), record)) == [("us", late, 210.5), ("wait_part", late, 0.02)]
    with pytest.raises(MeasurementError):
        list(read(job(HOST), record))


def test_layouts_are_points_by_pattern_or_stride() -> None:
    read = readers.READERS["layout"]
    ran = job(HOST)
    times = {"us": 2.0, "fast_us": 1.5, "low_us": 1.8, "high_us": 2.2}
    ((_, pattern, us), (_, _, fast)) = read(ran, {"pattern": "wrf-x", "bytes": 1024, **times})
    assert pattern == (ran.label, "wrf-x", "1 KiB") and (us, fast) == (2.0, 1.5)
    swept = {"pattern": "sweep", "block": 8, "stride": 4096, "bytes": 1024, **times}
    assert next(iter(read(ran, swept)))[1] == (ran.label, "8 B every 4 KiB", "1 KiB")


def test_messages_are_read_with_their_floor() -> None:
    ranks = "node, 2 ranks"
    space = Side("space", "openmpi", ("--space",))
    read = readers.READERS["space"]
    trip = ("half-round-trip", "8 B")
    for record, values in (
        ({"measure": "line", "bytes": 64, "ns": 140.0}, [("line_us", (ranks, "line", "64 B"), 0.14)]),
        ({"measure": trip[0], "bytes": 8, "ns": 165.0}, [("us", (ranks, *trip), 0.165)]),
        (
            {"measure": trip[0], "bytes": 8, "ns": 165.0, "over_line": 1.2},
            [("us", (ranks, *trip), 0.165), ("over_line", (ranks, *trip), 1.2)],
        ),
        (
            {"measure": "persistent", "bytes": 8, "ns": 150.0, "over_line": 1.21, "over_half_round_trip": 0.945},
            [
                ("us", (ranks, "persistent", "8 B"), 0.15),
                ("over_line", (ranks, "persistent", "8 B"), 1.21),
                ("over_own", (ranks, "persistent", "8 B"), 1.05),
            ],
        ),
        ({"measure": "memcpy", "bytes": 4096, "ns": 60.0}, [("memcpy_us", (ranks, "memcpy", "4 KiB"), 0.06)]),
        (
            {"measure": "stream", "bytes": 8, "ns": 50.0},
            [("million_per_second", (ranks, "stream", "8 B"), 20.0), ("stream_us", (ranks, "stream", "8 B"), 0.05)],
        ),
    ):
        assert list(read(job(space), record)) == [(q, p, pytest.approx(value)) for q, p, value in values]


def test_an_overlapped_turn_has_four_times() -> None:
    read = readers.READERS["overlap"]
    times = {"pure": 10.0, "compute_alone": 20.0, "compute": 21.0, "overall": 30.0}
    record = {"type": "result", "operation": "ibcast", "bytes": 8, "wrong_ranks": 0, "median": times}
    point = ("node, 2 ranks", "ibcast", "8 B")
    assert list(read(job(HOST), record)) == [(quantity, point, value) for quantity, value in times.items()]


def test_hidden_and_theft_are_those_of_a_round() -> None:
    # Tw = 100, Tc = 50, T = 110 of which 105 computing: 40 of 50 hidden, 5 % stolen. Then all takes twice as long.
    one = {"compute_alone": 100.0, "pure": 50.0, "overall": 110.0, "compute": 105.0}
    rounds = [one, {quantity: 2 * us for quantity, us in one.items()}, one]
    record = {"type": "result", "operation": "ibcast", "bytes": 8, "wrong_ranks": 0, "median": one}
    found = readers.READERS["overlap"](job(HOST), {**record, "turns": {"median": rounds}})
    values = {quantity: value for quantity, _, value in found}
    assert (values["hidden"], values["theft"]) == (pytest.approx(0.8), pytest.approx(0.05))


def test_a_space_that_was_not_there_is_no_measurement() -> None:
    read = readers.READERS["space"]
    space = Side("space", "openmpi", ("--space",))
    for side, within in ((space, False), (HOST, True), (POLL, True)):
        with pytest.raises(MeasurementError, match="in a space"):
            list(read(job(side), {"measure": "setup", "cores": [0, 1], "space": within}))
    assert not list(read(job(space), {"measure": "setup", "cores": [0, 1], "space": True}))


def test_memory_is_read_before_and_after_messages() -> None:
    side = Side("space", "openmpi", ("--space",))
    job = jobs.Job(side, "node", 16, "memory", (), "node, 16 ranks")
    record = {"after": "init", "node_kib": 50000, "space": True}
    assert list(readers.READERS["memory"](job, record)) == [("begin_kib", ("node, 16 ranks", "init"), 50000)]
    record = {"after": "all-to-all of 8 B", "node_kib": 52000, "space": True}
    assert list(readers.READERS["memory"](job, record)) == [
        ("node_kib", ("node, 16 ranks", "all-to-all of 8 B"), 52000)
    ]
    with pytest.raises(MeasurementError, match="not in a space"):
        list(readers.READERS["memory"](job, record | {"space": False}))


def test_a_halo_exchange_is_compared_with_the_hosts_best_way() -> None:
    times = {
        "messages": 2.0,
        "persistent": 1.5,
        "neighbour": 2.5,
        "neighbour-nonblocking": 2.6,
        "neighbour-persistent": 3,
    }
    iterations = {way: 1 + 2 * us for way, us in times.items()}
    record = {"cells": 16, "ranks": 2, "us": times, "iteration_us": iterations}
    point = ("node, 2 ranks", "16^3 cells")
    for side, us in ((HOST, 1.5), (POLL, 3)):
        ran = jobs.Job(side, "node", 2, "halo", (), "node, 2 ranks")
        assert list(readers.READERS["halo"](ran, record)) == [
            ("us", point, us),
            ("iteration_us", point, 1 + 2 * us),
            ("call_us", (*point, "neighbour"), 2.5),
            ("call_us", (*point, "neighbour-nonblocking"), 2.6),
            ("messages_iteration_us", (*point, "messages"), 5.0),
            ("messages_iteration_us", (*point, "persistent"), 4.0),
        ]


def test_a_halo_exchange_by_hand_is_no_way_of_mpis() -> None:
    record = {"cells": 16, "ranks": 2, "us": {"by-hand": 0.5}, "iteration_us": {"by-hand": 1.0}}
    ran = jobs.Job(HOST, "node", 2, "halo", (), "node, 2 ranks")
    point = ("node, 2 ranks", "16^3 cells")
    assert list(readers.READERS["halo"](ran, record)) == [("us", point, 0.5), ("iteration_us", point, 1.0)]


def test_an_exchange_is_compared_with_each_way_of_the_host() -> None:
    """The MPI library's side stands for the way of the point, Urakata's for the collective of neighbours."""
    arguments = ("--n", "8", "--ways", "messages,put-fence,neighbour")
    taken = {"messages": 2.0, "put-fence": 1.5, "neighbour": 0.5}
    records = [{"measure": "cg", "way": way, "us": 90.0, "exchange_us": us} for way, us in taken.items()]
    points = [("messages_us", "messages"), ("put_us", "put-fence")]
    for side, times in ((HOST, (2.0, 1.5)), (POLL, (0.5, 0.5))):
        ran = jobs.Job(side, "node", 2, "solver", arguments, "node, 2 ranks")
        read = [value for record in records for value in readers.READERS["solver"](ran, record)]
        expected = zip(points, times, strict=True)
        assert read == [(quantity, ("node, 2 ranks", "cg", way), us) for (quantity, way), us in expected]
        alone = {**records[0], "measure": "exchange", "way": "neighbour" if side is POLL else "messages"}
        assert next(iter(readers.READERS["solver"](ran, alone)))[2] == 90.0
        assert list(readers.READERS["solver"](ran, {"measure": "skip", "way": "messages"})) == []
        with pytest.raises(MeasurementError, match="in a space"):
            list(readers.READERS["solver"](ran, {"measure": "partition", "space": True}))


def test_starts_of_plans_stand_beside_the_hosts_persistent_messages() -> None:
    def read(side: Side, way: str, allocations: int | None) -> list[readers.Value]:
        ran = jobs.Job(side, "node", 2, "neighbours", (), "node, 2 ranks")
        return list(readers.READERS["neighbours"](ran, {"way": way, "call_ns": 150.0, "allocations": allocations}))

    point = ("node, 2 ranks", "halo")
    beside = ("node, 2 ranks", "neighbour-persistent")
    assert read(HOST, "persistent", None) == [("call_ns", point, 150.0), ("call_ns", beside, 150.0)]
    assert not read(HOST, "neighbour-persistent", None) and not read(POLL, "persistent", 0)
    assert read(POLL, "halo", 0) == [("call_ns", point, 150.0), ("allocations", point, 0)]


def test_examples_are_points_by_their_arguments() -> None:
    ran = jobs.Job(HOST, "node", 2, "halo_rows", ("--rows", "2"), "node, 2 ranks")
    read = list(readers.READERS["halo_rows"](ran, {"us": 5.0, "checksum": 1.5}))
    point = ("node, 2 ranks", "halo_rows --rows 2")
    assert read == [("us", point, 5.0), ("checksum", point, 1.5)]
