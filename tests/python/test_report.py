# SPDX-License-Identifier: BSD-3-Clause
"""urakata report: merges ranks, names places, writes JSON, HTML and a trace, and says clearly what is broken."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from calls_file import CallsFile, EventsFile
from typer.testing import CliRunner

from urakata.cli import build_app
from urakata.report.calls import read_all_calls
from urakata.report.files import ReportError, read_ranks
from urakata.report.page import page
from urakata.report.summary import Row, as_json, summarise
from urakata.report.text import engine_lines


def times(count: int = 0, total: int = 0) -> dict[str, int]:
    each = total // count if count else 0
    return {"count": count, "sum": total, "min": each, "max": each}


def site(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "number": 0, "operation": "Iallreduce", "bytes": 65536, "engine": "poll", "algorithm": "ring",
        "why": "default", "module": "/nowhere/app", "offset": 0x1234, "symbol": "", "symbol_offset": 0, "started": 10,
        "start": times(10, 10_000), "gap": times(10, 5_000_000), "test": times(), "wait": times(10, 1_000_000),
        "in_flight": times(10, 6_000_000), "overlapped": times(10, 4_000_000), "progress_thread_ns": 0, "samples": [],
    }  # fmt: skip
    return {**values, **changes}


def rank(number: int, **changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "urakata_report": 4, "rank": number, "ranks": 2, "host": "node<1>", "pid": 1, "program": "./app",
        "mpi_library": "Some MPI 1.0", "abi": "openmpi", "engine": "poll", "engine_why": "", "init_ns": 500,
        "finalize_ns": 10_000, "realtime_minus_monotonic_ns": 7, "caller_cpu_seconds": 1.0,
        "progress_threads": [{"placement": "exchanges between nodes", "cpus": "0", "cpu_seconds": 0.25}], "options": [],
        "call_sites": [site()],
        "tracks": [{"name": "progress thread 0", "lost": 0, "spans": [[2500, 3000]]}],
    }  # fmt: skip
    return {**values, **changes}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number in range(2):
        (tmp_path / f"rank-{number}.json").write_text(json.dumps(rank(number)))
    return tmp_path


def test_a_report_of_the_last_release_is_read(tmp_path: Path) -> None:
    """Form 3 had other names; what it says is the same."""
    message_site = message(carrier="wire or native", overlapped_ns=300)
    asked = [{"name": "ENGINE", "value": "native", "origin": "environment"}]
    ways = {"found": "", "links": [], "ways": [{"site": "east", "connections": 4}]}
    told = rank(0, call_sites=[site(engine="native")], messages=[message_site], options=asked, sites=ways)
    text = json.dumps({**told, "messages_progress_thread": True, "transport": "native", "urakata_report": 3})
    for old, now in (
        *(("helpers", "progress_threads"), ("helper_ns", "progress_thread_ns"), ("hidden_ns", "overlapped_ns")),
        *(("host_mpi", "mpi_library"), ("messages_helper", "messages_progress_thread"), ("lanes", "connections")),
    ):
        text = text.replace(f'"{now}"', f'"{old}"')
    text = text.replace('"native"', '"host"').replace("wire or native", "wire or host")
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "rank-0.json").write_text(text)
    assert "native" not in text
    (read,) = read_ranks(tmp_path / "old")
    (tmp_path / "new").mkdir()
    new = {**told, "messages_progress_thread": True, "transport": "native"}
    (tmp_path / "new" / "rank-0.json").write_text(json.dumps(new))
    (written,) = read_ranks(tmp_path / "new")
    assert {**read, "urakata_report": 4} == written


def test_what_was_predicted_stands_beside_what_was_measured(tmp_path: Path) -> None:
    """A blocking scatterv of two ranks, of which the second is the root and knows what crosses: 40 ms were predicted.
    Their calls took 50 ms, the mean of ten."""
    common = {"operation": "Scatterv", "start": times(), "gap": times(), "wait": times(10, 500_000_000)}
    whys = ("once; only the root knows how much crosses", "once; predicted: straight of 4 connections 40 ms, if all")
    for number, why in enumerate(whys):
        told = rank(number, call_sites=[site(**common, why=why)])
        (tmp_path / f"rank-{number}.json").write_text(json.dumps(told))
    (row,) = summarise(tmp_path).rows
    assert (row.predicted_ns, row.measured_ns) == (40e6, 50e6)
    assert row.reason == f"{whys[1]}; measured: 50 ms"
    assert row.reason in page(summarise(tmp_path))
    (told,) = as_json(summarise(tmp_path))["call_sites"]
    assert (told["predicted_ns"], told["measured_ns"]) == (40e6, 50e6)


def test_no_name_has_a_blank_behind_it(folder: Path) -> None:
    """The kernel's list of a program's words ends in one."""
    for number in range(2):
        (folder / f"rank-{number}.json").write_text(json.dumps(rank(number, program="./halo ")))
    summary = summarise(folder)
    assert summary.program == as_json(summary)["ranks"][0]["program"] == "./halo"
    assert "<p>./halo<br>2 ranks, Some MPI 1.0</p>" in page(summary)
    assert "./halo  2 ranks\n" in CliRunner().invoke(build_app(), ["report", str(folder)]).output


def test_each_sites_advice_answers_a_question(folder: Path) -> None:
    summary = summarise(folder)
    shown = CliRunner().invoke(build_app(), ["report", str(folder)]).output.splitlines()
    (at,) = [n for n, line in enumerate(shown) if line == "Can more be hidden? By call site:"]
    assert shown[at + 1].startswith(f"  1  app+0x1234: {summary.rows[0].switch[:4]}")
    assert f"Can more be hidden? {summary.rows[0].switch[0].upper()}" in page(summary)


def test_what_is_not_predicted_is_not_compared(folder: Path) -> None:
    (row,) = summarise(folder).rows
    assert (row.predicted_ns, row.measured_ns, row.reason) == (None, None, "default")


def test_ranks_are_merged_into_one_row_a_site(folder: Path) -> None:
    summary = summarise(folder)
    (row,) = summary.rows
    assert (row.ranks, row.started, row.place) == (2, 20, "app+0x1234")
    assert row.times["wait"].sum == 2_000_000
    assert summary.missing == []
    assert json.loads(json.dumps(as_json(summary)))["call_sites"][0]["hidden"] is None


def test_a_python_programs_lines_are_rows_of_their_own(folder: Path) -> None:
    """All come from the same address, that of the call in mpi4py's module."""
    lines = [{"file": "/home/me/solver/app.py", "line": line, "function": "Solver.step"} for line in (12, 14)]
    for number in range(2):
        sites = [site(number=n, python=line) for n, line in enumerate(lines)]
        (folder / f"rank-{number}.json").write_text(json.dumps(rank(number, call_sites=sites)))
    places = {f"/home/me/solver/app.py:{line} in Solver.step" for line in (12, 14)}
    assert {(row.place, row.ranks) for row in summarise(folder).rows} == {(place, 2) for place in places}
    shown = CliRunner().invoke(build_app(), ["report", str(folder)]).output
    assert "solver/app.py:14 in Solver.step" in shown
    assert "app.py:12 in Solver.step" in page(summarise(folder))


def test_one_line_says_which_engine_was_asked_for_and_which_came_and_why(folder: Path) -> None:
    asked = [{"name": "ENGINE", "value": "thread", "origin": "default"}]
    for number in range(2):
        why = "no progress thread, since all ranks are on this node"
        (folder / f"rank-{number}.json").write_text(
            json.dumps(rank(number, options=asked, progress_threads=[], engine_why=why))
        )
    shown = " ".join(CliRunner().invoke(build_app(), ["report", str(folder)]).output.split())
    assert shown.count("no progress thread") == 1 and f"Engine poll instead of thread: {why}." in shown
    bound = [
        rank(
            n,
            options=asked,
            engine_why=f"this rank has 1 core (CPUs {n}-{n}, 2 ranks on the node) for 1 computing thread",
        )
        for n in (0, 1)
    ]
    assert len(engine_lines(bound)) == 1
    listed = [rank(n, options=asked, engine_why=f"1 core (CPUs {n},{n + 2}-5, 2 ranks)") for n in (0, 1)]
    assert engine_lines(listed)[0].endswith(": 1 core (CPUs of its own, 2 ranks).")
    shared = [rank(n, options=asked, engine_why=f"progress threads run on the rank's own CPUs {n}-{n}") for n in (0, 1)]
    assert engine_lines(shared)[0].endswith(": progress threads run on the rank's own CPUs.")
    one = [
        rank(0, options=asked, engine="thread/spare", engine_why="spare: 2 cores"),
        rank(1, options=asked, engine_why="x"),
    ]
    assert engine_lines(one) == [
        "Engine thread/spare (rank 0): spare: 2 cores.",
        "Engine poll instead of thread (rank 1): x.",
    ]


def test_what_measures_an_unknown_overlap_has_the_setting_of_the_job(tmp_path: Path) -> None:
    """Engine, ranks of a node, nodes and MPI; of ranks in a space nothing measures it, as the study has none."""
    told = [rank(n, node_ranks=1, node_cores=2, host=f"node{n}", mpi_library="MPICH Version: 5.0.2") for n in (0, 1)]
    text = "\n".join(shown(tmp_path, *told))
    setting = "--engine none,poll --ranks-per-node 1 --nodes 2 --mpi mpich"
    assert f"bench overlap --operation iallreduce --sizes 65536 {setting}" in text
    space = {"asked": True, "ranks": 2, "why": ""}
    assert "bench overlap" not in "\n".join(shown(tmp_path, *({**one, "space": space} for one in told)))


def test_the_thread_that_engine_poll_has_all_the_same_stands_on_the_line_of_the_engine(tmp_path: Path) -> None:
    """As with MPICH on one node. It is no progress thread beside the line that says that there is none."""
    asked = [{"name": "ENGINE", "value": "thread", "origin": "default"}]
    progress_threads = [{"placement": "shared core", "cpus": "", "cpu_seconds": 0.25}]
    why = "no progress thread, since all ranks are on this node"
    told = [rank(number, options=asked, progress_threads=progress_threads, engine_why=why) for number in range(2)]
    text = "\n".join(shown(tmp_path, *told))
    said = " A periodic progress thread, which only keeps MPI's progress rule, used 0.250 CPU s each."
    assert engine_lines(told) == [f"Engine poll instead of thread: {why}.{said}"]
    assert "progress threads" not in text


def late_run(folder: Path, *, short: bool, waits: list[dict[str, int]]) -> Row:
    """Rank 1 begins 800 us after rank 0 in each of 5 instances: 780 us of rank 0's wait are rank 1's lateness. With
    `short` one more is kept for which both wait 100 us, nobody late."""
    for number in range(2):
        samples = []
        for k in range(5):
            at = k * 10_000_000
            begin, wait = (at, at + 20_000) if number == 0 else (at + 800_000, at + 820_000)
            samples.append([0, 1, k, 2, begin, begin + 5_000, wait, at + 900_000, at + 900_000, 0, 100, 0])
        if short:
            times_of = [60_000_000 + us * 1000 for us in (0, 5, 20, 120, 120)]
            samples.append([0, 1, 5, 2, *times_of, 0, 100, 0])
        changed = site(samples=samples, gap=times(5, 75_000), wait=waits[number])
        (folder / f"rank-{number}.json").write_text(json.dumps(rank(number, clock="a", call_sites=[changed])))
    (row,) = summarise(folder).rows
    return row


def test_the_summary_takes_samples_of_all_ranks(folder: Path) -> None:
    row = late_run(folder, short=False, waits=[times(5, 4_400_000), times(5, 400_000)])
    assert row.late_ns == pytest.approx(390_000)
    assert row.advice.startswith("no: most of the waiting is for ranks that begin later")


def test_lateness_is_that_of_all_waits(folder: Path) -> None:
    """Rank 0 has waited 15 times, and only 5 times for rank 1."""
    waits = [times(15, 4_400_000 + 10 * 100_000), times(6, 500_000)]
    assert late_run(folder, short=False, waits=waits).late_ns is None  # none of the short waits was kept
    late_of_rank_0 = 5 * 780_000 / 15
    assert late_run(folder, short=True, waits=waits).late_ns == pytest.approx(late_of_rank_0 * 15 / 21, rel=0.01)


def message(**changes: Any) -> dict[str, Any]:
    values: dict[str, Any] = {
        "operation": "Irecv", "carrier": "space", "module": "/nowhere/app", "offset": 0x2000, "symbol": "",
        "symbol_offset": 0, "messages": 10, "sized": 10, "bytes": 10240, "waited": 10, "waited_ns": 3_000_000,
    }  # fmt: skip
    return {**values, **changes}


def shown(folder: Path, *ranks: dict[str, Any]) -> list[str]:
    for one in ranks:
        (folder / f"rank-{one['rank']}.json").write_text(json.dumps(one))
    return CliRunner().invoke(build_app(), ["report", str(folder)], env={"COLUMNS": "120"}).output.splitlines()


def test_messages_have_a_table_of_their_own(folder: Path) -> None:
    space = {"asked": True, "ranks": 2, "why": ""}
    unseen = message(operation="Irecv_c", carrier="native", sized=0, bytes=0, waited=0, waited_ns=0)
    ranks = [rank(n, space=space, call_sites=[], messages=[message(), unseen]) for n in (0, 1)]
    lines = shown(folder, *ranks)
    assert "space: 2 of 2 ranks share one address space" in lines
    assert "No collective that Urakata handles was called." in lines
    table = lines[lines.index("The program's own messages") :]
    rows = [line.split() for line in table if line.strip().startswith("Irecv")]
    assert rows == [
        ["Irecv", "space", "20", "20", "KiB", "6", "ms", "-", "app+0x2000"],
        ["Irecv_c", "native", "20", "-", "-", "-", "app+0x2000"],
    ]
    both = as_json(summarise(folder))["messages"]
    assert [(row["messages"], row["bytes"], row["wait_ns"]) for row in both] == [
        (20, 20480, 6_000_000),
        (20, None, None),
    ]
    assert "The program's own messages" in page(summarise(folder))


@pytest.mark.parametrize(
    ("changes", "progress_thread", "word"),
    (
        ({}, True, "80 %"),
        ({"overlapped_ns": 300}, True, "30 %"),
        ({"overlapped_ns": 300}, False, "unknown"),  # the kernel may have moved the rest
        ({"overlapped_ns": 750}, False, "75 %"),
        ({"timed": 8}, True, "unknown"),
        ({"timed": 8, "done_at_once": 2}, True, "80 %"),
        ({"timed": 0, "life_ns": 0, "gap_ns": 0, "overlapped_ns": 0}, True, "unknown"),
        ({"timed": 0, "life_ns": 0, "gap_ns": 0, "overlapped_ns": 0, "done_at_once": 10}, True, "none"),
        ({"operation": "Send", "timed": 0, "life_ns": 0, "gap_ns": 0, "overlapped_ns": 0}, True, "none"),
        ({"operation": "Recv_init", "timed": 9}, True, "unknown"),
        ({"carrier": "space", "timed": 0, "life_ns": 0, "gap_ns": 0, "overlapped_ns": 0}, True, "-"),
        ({"carrier": "wire or native", "timed": 0, "life_ns": 0, "gap_ns": 0, "overlapped_ns": 0}, True, "unknown"),
    ),
)
def test_what_was_hidden_of_messages_by_wire(
    folder: Path, changes: dict[str, Any], progress_thread: bool, word: str
) -> None:
    times = {"carrier": "wire", "timed": 10, "life_ns": 1000, "gap_ns": 800, "overlapped_ns": 800, "done_at_once": 0}
    site_of = message(**{**times, **changes})
    ranks = [rank(n, call_sites=[], messages=[site_of], messages_progress_thread=progress_thread) for n in (0, 1)]
    lines = shown(folder, *ranks)
    (row,) = (line.split() for line in lines if line.split()[:1] == [site_of["operation"]])
    assert row[row.index("ms") + 1 : row.index("app+0x2000")] == word.split()
    (told,) = as_json(summarise(folder))["messages"]
    assert told["hidden"] == (pytest.approx(float(word[:-2]) / 100) if word.endswith("%") else None)
    assert f'<td class="n">{word}</td>' in page(summarise(folder))


def test_the_way_of_messages_is_told_where_there_was_a_choice(folder: Path) -> None:
    whys = ("by wire: so", "through the MPI library, since", "by wire: so")
    by = [{"transport": "wire", "messages_why": why} for why in whys]
    lines = shown(folder, *(rank(n, ranks=3, messages=[message()], **one) for n, one in enumerate(by)))
    assert "the program's own messages between nodes (ranks 0, 2): by wire: so" in lines
    assert "the program's own messages between nodes (rank 1): through the MPI library, since" in lines
    lines = shown(folder, *(rank(n, ranks=3, messages_why="through the MPI library") for n in range(3)))
    assert not any("messages between nodes" in line for line in lines)


def test_messages_do_not_become_rows_of_collectives(folder: Path) -> None:
    lines = shown(folder, *(rank(n, messages=[message()]) for n in (0, 1)))
    (row,) = summarise(folder).rows
    assert row.operation == "Iallreduce"
    head = lines.index("The program's own messages")
    assert any("Iallreduce" in line for line in lines[:head])
    assert not any("Iallreduce" in line for line in lines[head:])


def test_one_line_says_whether_there_is_a_space_and_why_not(folder: Path) -> None:
    none = {"asked": False, "ranks": 0, "why": ""}
    assert "space: not asked for (--space)" in shown(folder, rank(0, space=none), rank(1, space=none))
    within = {"asked": True, "ranks": 1, "why": ""}
    without = {"asked": True, "ranks": 0, "why": "it is not position-independent"}
    lines = shown(folder, rank(0, space=within), rank(1, space=without))
    assert "space (rank 0): 1 of 2 ranks share one address space" in lines
    assert "space (rank 1): asked for, not in use: it is not position-independent" in lines


def test_sites_links_and_what_crossed_them_are_in_both_forms(folder: Path) -> None:
    way = {
        "site": "east",
        "bytes": 1 << 20,
        "pieces": 16,
        "connections": 4,
        "round_trip_ms": 16.25,
        "lost": 1,
        "again": 2,
    }
    link = {
        "one": "west", "other": "east", "delay_ms": 8.0, "stream_mbit": 25.0, "pair_mbit": 100.0, "link_mbit": 400.0,
        "inside_mbit": 900.0, "loss_percent": 0.0, "source": "measured",
    }  # fmt: skip
    idle = {**way, "bytes": 0}
    sites = {"found": "two sites: west, east", "links": [link], "ways": [way]}
    text = "\n".join(shown(folder, rank(0, sites=sites), rank(1, sites={**sites, "ways": [idle]})))
    html = page(summarise(folder))
    for line in (
        "two sites: west, east",
        "west - east: round trip 16.0 ms; 25.0 Mb/s by one connection, 100.0 by two nodes, 400.0 by all",
        "rank 0: 1 MiB to site east (round trip 16.2 ms) in 16 pieces over 4 connections; 1 were lost",
    ):
        assert text.count(line) == html.count(line) == 1, line
    assert "rank 1: 0" not in text + html
    assert "Engine poll" in html


def test_page_escapes_and_needs_nothing_else(folder: Path) -> None:
    text = page(summarise(folder))
    assert "node&lt;1&gt;" in text
    assert "<svg" in text
    assert "http" not in text


def test_command_writes_all_forms(folder: Path) -> None:
    html, line = folder / "out.html", folder / "out.json"
    for number in range(2):
        calls, events = CallsFile(number, 2), EventsFile(number, 2)
        events.call(calls.call("Send", 1, 100) - 1, 1000, 1100)
        calls.write(folder)
        events.write(folder)
    app = build_app()
    assert CliRunner().invoke(app, ["report", str(folder), "--html", str(html), "--trace", str(line)]).exit_code == 0
    assert html.read_text().startswith("<!doctype html>")
    assert json.loads(line.read_text())["traceEvents"]
    shown = CliRunner().invoke(app, ["report", str(folder)])
    assert shown.exit_code == 0
    assert "Iallreduce" in shown.output
    assert "0.250 CPU s" in shown.output
    assert json.loads(CliRunner().invoke(app, ["report", str(folder), "--json"]).output)["missing_ranks"] == []


BROKEN_SITE = json.dumps({**rank(1), "call_sites": [{"number": 0}]})
TORN = [("", "is broken, or cut off"), (json.dumps(rank(1))[:300], "is broken, or cut off")]
ODD = [
    ('{"urakata_report": 99}', "has form 99"),
    ('{"urakata_report": 4}', "is broken: "),
    (BROKEN_SITE, "is broken: "),
]


@pytest.mark.parametrize(("text", "why"), TORN + ODD)
def test_a_broken_file_costs_its_rank_a_line(folder: Path, text: str, why: str) -> None:
    """The other rank is shown; where nothing is left, or who reads wants all, it is an error that names the file."""
    (folder / "rank-1.json").write_text(text)
    summary = summarise(folder)
    assert [told["rank"] for told in summary.ranks] == [0] and summary.missing == [1]
    (line,) = summary.gaps
    assert line.startswith(f"rank 1: rank-1.json {why}"), line
    assert line.endswith("; the report is without its record of what Urakata did")
    assert line in " ".join(shown(folder)) and line in page(summary) and as_json(summary)["gaps"] == [line]
    with pytest.raises(ReportError, match=r"rank-1\.json"):
        read_ranks(folder)
    (folder / "rank-0.json").unlink()
    with pytest.raises(ReportError, match=r"rank-1\.json.*nothing else"):
        summarise(folder)


def test_files_of_others_are_no_part_of_a_report_whatever_their_names(folder: Path) -> None:
    (folder / "rank-12.json").write_text('{"rank": 12, "score": 3}')
    (folder / "calls-12.bin").write_bytes(b"data of mine")
    summary = summarise(folder)
    assert [told["rank"] for told in summary.ranks] == [0, 1] and summary.gaps == []


def test_ranks_with_the_same_fault_share_a_line(tmp_path: Path) -> None:
    for number in range(8):
        (tmp_path / f"rank-{number}.json").write_text(json.dumps(rank(number, ranks=8)))
        CallsFile(number, 8).write(tmp_path)
    for number in (1, 2, 3, 6):
        (tmp_path / f"rank-{number}.json").write_text("{")
    (tmp_path / "calls-5.bin").write_bytes(b"URACALLS")
    (tmp_path / "rank-9.json").write_text("{")  # of a larger job
    assert summarise(tmp_path).gaps == [
        "rank 5: calls-5.bin is broken, or cut off; the report is without its MPI calls",
        "ranks 1-3, 6: rank-N.json is broken, or cut off; the report is without their record of what Urakata did",
    ]


def test_a_rank_without_any_file_asks_for_the_file_system(folder: Path) -> None:
    """Rank 0 has ended in MPI_Finalize, so rank 1 has come out of MPI_Init: it has written elsewhere."""
    (folder / "rank-1.json").unlink()
    assert summarise(folder).gaps == [f"no file of rank 1: is {folder} on a file system that all nodes see?"]


def test_what_is_not_of_the_newest_job_is_left_out(tmp_path: Path) -> None:
    """Four ranks of an earlier job, of which rank 0 and 1 have been overwritten; sizes are alike or not."""
    for ranks in (4, 2):
        for number in range(4):
            job = 7 if number < 2 else 5
            size = 2 if number < 2 else ranks
            CallsFile(number, size, job=job).write(tmp_path)
            file = tmp_path / f"rank-{number}.json"
            file.write_text(json.dumps(rank(number, ranks=size, job=job)))
            if number >= 2:
                for path in (file, tmp_path / f"calls-{number}.bin"):
                    os.utime(path, (1000, 1000))
        summary = summarise(tmp_path)
        assert summary.whole is not None
        assert [told["rank"] for told in summary.ranks] == [told.rank for told in summary.whole.ranks] == [0, 1]
        assert (summary.size, summary.gaps) == (2, [])
    # The new job was killed: nothing of the old one's takes the place of what it has not written.
    for number in range(2):
        (tmp_path / f"rank-{number}.json").unlink()
    assert summarise(tmp_path).ranks == []


def test_a_missing_or_empty_folder_is_named(tmp_path: Path) -> None:
    assert read_all_calls(tmp_path / "absent") == []  # a job that has not begun to write
    with pytest.raises(ReportError, match="absent: no such folder"):
        summarise(tmp_path / "absent")
    with pytest.raises(ReportError, match=r"holds no rank-\*\.json"):
        summarise(tmp_path)


def test_ranks_that_did_not_write_are_listed(folder: Path) -> None:
    (folder / "rank-0.json").unlink()
    assert summarise(folder).missing == [0]
