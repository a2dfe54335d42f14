# SPDX-License-Identifier: BSD-3-Clause
"""The study of a solver's exchange: results on worked examples, jobs and their reading, and what is shown."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from urakata import paths
from urakata.cli import build_app
from urakata.commands.bench import solver
from urakata.launcher import Mpi
from urakata.measure.session import Session
from urakata.measure.sides import Side
from urakata.solver_study import tables
from urakata.solver_study.results import MEASURES, STEPS, Results, from_json
from urakata.solver_study.session import Amounts, Job, Place, run_session

ALONE, LOADED, WITHIN = (Side("openmpi", mode) for mode in ("alone", "urakata", "space"))
ROWS = ("rows", 2)


def record(measure: str, way: str, us: float, residual: float = 1e-9, iterations: int = 20) -> dict[str, Any]:
    made = {
        "measure": measure,
        "way": way,
        "us": us,
        "exchange_us": us / 2,
        "last_us": 1.5,
        "steps": dict.fromkeys(STEPS, us / 8),
    }
    return made | ({"iterations": iterations, "residual": residual} if measure in ("cg", "pipelined") else {})


def partition(name: str, parts: int, space: bool = False) -> dict[str, Any]:
    counts = {"least_rows": 4, "most_rows": 4, "messages": 2, "most_neighbours": 1, "bytes": 64}
    marks = {"marks_two_buffers": 2, "marks_one_buffer": 4}
    return {"measure": "partition", "partition": name, "n": 2, "parts": parts, "space": space, **counts, **marks}


def study() -> Results:
    """Messages take 10 us, one-sided 8 at best, double-buffered 4; METIS twice as long, 4 parts too."""
    filled = Results()
    for name in ("rows", "metis"):
        for parts in (2, 4):
            filled.take(ALONE, name, parts, partition(name, parts))
            for side in (ALONE, LOADED, WITHIN):
                for measure in MEASURES:
                    factor = (2 if name == "metis" else 1) * parts / 2
                    for way, us in (("messages", 10.0), ("put-fence", 9.0), ("put-flush", 8.0), ("neighbour", 4.0)):
                        filled.take(side, name, parts, record(measure, way, factor * us))
    return filled


def test_a_median_stands_for_the_rounds_and_the_fastest_form_for_one_sided() -> None:
    # One disturbed round (900) decides nothing.
    measured = Results()
    for us in (4.0, 900.0, 5.0):
        measured.take(ALONE, *ROWS, record("spmv", "put-fence", us))
    measured.take(ALONE, *ROWS, record("spmv", "put-pscw", 6.0))
    measured.take(ALONE, *ROWS, record("spmv", "messages", 1.0))
    assert measured.synchronised(ALONE, ROWS, "spmv") == ("put-fence", 5.0)
    assert (
        measured.synchronised(WITHIN, ROWS, "spmv") is None and measured.median(ALONE, ROWS, "cg", "messages") is None
    )


def test_the_methods_are_compared_where_they_belong() -> None:
    # One-sided by its fastest form, both on the MPI library alone; double-buffered in a space: 4 over 8 and over 10.
    table = tables.paper(study(), "cg", cores=2)
    assert table
    assert table.rows[0] == ["Open MPI, blocks of rows, 2 parts", "10 µs", "8 µs (put-flush)", "4 µs", "0.50", "0.40"]
    assert table.rows[3][0] == "Open MPI, METIS, 4 parts*" and "more parts than the 2 cores" in table.note
    few = tables.paper(study(), "cg", cores=4)
    assert few and "*" not in few.rows[3][0] and "more parts" not in few.note


def test_without_a_space_the_third_method_is_urakatas() -> None:
    """Over hosts: the collective of neighbours under Urakata, which has another name."""
    measured = study()
    for key in [key for key in measured.rows if key.side == WITHIN]:
        del measured.rows[key]
    table = tables.paper(measured, "cg", cores=4)
    assert table and table.columns[3] == "neighbour, Urakata" and table.rows[0][3:] == ["4 µs", "0.50", "0.40"]


def test_solvers_must_end_alike() -> None:
    measured = study()
    assert list(measured.differing()) == []
    measured.take(WITHIN, *ROWS, record("cg", "neighbour", 4.0, residual=1.00001e-9))
    (said,) = measured.differing()
    assert "CG, rows, 2 parts: Open MPI in a space, neighbour, ends after 20 iterations" in said
    measured.take(WITHIN, *ROWS, record("cg", "neighbour", 4.0))
    measured.take(LOADED, *ROWS, record("pipelined", "messages", 4.0, iterations=21))
    (said,) = measured.differing()
    assert "Pipelined CG" in said and "after 21 iterations" in said
    table = tables.solvers(measured)
    assert table and table.note.startswith("NOT the same")


def test_results_survive_json() -> None:
    measured = study()
    again = from_json(json.loads(json.dumps(measured.as_json())))
    assert again == measured and again.as_json() == measured.as_json()


# --- jobs ---


def place_of(tmp_path: Path, said: str) -> Place:
    """A launcher that starts nothing and writes `said`."""
    (tmp_path / "said").write_text(said)
    launcher = tmp_path / "mpirun"
    launcher.write_text(f"#!/bin/sh\ncat {tmp_path}/said\n")
    launcher.chmod(launcher.stat().st_mode | stat.S_IXUSR)
    return Place({"openmpi": Mpi(launcher, "openmpi", "5")}, {"openmpi": Path("/p/solver")}, 10)


def ran(tmp_path: Path, side: Side, *said: dict[str, Any]) -> Session[Results]:
    amounts = Amounts(n=2, iterations=5, turns=1, operations=1, measure=["cg"])
    place = place_of(tmp_path, "\n".join(map(json.dumps, said)))
    return run_session([Job(side, "rows", 2, ["messages"])], place, amounts, 2, lambda _label, _done: None)


def test_a_job_is_read(tmp_path: Path) -> None:
    host = {"mpi": "/opt/lib/libmpi.so.40"}
    skip = {"measure": "skip", "way": "neighbour", "reason": "there is none"}
    done = ran(tmp_path, ALONE, host, partition("rows", 2), skip, record("cg", "messages", 3.0))
    assert not done.failed and [(one.what, one.reason) for one in done.refused] == [
        ("Open MPI, neighbour", "there is none")
    ]
    assert done.results.median(ALONE, ROWS, "cg", "messages") == 3.0 and done.results.partitions["rows", 2].bytes == 64


def test_a_job_that_is_not_what_it_should_be_fails(tmp_path: Path) -> None:
    host, loaded = {"mpi": "/opt/lib/libmpi.so.40"}, {"mpi": "/opt/liburakata-openmpi.so"}
    result = record("cg", "messages", 3.0)
    for side, said, reason in (
        (ALONE, [loaded, result], "Urakata is loaded"),
        (WITHIN, [host, result], "Urakata is not loaded"),
        (WITHIN, [loaded, partition("rows", 2), result], "the ranks are not in a space"),
        (ALONE, [host], "wrote no result"),
    ):
        (failed,) = ran(tmp_path, side, *said).failed
        assert reason in failed.reason


def test_a_wrong_residual_fails(tmp_path: Path) -> None:
    good, wrong = record("cg", "messages", 3.0), record("cg", "persistent", 3.0, residual=2e-9)
    (failed,) = ran(tmp_path, ALONE, {"mpi": "/libmpi.so"}, good, wrong).failed
    assert failed.what == "Solvers that end differently" and "residual 2e-09" in failed.reason


def test_a_partition_that_cannot_be_made_is_left_out(tmp_path: Path) -> None:
    """As METIS where the program was built without it: the others are counted."""
    place = place_of(tmp_path, json.dumps(partition("rows", 4)))
    results, refused = solver._count_all(place, 2, ["rows"], [2])
    assert list(results.partitions) == [("rows", 4)] and refused == []
    place.hosts["openmpi"].launcher.write_text("#!/bin/sh\necho no METIS >&2\nexit 2\n")
    results, refused = solver._count_all(place, 2, ["metis"], [2])
    assert not results.partitions and refused[0].what == "partitions by metis" and "no METIS" in refused[0].reason


# --- what is shown ---


def document(results: Results) -> dict[str, Any]:
    return {
        "format": "urakata-solver-1",
        "date": "today",
        "machine": {"name": "here", "cpu": "a <fast> one", "cores": 2, "host": "openmpi 5"},
        "settings": {"n": 2, "repeats": 1},
        "warnings": ["a warning"],
        "refused": [],
        "failed": [{"what": "part", "reason": "no reason"}],
        **results.as_json(),
    }


def test_an_earlier_run_is_shown_again(tmp_path: Path) -> None:
    (tmp_path / "solver.json").write_text(json.dumps(document(study())))
    new = tmp_path / "new"
    done = CliRunner().invoke(build_app(), ["bench", "solver", "--from", str(tmp_path), "-o", str(new)])
    assert done.exit_code == 0, done.output
    assert "What an exchange is" in done.output
    for figure in ("spmv-openmpi.svg", "cg-openmpi.svg"):
        assert "<svg" in (new / figure).read_text()
    page = (new / "index.html").read_text()
    assert page.count("data:image/svg+xml;base64,") == 2 and "a &lt;fast&gt; one" in page
    assert "http" not in page.replace("data:image", "") and "<script" not in page
    lines = (new / "solver.csv").read_text().splitlines()
    assert lines[0].startswith("host,mode,partition,parts,measure,way,round,us,exchange_us,last_us,start,")
    assert len(lines) == 1 + 2 * 2 * 3 * 4 * 4
    assert lines[1] == "openmpi,alone,rows,2,exchange,messages,1,10.0,5.0,1.5,1.25,1.25,1.25,1.25,1.25,1.25,0,0.0"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--ways", "pigeons"],
        ["--partition", "columns"],
        ["--n", "1"],
        ["--n", "2", "--parts", "9"],
        ["--hosts", "2", "--mode", "space"],
        ["--hosts", "2", "--parts", "4"],
    ],
)
def test_wrong_options_are_2(tmp_path: Path, arguments: list[str]) -> None:
    done = CliRunner().invoke(build_app(), ["bench", "solver", "-o", str(tmp_path), *arguments])
    assert done.exit_code == 2


def test_what_another_command_wrote_is_refused(tmp_path: Path) -> None:
    (tmp_path / "solver.json").write_text('{"format": "urakata-space-1"}')
    with pytest.raises(paths.NotFoundError, match="not written by urakata bench solver"):
        CliRunner().invoke(build_app(), ["bench", "solver", "--from", str(tmp_path)], catch_exceptions=False)
