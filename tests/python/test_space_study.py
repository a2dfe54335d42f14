# SPDX-License-Identifier: BSD-3-Clause
"""The study of a space: results on worked examples, jobs and their reading, and what is shown."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from urakata import paths
from urakata.cli import build_app
from urakata.launcher import Mpi
from urakata.measure.estimate import Estimate
from urakata.measure.sides import Side, both_of
from urakata.space_study import layouts, memory, messages, session, starting
from urakata.space_study.page import write_study
from urakata.space_study.part import Part, Run
from urakata.space_study.parts import PARTS
from urakata.space_study.results import Results, Value, from_json
from urakata.space_study.session import Job, Place, jobs_of, run_session

ALONE, WITHIN = Side("openmpi", "alone"), Side("openmpi", "space")


def results(quantity: str, rounds: dict[Side, dict[Any, list[float]]]) -> Results:
    filled = Results()
    for side, points in rounds.items():
        for point, series in points.items():
            for value in series:
                filled.add(side, Value(quantity, point, value))
    return filled


# --- results ---


def test_ratios_compare_medians_where_both_sides_have_one() -> None:
    # 8 B: 2 over 4, and one disturbed round (900) decides nothing; 64 B only alone.
    measured = results("q", {ALONE: {64: [9.0], 8: [4, 4, 4]}, WITHIN: {8: [2, 900, 2]}})
    assert measured.ratios("openmpi", "q") == {8: 0.5}
    assert measured.points("q") == [8, 64]
    assert measured.median(WITHIN, "q", 64) is None
    assert measured.known(WITHIN, "q", [8]) == {8: Estimate(2, 2, 900)}


def test_sides_are_in_one_order_and_hosts_need_both() -> None:
    mpich = Side("mpich", "alone")
    measured = results("q", {mpich: {8: [1.0]}, WITHIN: {8: [1.0]}, ALONE: {8: [1.0]}})
    assert measured.sides("q") == [ALONE, WITHIN, mpich]
    assert measured.families("q") == ["openmpi"]


def test_the_floor_is_the_median_of_all_sides() -> None:
    measured = results("line", {ALONE: {64: [1, 2]}, WITHIN: {64: [3]}})
    assert measured.floor("line", 64) == 2 and measured.floor("line", 8) is None


def test_results_survive_json() -> None:
    measured = results("q", {ALONE: {8: [4, 5]}, WITHIN: {"wrf-x": [2.5]}})
    assert from_json(json.loads(json.dumps(measured.as_json()))).values == measured.values


# --- reading ---


def test_messages_are_microseconds_millions_and_gigabytes() -> None:
    # 4096 bytes in 512 ns of a stream: 1.95 million a second, 8 GB/s.
    trip = {"measure": "half-round-trip", "bytes": 8, "ns": 160.0, "over_line": 1.2}
    assert [(v.quantity, v.point, v.value) for v in messages.MESSAGES.read(trip)] == [
        (messages.TRIP, 8, 0.16),
        (messages.OVER_LINE, 8, 1.2),
    ]
    stream = {"measure": "stream", "bytes": 4096, "ns": 512.0}
    assert [(v.quantity, v.value) for v in messages.MESSAGES.read(stream)] == [
        (messages.RATE, pytest.approx(1.953125)),
        (messages.BANDWIDTH, 8.0),
    ]
    (floor,) = messages.MESSAGES.read({"measure": "line", "bytes": 64, "ns": 140.0})
    assert (floor.quantity, floor.point, floor.value) == (messages.LINE, 64, 0.14)


def test_memory_is_named_by_what_was_done_before() -> None:
    record = {"after": "all-to-all of 65536 B", "ranks": 16, "node_kib": 2048, "page_tables_kib": 512}
    assert [(v.quantity, v.point, v.value) for v in memory.MEMORY.read(record)] == [
        ("memory after all-to-all of 64 KiB", 16, 2.0),
        ("page tables after all-to-all of 64 KiB", 16, 0.5),
    ]


def test_layouts_are_patterns_and_points_of_the_sweep() -> None:
    pattern, point = (
        list(layouts.LAYOUTS.read(record))
        for record in (
            {"pattern": "nas-mg-x", "bytes": 131072, "us": 61.5},
            {"pattern": "sweep", "block": 8, "stride": 64, "bytes": 65536, "us": 17.5},
        )
    )
    assert pattern == [Value(layouts.PATTERN, "nas-mg-x", 61.5)]
    assert point == [Value(layouts.SWEEP, "8 64 65536", 17.5)]


# --- jobs ---


def _part(runs: int = 1) -> Part:
    def read(record: dict[str, Any]) -> Any:
        yield Value("q", record["point"], record["value"])

    made = [Run(2, ["--x"], f"run {number}" if runs > 1 else "") for number in range(runs)]
    return Part("part", "Part", "program", lambda _: made, read, lambda _: [], lambda *_: [], "")


def _place(folder: Path, script: str, timeout_s: float = 20.0) -> Place:
    """An MPI library whose launcher is `script`: it gets the command line and prints what a job would."""
    launcher = folder / "mpirun"
    launcher.write_text(f"#!/bin/sh\n{script}\n")
    launcher.chmod(launcher.stat().st_mode | stat.S_IXUSR)
    return Place({"mpich": Mpi(launcher, "mpich", "5")}, {("program", "mpich"): Path("/p/program")}, timeout_s)


@pytest.fixture
def built(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "program", lambda name: Path("/p") / name)


@pytest.mark.usefixtures("built")
def test_sides_run_close_together_and_rounds_go_to_and_fro(tmp_path: Path) -> None:
    log = tmp_path / "log"
    place = _place(
        tmp_path,
        f'printf "%s\\n" "$*" >> {log}\n'
        'case "$*" in *--space*) echo \'{"mpi": "/u/liburakata-mpich.so"}\' ;; '
        '*) echo \'{"mpi": "/h/libmpi.so.12"}\' ;; esac\n'
        'echo \'{"point": 8, "value": 1.5}\'',
    )
    jobs = jobs_of([_part()], both_of(["mpich"]), quick=False)
    steps: list[tuple[str, int]] = []
    done = run_session(jobs, place, 2, lambda label, count: steps.append((label, count)))
    assert not done.failed and sum(count for _, count in steps) == 4
    assert done.results.values == {(side, "q", 8): [1.5, 1.5] for side in both_of(["mpich"])}
    ran = ["space" if "--space" in line else "alone" for line in log.read_text().splitlines()]
    assert ran == ["alone", "space", "space", "alone"]


@pytest.mark.usefixtures("built")
def test_a_whole_job_is_timed_from_outside(tmp_path: Path) -> None:
    place = _place(tmp_path, 'echo \'{"ranks": 2, "space": false}\'')
    place = Place(place.hosts, {("empty", "mpich"): Path("/p/empty")}, 20)
    done = run_session([Job(starting.STARTING, Run(2, []), Side("mpich", "alone"))], place, 1, lambda *_: None)
    (value,) = done.results.values[Side("mpich", "alone"), starting.JOB, 2]
    assert not done.failed and value > 0


@pytest.mark.usefixtures("built")
@pytest.mark.parametrize(
    ("script", "space", "reason"),
    [
        ('echo \'{"mpi": "/h/libmpi.so"}\'', True, "Urakata is not loaded"),
        ('echo \'{"mpi": "/u/liburakata-mpich.so"}\'', False, "Urakata is loaded"),
        ('echo \'{"measure": "setup", "space": false}\'', True, "not in a space"),
        ("echo Hello", False, "wrote no result"),
        ("echo no such file >&2; exit 3", True, "exit code 3: no such file"),
        ("exec cat /dev/zero >/dev/null", True, "not done after"),
    ],
)
def test_a_job_that_did_not_measure_what_it_should_says_why(
    tmp_path: Path, script: str, space: bool, reason: str
) -> None:
    job = Job(_part(), Run(2, []), Side("mpich", "space" if space else "alone"))
    timeout = 0.3 if "zero" in script else 20.0
    done = run_session([job], _place(tmp_path, script, timeout), 2, lambda *_: None)
    (failed,) = done.failed  # once: it is not tried again
    assert reason in failed.reason and not done.results.values


@pytest.mark.usefixtures("built")
def test_ranks_are_bound_where_there_are_cores_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("urakata.launcher.usable_cores", lambda: 4)
    place = Place({"openmpi": Mpi(Path("/h/mpirun"), "openmpi", "5")}, {("program", "openmpi"): Path("/p/x")}, 1)
    four, eight = (session.command(Job(_part(), Run(n, ["-a"]), WITHIN), place) for n in (4, 8))
    path = ["-x", "URAKATA_CALLER_PATH"]
    assert four == [
        "/h/mpirun",
        "-n",
        "4",
        *path,
        "--bind-to",
        "core",
        "/p/urakata-exec",
        "--space",
        "--",
        "/p/x",
        "-a",
    ]
    assert "core" not in eight and "none" in eight


# --- what is shown ---


def _study() -> Results:
    """Every part's quantities at a few points, in a space half of what they are alone."""
    filled = Results()
    for side in both_of(["openmpi", "mpich"]):
        factor = 0.5 if side.space else 1.0
        for size in (0, 8, 4096, 1 << 20):
            trip = {"measure": "half-round-trip", "bytes": size, "ns": factor * (200 + size / 10), "over_line": 1.25}
            records = [trip, {"measure": "fresh", "bytes": size, "ns": factor * (400 + size / 8)}]
            if size:
                records.append({"measure": "stream", "bytes": size, "ns": factor * (80 + size / 20)})
                records.append({"measure": "memcpy", "bytes": size, "ns": 5 + size / 30})
            for record in (*records, {"measure": "line", "bytes": 64, "ns": 100.0}):
                for value in messages.MESSAGES.read(record):
                    filled.add(side, value)
        for after in ("init", "all-to-all of 8 B", "all-to-all of 65536 B"):
            for ranks in (2, 16):
                record = {"after": after, "ranks": ranks, "node_kib": factor * 9000 * ranks, "page_tables_kib": 300}
                for value in memory.MEMORY.read(record):
                    filled.add(side, value)
        sweep = [{"pattern": "sweep", "block": b, "stride": 4 * b, "bytes": n} for b in (8, 64) for n in (1024, 65536)]
        for record in ({"pattern": "wrf-x", "bytes": 9000}, {"pattern": "fft2", "bytes": 9000}, *sweep):
            # The one point at which a space is slower: 8 of 32 bytes, 64 KiB.
            slow = 3.0 if side.space and (record.get("block"), record["bytes"]) == (8, 65536) else 1.0
            for value in layouts.LAYOUTS.read({**record, "us": factor * slow * record["bytes"] / 1000}):
                filled.add(side, value)
        for ranks in (2, 16):
            filled.add(side, Value(starting.JOB, ranks, 100.0 + (4 * ranks if side.space else 2 * ranks)))
    return filled


def test_the_summary_of_messages_by_hand() -> None:
    # 8 B: 200.8 ns alone, half of it in a space; a rate twice as high.
    summary = messages.MESSAGES.tables(_study())[0]
    assert summary.rows[0] == ["Open MPI", "0.201 µs", "0.1 µs", "0.50", "1.25", "0.50", "0.50", "0.50 at 0 B", "2.00"]
    assert [row[0] for row in summary.rows] == ["Open MPI", "MPICH"]


def test_memory_has_a_table_for_each_stage() -> None:
    tables = memory.MEMORY.tables(_study())
    assert [table.title.rpartition("after ")[2] for table in tables] == [
        "all-to-all of 64 KiB",
        "all-to-all of 8 B",
        "init",
    ]
    assert tables[0].rows[1] == ["Open MPI, 16 ranks", "140.6 MiB", "70.3 MiB", "0.3 MiB", "0.3 MiB", "0.50"]


def test_the_summary_of_layouts_names_the_worst_point() -> None:
    summary = layouts.LAYOUTS.tables(_study())[0]
    assert summary.rows[0] == ["Open MPI", "0.50", "0.50 at wrf-x", "0.66", "1.50 at 8 B every 32 B, 64 KiB"]


def test_starting_says_what_a_rank_costs() -> None:
    # 16 ranks: 164 ms instead of 132.
    (table,) = starting.STARTING.tables(_study())
    assert table.rows[1] == ["Open MPI, 16 ranks", "132 ms", "164 ms", "+2.0 ms"]


def _document(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "format": "urakata-space-1",
        "date": "today",
        "machine": {"name": "here", "cpu": "a <fast> one", "cores": 2, "host": "openmpi 5"},
        "settings": {"repeats": 1},
        "warnings": ["a warning"],
        "failed": [{"what": "part", "reason": "no reason"}],
        "rows": rows,
    }


def test_figures_and_page(tmp_path: Path) -> None:
    study = _study()
    parts = list(PARTS.values())
    drawings = {part.name: part.draw(study, "made up", tmp_path) for part in parts}
    assert [drawing.path.name for drawing in drawings["messages"]] == [
        "latency.png",
        "latency-ratio.png",
        "fresh.png",
        "bandwidth.png",
        "rate.png",
    ]
    assert {name: len(some) for name, some in drawings.items()} == {
        "messages": 5,
        "layouts": 2,
        "memory": 3,
        "starting": 1,
    }
    for drawing in [one for some in drawings.values() for one in some]:
        assert drawing.path.read_bytes().startswith(b"\x89PNG")
    page = tmp_path / "index.html"
    write_study(_document(study.as_json()), study, drawings, parts, page)
    text = page.read_text()
    assert text.count("data:image/png;base64,") == sum(map(len, drawings.values()))
    assert "a &lt;fast&gt; one" in text and "no reason" in text and "<script" not in text
    assert "http" not in text.replace("data:image", "")


def test_nothing_measured_shows_nothing(tmp_path: Path) -> None:
    for part in PARTS.values():
        assert part.tables(Results()) == [] and part.draw(Results(), "", tmp_path) == []


def test_an_earlier_run_is_shown_again(tmp_path: Path) -> None:
    (tmp_path / "space.json").write_text(json.dumps(_document(_study().as_json())))
    done = CliRunner().invoke(build_app(), ["bench", "space", "--from", str(tmp_path), "-o", str(tmp_path / "new")])
    assert done.exit_code == 0, done.output
    assert (tmp_path / "new" / "index.html").is_file() and "Messages in a space" in done.output


@pytest.mark.parametrize("arguments", [["--part", "nonsense"], ["--repeats", "0"], ["--part", ""]])
def test_wrong_options_are_2(tmp_path: Path, arguments: list[str]) -> None:
    done = CliRunner().invoke(build_app(), ["bench", "space", "-o", str(tmp_path), *arguments])
    assert done.exit_code == 2


def test_what_another_command_wrote_is_refused(tmp_path: Path) -> None:
    (tmp_path / "space.json").write_text('{"format": "urakata-overlap-1"}')
    with pytest.raises(paths.NotFoundError, match="not written by urakata bench space"):
        CliRunner().invoke(build_app(), ["bench", "space", "--from", str(tmp_path)], catch_exceptions=False)
