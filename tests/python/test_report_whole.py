# SPDX-License-Identifier: BSD-3-Clause
"""The whole program in the report: ranks and call sites merged, in every form, also of jobs that ended early."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest
from calls_file import ABORTED, RUNNING, CallsFile
from typer.testing import CliRunner

from urakata.cli import build_app
from urakata.report.calls import read_all_calls
from urakata.report.errors import ReportError
from urakata.report.hang import early_ends
from urakata.report.page import page
from urakata.report.summary import as_json, summarise
from urakata.report.whole import Whole
from urakata.report.whole_text import headline, shown_ranks, shown_rows


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two ranks of 1 ms: rank 0 waits 400 us in a barrier for rank 1, and both send in two places."""
    for rank, waits in ((0, 400_000), (1, 0)):
        file = CallsFile(rank, 2)
        if waits:
            file.call("Barrier", 4, waits, offset=0x30)
        file.call("Send", 10, 50_000, sized=10, size=80, offset=0x10)
        file.call("Send", 10, 40_000, sized=9, size=72, offset=0x20)
        file.write(tmp_path)
    return tmp_path


def whole_of(folder: Path) -> Whole:
    whole = summarise(folder).whole
    assert whole is not None
    return whole


def said(*words: str) -> str:
    outcome = CliRunner().invoke(build_app(), ["report", *words])
    assert outcome.exit_code == 0, outcome.output
    return " ".join(outcome.output.split())


def test_ranks_are_merged_by_call_site(folder: Path) -> None:
    whole = whole_of(folder)
    assert [(row.operation, row.place, row.calls, row.ns) for row in whole.rows] == [
        ("Barrier", "app+0x30", 4, 400_000),
        ("Send", "app+0x10", 20, 100_000),
        ("Send", "app+0x20", 20, 80_000),
    ]
    barrier, first, second = whole.rows
    assert (barrier.bytes, first.bytes, second.bytes) == (None, 160, None)  # not known of all
    assert (barrier.imbalance(2), first.imbalance(2)) == (1.0, 0.0)
    assert (barrier.mean_ns, barrier.by_rank) == (100_000, {0: 400_000})
    assert [(rank.mpi_ns, rank.run_ns, rank.calls) for rank in whole.ranks] == [
        (490_000, 1_000_000, 24),
        (90_000, 1_000_000, 20),
    ]
    assert whole.share == 0.29
    assert headline(whole) == "whole program: 1 ms, 29 % of it in MPI on average (9.0 % of rank 1 to 49 % of rank 0)"
    assert early_ends(whole) == []


def test_ranks_with_equal_shares_have_no_range_and_the_headline_is_wrapped(tmp_path: Path) -> None:
    for rank in range(2):
        file = CallsFile(rank, 1000)
        file.call("Barrier", 1, 500_000)
        file.write(tmp_path)
    assert headline(whole_of(tmp_path)) == "whole program: 1 ms, 50 % of it in MPI"
    for rank, ns in ((1000, 1_000_000), (1001, 987_654_321)):
        file = CallsFile(rank, 1000)
        file.call("Barrier", 1, ns)
        file.write(tmp_path, ns=987_654_321)
    assert len(headline(whole_of(tmp_path))) > 80
    shown = CliRunner().invoke(build_app(), ["report", str(tmp_path)]).output.splitlines()
    (first,) = [line for line in shown if line.startswith("whole program: ")]
    assert len(first) <= 80


def test_every_form_has_it(folder: Path) -> None:
    text = said(str(folder))
    assert "29 % of it in MPI" in text
    assert "Barrier 4 100 us 100 us 20 % - 100 % app+0x30" in text
    data = as_json(summarise(folder))["whole"]
    assert json.loads(json.dumps(data))["calls"][0]["by_rank"] == {"0": 400_000}
    assert (data["share"], data["ranks"][1]["mpi_ns"], data["calls"][0]["imbalance"]) == (0.29, 90_000, 1.0)
    said(str(folder), "--csv", str(folder / "calls.csv"))
    assert (folder / "calls.csv").read_text().splitlines()[:3] == [
        "rank,host,operation,place,calls,ns,least_ns,most_ns,bytes",
        "0,node,Barrier,app+0x30,4,400000,100000,100000,",
        "0,node,Send,app+0x10,10,50000,5000,5000,80",
    ]
    html = page(summarise(folder))
    assert "<p>./app<br>2 ranks</p>" in html
    assert '<tr><td class="n">0</td><td>node</td><td class="n">1 ms</td><td class="n">490 us</td>' in html
    assert html.count("<svg") == 1  # no collectives of Urakata's
    assert "49 % in MPI" in html
    assert "http" not in html


@pytest.mark.parametrize("first", ["=", "+", "-", "@", "\t"])
def test_a_cell_that_a_spreadsheet_would_run_is_text(tmp_path: Path, first: str) -> None:
    file = CallsFile(0, 1, host=f"{first}host")
    file.call("Bcast", 1, 10, file=f"{first}cmd|'/c calc'!A1", function="f", line=7)
    file.write(tmp_path)
    said(str(tmp_path), "--csv", str(tmp_path / "calls.csv"))
    (row,) = csv.reader((tmp_path / "calls.csv").open(newline="").read().splitlines()[1:])
    assert row[:4] == ["0", f"'{first}host", "Bcast", f"'{first}cmd|'/c calc'!A1:7 in f"]


def test_places_in_python_are_its_lines(tmp_path: Path) -> None:
    file = CallsFile(0, 1)
    file.call("Bcast", 1, 10, file="/a/b/solve.py", function="Solver.step", line=7)
    file.write(tmp_path)
    assert whole_of(tmp_path).rows[0].place == "/a/b/solve.py:7 in Solver.step"


def test_ranks_that_did_not_get_to_the_end_say_where_they_were(tmp_path: Path) -> None:
    """Of a call that has not returned there is no time yet: a rank's run goes on to its beginning."""
    for rank in range(6):
        file = CallsFile(rank, 6)
        file.call("Send", 1, 100)
        if rank == 3:
            file.write(tmp_path, ABORTED, ns=200)
        else:
            inside = file.call("Recv", 0, 0, offset=0x99)
            file.write(tmp_path, RUNNING, ns=200, inside=0 if rank == 4 else inside, since=5_000 + 1000 * rank)
    whole = whole_of(tmp_path)
    assert early_ends(whole) == [
        "ranks 0-2, 5 did not reach MPI_Finalize; they were inside Recv at app+0x99, "
        "begun 5 us to 10 us after MPI_Init",
        "rank 3 called MPI_Abort; it was in no call of MPI yet",
        "rank 4 did not reach MPI_Finalize; it was in no call of MPI yet",
    ]
    assert [rank.run_ns for rank in whole.ranks] == [5_000, 6_000, 7_000, 200, 200, 10_000]
    text = said(str(tmp_path))
    # Nobody knows how long they stayed there: the calls are rows, counted as the ranks count them, without times.
    assert [(row.operation, row.calls, row.untimed) for row in whole.rows] == [("Recv", 4, 4), ("Send", 6, 0)]
    assert sum(row.calls for row in whole.rows) == sum(rank.calls for rank in whole.ranks)
    unknown = "whole program: its end is unknown; the last known moment is 10 us after MPI_Init"
    assert headline(whole) == unknown and unknown in text and unknown in page(summarise(tmp_path))
    assert "Recv 4 - - - - - app+0x99" in text
    assert "Send 6 100 ns 100 ns - - 0.0 % app+0x10" in text
    assert "0 node - - - 2 1 node" in text and "3 node 200 ns 100 ns 50 % 1 4 node - 100 ns - 1" in text
    said(str(tmp_path), "--csv", str(tmp_path / "calls.csv"))
    assert (tmp_path / "calls.csv").read_text().splitlines()[1:3] == [
        "0,node,Send,app+0x10,1,100,100,100,",
        "0,node,Recv,app+0x99,1,,,,",
    ]
    told = as_json(summarise(tmp_path))["whole"]
    assert (told["share"], told["calls"][0]["mean_ns"], told["calls"][0]["most_ns"]) == (None, None, None)
    assert {rank["state"] for rank in told["ranks"]} == {"not finished", "aborted"}
    assert "rank 3 called MPI_Abort" in text
    assert "No rank reached MPI_Finalize" in text
    assert "inside Recv" in page(summarise(tmp_path))


def test_of_many_ranks_and_sites_those_that_matter_are_shown(tmp_path: Path) -> None:
    for rank in range(40):
        file = CallsFile(rank, 40)
        for site in range(30):
            file.call("Send", 1, 1000 * rank * 2 ** max(0, 8 - site), offset=site)
        file.write(tmp_path)
    whole = whole_of(tmp_path)
    shown = [rank.rank for rank in shown_ranks(whole)]
    assert shown == [*range(4), *range(18, 22), *range(36, 40)]
    assert len(shown_rows(whole)) < 12 < len(whole.rows) == 30
    text = said(str(tmp_path))
    assert "of 40 ranks those with least, middle and most of MPI" in text
    assert f"{30 - len(shown_rows(whole))} more call sites are in --csv, --json and --html." in text


def test_ranks_without_a_file_are_named(folder: Path) -> None:
    (folder / "calls-1.bin").unlink()
    shared = f"is {folder} on a file system that all nodes see?"
    gaps = summarise(folder).gaps  # rank 0 wrote its profile in MPI_Finalize, and then nothing
    assert gaps[0] == f"no file of rank 1: {shared}"
    assert gaps[1].startswith("no rank-N.json of rank 0: the rank has ended in MPI_Finalize, the disk is full,")
    CallsFile(0, 2).write(folder, RUNNING)
    assert summarise(folder).gaps == [f"no file of rank 1: not out of MPI_Init yet; if the program is, {shared}"]


def test_files_of_an_earlier_run_with_more_ranks_are_passed_over(folder: Path) -> None:
    for rank in range(4):
        path = CallsFile(rank, 4).write(folder)
        os.utime(path, (1000, 1000))
    for rank in range(2):
        CallsFile(rank, 2).write(folder)
    assert [rank.rank for rank in whole_of(folder).ranks] == [0, 1]
    assert whole_of(folder).size == 2


@pytest.mark.parametrize("size", (0, 6, 20, 90, 200, 300))
def test_a_file_that_is_cut_off_costs_its_rank(folder: Path, size: int) -> None:
    path = folder / "calls-1.bin"
    path.write_bytes(path.read_bytes()[:size])
    summary = summarise(folder)
    assert summary.whole is not None and [rank.rank for rank in summary.whole.ranks] == [0]
    assert "rank 1: calls-1.bin is broken, or cut off; the report is without its MPI calls" in summary.gaps
    said(str(folder), "--csv", str(folder / "calls.csv"))
    with pytest.raises(ReportError, match=r"calls-1\.bin"):
        read_all_calls(folder)


def test_another_form_is_named(folder: Path) -> None:
    path = folder / "calls-0.bin"
    data = bytearray(path.read_bytes())
    data[8] = 9
    path.write_bytes(data)
    line = "rank 0: calls-0.bin has form 9, this urakata reads form"
    assert any(gap.startswith(line) for gap in summarise(folder).gaps)


def test_no_profile_is_no_part_of_the_report(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match=r"holds no rank-\*\.json"):
        summarise(tmp_path)
