"""The goals' definitions and arithmetic on worked examples; measuring itself with jobs that are not run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from urakata import cli
from urakata.commands import goals as command
from urakata.goals import definitions, figures, jobs, measure, readers, rounds, session
from urakata.goals.definitions import Definitions, Goal, Side
from urakata.goals.errors import CannotMeasureError, MeasurementError
from urakata.goals.samples import Samples
from urakata.paths import NotFoundError

ROOT = Path(__file__).resolve().parents[2]

# What the issues that ask for these numbers list, in their order.
PROMISED = [
    "nbc-start-own-us",
    "nbc-start-thread-us",
    "nbc-poll-geomean",
    "nbc-poll-worst",
    "nbc-hosts-geomean",
    "nbc-hosts-ibcast-large",
    "nbc-shared-8b-us",
    "nbc-shared-vs-mpich-async",
    "overlap-hidden",
    "overlap-theft-compute",
    "overlap-theft-memory",
    "overlap-overall-worst",
    "bypass-ns",
    "idle-switches",
    "space-8b-vs-line",
    "space-8b-vs-openmpi",
    "space-8b-vs-intel",
    "space-contiguous-vs-openmpi",
    "space-contiguous-vs-mpich",
    "space-rate-vs-openmpi",
    "space-miniapp-contiguous",
    "space-miniapp-layout",
    "space-memory-16",
    "space-memory-64",
    "space-own-kib-per-rank",
    "space-start-ms",
    "space-malloc-storm",
    "layout-patterns-vs-openmpi",
    "layout-sweep-worst",
    "layout-choice-regret",
]


@pytest.fixture(scope="module")
def defined() -> Definitions:
    return definitions.load(ROOT / "bench" / "goals.toml")


def goal(figure: str, target: float = 1.0, direction: str = "at most", **parameters: Any) -> Goal:
    return Goal("g", "", "ratio", target, direction, "s", figure, parameters)


def samples(quantity: str, **sides: dict[tuple[str, ...], list[float]]) -> Samples:
    filled = Samples()
    for side, points in sides.items():
        for point, series in points.items():
            for value in series:
                filled.add(side.replace("_", "-"), quantity, point, value)
    return filled


def job(side: Side, label: str = "node, 2 ranks", program: str = "nbc") -> jobs.Job:
    return jobs.Job(side, "node", 2, program, (), label)


HOST, POLL = Side("host", "openmpi"), Side("poll", "openmpi", ("--engine", "poll"))


def test_every_promise_is_defined_and_can_be_figured(defined: Definitions) -> None:
    assert list(defined.goals) == PROMISED
    for promised in defined.goals.values():
        assert promised.figure in figures.FIGURES, promised.name
        measured = defined.sessions[promised.session]
        assert measured.kind in readers.READERS, measured.name
        assert measured.seconds < 50, measured.name
        assert any((ROOT / folder / f"{measured.kind}.c").is_file() for folder in ("bench", "examples"))
        sides = {side.name for side in measured.sides}
        for key in ("side", "over", "under", "beside"):
            named = promised.parameters.get(key, [])
            assert set([named] if isinstance(named, str) else named) <= sides, promised.name


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[sessions", "Expected"),
        ("[sessions.s]\nkind='nbc'\nseconds=1\n[goals]", "sides"),
        (
            "[sessions]\n[goals.g]\ncompares='c'\nunit='u'\ntarget=1\ndirection='up'\nsession='s'\nfigure='f'",
            "direction",
        ),
        (
            "[sessions]\n[goals.g]\ncompares='c'\nunit='u'\ntarget=1\ndirection='at most'\nsession='s'\nfigure='f'",
            "no s",
        ),
    ],
)
def test_bad_definitions_name_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(MeasurementError, match=words):
        definitions.parse(text)


def test_met_depends_on_the_direction() -> None:
    assert goal("f", 1.0).met_by(1.0) and not goal("f", 1.0).met_by(1.01)
    assert goal("f", 0.85, "at least").met_by(0.85) and not goal("f", 0.85, "at least").met_by(0.84)


A, B = ("node", "ibcast", "8 B"), ("node", "ibcast", "4 KiB")


def test_ratios_compare_medians_at_each_point() -> None:
    # A: medians 2 over 4, B: 8 over 1; the geometric mean is 2, the worst 8. One disturbed round (900) decides nothing.
    measured = samples("us", host={A: [4, 4, 4], B: [1, 1, 1]}, poll={A: [2, 2, 900], B: [8, 8, 8]})
    parameters = {"quantity": "us", "over": "poll", "under": "host"}
    mean = figures.geometric_mean_of_ratios(goal("f", **parameters), measured)
    assert mean.value == pytest.approx(2.0)
    assert mean.samples[:2] == pytest.approx([2.0, 2.0]) and mean.samples[2] == pytest.approx((225 * 8) ** 0.5)
    worst = figures.worst_ratio(goal("f", **parameters), measured)
    assert worst.value == 8.0 and worst.samples == [8.0, 8.0, 8.0] and worst.detail["worst_point"] == list(B)
    assert worst.sides == {"host": 1.0, "poll": 8.0}


def test_a_mean_that_is_met_may_hide_a_point_that_is_not() -> None:
    # 0.2 and 1.2: the mean 0.49 is well below the target, but at B it is slower.
    measured = samples("us", host={A: [10], B: [10]}, poll={A: [2], B: [12]})
    parameters = {"quantity": "us", "over": "poll", "under": "host"}
    figure = figures.geometric_mean_of_ratios(goal("f", **parameters, nowhere_above=1.0), measured)
    assert figure.value == pytest.approx(0.24**0.5) and figure.detail["worst_point"] == list(B)
    assert figure.broken == "1.20 at node, ibcast, 4 KiB, more than 1"
    assert not figures.geometric_mean_of_ratios(goal("f", **parameters, nowhere_above=1.3), measured).broken
    assert not figures.geometric_mean_of_ratios(goal("f", **parameters), measured).broken


def test_a_wrong_checksum_is_no_success() -> None:
    parameters = {"quantity": "us", "over": "poll", "under": "host", "same": ["checksum"]}
    measured = samples("us", host={A: [10, 10]}, poll={A: [5, 5]})
    for side, sums in (("host", (7.5, 7.5)), ("poll", (7.5, 7.25))):
        for value in sums:
            measured.add(side, "checksum", A, value)
    figure = figures.worst_ratio(goal("f", **parameters), measured)
    assert figure.value == 0.5 and figure.broken == "checksum differs at node, ibcast, 8 B"
    measured.values["poll", "checksum", A][1] = 7.5
    assert not figures.worst_ratio(goal("f", **parameters), measured).broken


def test_a_session_may_compare_the_best_rounds_with_the_best_of_several_sides() -> None:
    # A: 5 over 10, the faster of 10 and 30; B: 12 over 10, the best of both sides.
    measured = samples(
        "us", poll={A: [20, 5], B: [12, 15]}, host={A: [10, 10], B: [10, 30]}, mpich={A: [30, 30], B: [40, 10]}
    )
    measured.over_rounds = "least"
    figure = figures.worst_ratio(goal("f", quantity="us", over="poll", under=["host", "mpich"]), measured)
    assert figure.value == pytest.approx(1.2) and figure.detail["worst_point"] == list(B)
    assert figure.samples == pytest.approx([1.2, 1.5])


def test_layouts_are_points_by_pattern_or_stride() -> None:
    read = readers.READERS["layout"]
    ran = job(HOST)
    times = {"us": 2.0, "fast_us": 1.5, "low_us": 1.8, "high_us": 2.2}
    ((_, pattern, us), (_, _, fast)) = read(ran, {"pattern": "wrf-x", "bytes": 1024, **times})
    assert pattern == (ran.label, "wrf-x", "1 KiB") and (us, fast) == (2.0, 1.5)
    swept = {"pattern": "sweep", "block": 8, "stride": 4096, "bytes": 1024, **times}
    assert next(iter(read(ran, swept)))[1] == (ran.label, "8 B every 4 KiB", "1 KiB")


def test_worst_side_ratio_takes_the_slower_side() -> None:
    measured = samples("us", thread={A: [10]}, thread_mpich={A: [16]}, mpich_async={A: [800]})
    asked = goal("f", quantity="us", over=["thread", "thread-mpich"], under="mpich-async")
    assert figures.worst_side_ratio(asked, measured).value == pytest.approx(0.02)


def test_largest_takes_the_worst_point_and_minds_what_must_not_be() -> None:
    # 300 and 400 ns are 0.4 us; but one start of a round allocated.
    measured = samples("own_ns", poll={A: [300, 300], B: [400, 400]})
    for value in (0, 1):
        measured.add("poll", "allocations", A, value)
        measured.add("poll", "allocations", B, 0)
    asked = goal("f", 0.5, quantity="own_ns", side="poll", scale=0.001, none=["allocations"])
    figure = figures.largest(asked, measured)
    assert figure.value == pytest.approx(0.4) and asked.met_by(figure.value)
    assert figure.broken == "allocations: 1 instead of none"


def test_no_switches_without_a_helper_is_no_success() -> None:
    measured = samples("switches_per_second", thread={("node", "sleep"): [0.0]})
    measured.add("thread", "helpers", ("node", "sleep"), 0)
    asked = goal("f", 0.0, quantity="switches_per_second", side="thread", some=["helpers"])
    assert figures.largest(asked, measured).broken == "no helpers at all"


def test_bypass_minds_nanoseconds_and_per_cent() -> None:
    # 1000 -> 1030 ns is within 50 ns, and 3 % more.
    measured = samples("pingpong_ns", host={A: [1000.0]}, poll={A: [1030.0]})
    for side, ns in (("host", 5.0), ("poll", 9.0)):
        measured.add(side, "call_ns", ("node", "MPI_Send", "no partner"), ns)
    figure = figures.bypass_excess(goal("f", 50, over="poll", under="host", percent=2), measured)
    assert figure.value == pytest.approx(30.0) and "3.0 % slower" in figure.broken
    assert not figures.bypass_excess(goal("f", 50, over="poll", under="host", percent=4), measured).broken


def test_hidden_and_theft_follow_their_formulas() -> None:
    # Tw = 100, Tc = 50, T = 110 of which 105 computing: 40 of 50 hidden, 5 % stolen.
    measured = Samples()
    for side, overall, compute in (("host", 150.0, 100.0), ("thread", 110.0, 105.0)):
        for quantity, value in (("compute_alone", 100.0), ("pure", 50.0), ("overall", overall), ("compute", compute)):
            measured.add(side, quantity, A, value)
    assert figures.hidden(measured, "thread", A) == pytest.approx(0.8)
    assert figures.theft(measured, "thread", A) == pytest.approx(0.05)
    asked = goal("f", 0.85, "at least", measure="hidden", side="thread", beside="host")
    assert figures.overlap_measure(asked, measured).sides == {"host": 0.0, "thread": pytest.approx(0.8)}


def test_overlap_takes_the_worst_operation_at_the_median_over_its_sizes() -> None:
    # Computing lost: ibcast 1, 2 and 90 %, iallreduce 4, 5 and 6 %: medians 2 and 5, the worst is 5.
    measured = Samples()
    for operation, lost in (("ibcast", (1, 2, 90)), ("iallreduce", (4, 5, 6))):
        for size, part in enumerate(lost):
            for quantity, value in (("compute_alone", 100), ("pure", 50), ("overall", 150), ("compute", 100 + part)):
                measured.add("thread", quantity, ("hosts", operation, str(size)), value)
    asked = goal("f", 0.1, measure="theft", side="thread", beside="thread")
    assert figures.overlap_measure(asked, measured).value == pytest.approx(0.05)


def test_the_floor_of_overlap_is_shown_and_not_judged() -> None:
    # Computing lost: the floor 20 %, iallgather 30 % on both sides.
    measured = Samples()
    for operation, lost in (("sockets", 20), ("iallgather", 30)):
        for quantity, value in (("compute_alone", 100), ("pure", 50), ("overall", 150), ("compute", 100 + lost)):
            measured.add("thread", quantity, ("hosts", operation, "64"), value)
    asked = goal("f", 0.1, measure="theft", side="thread", beside="thread", floor="sockets")
    figure = figures.overlap_measure(asked, measured)
    assert figure.value == pytest.approx(0.3)
    assert figure.sides == {"thread": pytest.approx(0.3), "sockets": pytest.approx(0.2)}


def test_a_missing_quantity_is_an_error_that_names_it() -> None:
    with pytest.raises(MeasurementError, match="own_ns"):
        figures.largest(goal("f", quantity="own_ns", side="poll"), samples("call_ns", poll={A: [1.0]}))


class FakePlace:
    """Runs nothing; every job takes a second of a clock that only it moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.ran: list[str] = []

    def run(self, job: jobs.Job) -> jobs.Records:
        self.now += 1.0
        self.ran.append(job.side.name)
        return []


def test_rounds_alternate_and_end_in_time() -> None:
    place = FakePlace()
    done = rounds.alternate(
        [job(HOST), job(POLL)], {"node": place}, lambda *_: None, 7.0, 1, lambda _: None, clock=lambda: place.now
    )
    assert done == 3 and place.ran == ["host", "poll", "poll", "host", "host", "poll"]


def test_the_least_number_of_rounds_is_run_whatever_it_takes() -> None:
    place = FakePlace()
    clock: Callable[[], float] = lambda: place.now  # noqa: E731
    assert rounds.alternate([job(HOST)], {"node": place}, lambda *_: None, 0.0, 4, lambda _: None, clock) == 4


def test_records_of_a_side_must_come_from_that_side() -> None:
    # The host's own library where Urakata should be, and the other way round, is no measurement.
    line = '{"operation": "ibcast", "bytes": 8, "us": 1.0}'
    plain = '{"mpi": "/opt/lib/libmpi.so.40"}\n' + line
    loaded = '{"mpi": "/opt/lib/urakata/liburakata-openmpi.so"}\n' + line
    assert len(jobs.read_records(job(HOST), plain)) == len(jobs.read_records(job(POLL), loaded)) == 1
    for side, output in ((HOST, loaded), (POLL, plain), (HOST, ""), (HOST, plain + "\n{half")):
        with pytest.raises(MeasurementError):
            jobs.read_records(job(side), output)


def test_readers_name_points_as_people_write_them() -> None:
    record = {"operation": "ibcast", "bytes": 4096, "us": 2.5}
    assert list(readers.READERS["nbc"](job(HOST), record)) == [("us", ("node, 2 ranks", "ibcast", "4 KiB"), 2.5)]
    assert [readers.size_text(n) for n in (8, 1000, 1024, 3 << 20)] == ["8 B", "1000 B", "1 KiB", "3 MiB"]


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
        ({"measure": "memcpy", "bytes": 4096, "ns": 60.0}, [("memcpy_us", (ranks, "memcpy", "4 KiB"), 0.06)]),
        ({"measure": "stream", "bytes": 8, "ns": 50.0}, [("million_per_second", (ranks, "stream", "8 B"), 20.0)]),
    ):
        assert list(read(job(space), record)) == [(q, p, pytest.approx(value)) for q, p, value in values]


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


def test_excess_is_what_one_side_has_more_scaled() -> None:
    # 16 ranks that need 700 KiB and 100 KiB less of another quantity: 37.5 KiB a rank.
    measured = samples("node_kib", space={A: [500, 900, 700], B: [5000, 5000, 5000]})
    for value in (100, 300, 100):
        measured.add("bare", "begin_kib", ("node", "init"), value)
    asked = goal(
        "f", quantity="node_kib", over="space", under="bare", under_quantity="begin_kib", scale=1 / 16, only=[A[-1]]
    )
    figure = figures.excess(asked, measured)
    assert figure.value == 37.5 and figure.samples == [25.0, 37.5, 37.5]
    assert figure.sides == {"bare": 100, "space": 700}


def test_examples_are_points_by_their_arguments() -> None:
    ran = jobs.Job(HOST, "node", 2, "halo_rows", ("--rows", "2"), "node, 2 ranks")
    read = list(readers.READERS["halo_rows"](ran, {"us": 5.0, "checksum": 1.5}))
    point = ("node, 2 ranks", "halo_rows --rows 2")
    assert read == [("us", point, 5.0), ("checksum", point, 1.5)]


def test_all_sides_compute_the_amount_that_the_first_side_found() -> None:
    # 8 B: the mean of 100 and 300; 64 B: of 1000 and 1000. It is asked once, of the first side.
    class Matching(FakePlace):
        def run(self, job: jobs.Job) -> jobs.Records:
            assert job.side is HOST and "match" in job.arguments
            found = [(8, 100), (64, 1000), (8, 300), (64, 1000)]
            return [{"type": "result", "bytes": size, "work": work} for size, work in found]

    fixed = session.fix_work([job(HOST), job(POLL)], {"node": Matching()}, lambda _: None)
    assert [j.arguments for j in fixed] == [("--work", "200,1000")] * 2


def run_command(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, result: Samples | Exception) -> tuple[int, Any, str]:
    """`urakata goals nbc-poll-geomean --json FILE` with a session that gives `result`: exit code, JSON, output."""

    def measured(*_: object) -> Samples:
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(
        command,
        "measure_goals",
        lambda found, wanted, notice: measure.measure_goals(found, wanted, notice, measured),
    )
    monkeypatch.setattr(command, "describe", lambda: {"build_type": "", "flags": "", "load": 0.0, "cores": 2})
    file = tmp_path / "goals.json"
    done = CliRunner().invoke(cli.build_app(), ["goals", "nbc-poll-geomean", "--json", str(file)])
    return done.exit_code, json.loads(file.read_text()), done.output


def test_a_goal_that_is_not_met_was_measured(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    measured = samples("us", host={A: [1.0, 1.0]}, poll={A: [2.0, 2.0]})
    code, results, output = run_command(monkeypatch, tmp_path, measured)
    entry = results["nbc-poll-geomean"]
    assert code == 0 and "not met" in output
    assert set(entry) == {"value", "unit", "target", "met", "samples", "detail"}
    assert (entry["value"], entry["target"], entry["met"], entry["samples"]) == (2.0, 1.0, False, [2.0, 2.0])


@pytest.mark.parametrize("kind", [CannotMeasureError, NotFoundError])
def test_a_machine_that_cannot_is_77_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: type[Exception]
) -> None:
    code, results, output = run_command(monkeypatch, tmp_path, kind("no namespaces"))
    assert code == 77 and "no namespaces" in output
    assert results["nbc-poll-geomean"]["met"] is None


def test_a_job_that_fails_is_1(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    code, _, output = run_command(monkeypatch, tmp_path, MeasurementError("nbc, side poll: exit code 3"))
    assert code == 1 and "exit code 3" in output


@pytest.mark.parametrize("arguments", [["no-such-goal"], []])
def test_wrong_names_are_2_and_show_what_there_is(arguments: list[str]) -> None:
    done = CliRunner().invoke(cli.build_app(), ["goals", *arguments])
    assert done.exit_code == 2
