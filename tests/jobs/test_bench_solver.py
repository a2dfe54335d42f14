# SPDX-License-Identifier: BSD-3-Clause
"""bench/solver: every way brings the right values, and CG takes the iterations and ends with the residual of a
sequential one."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy
import pytest
from jobs import FULL, Outcome, compiled_library, named, passes, run_job
from spaces import nothing_stays, space_job
from typer.testing import CliRunner

from urakata import paths
from urakata.cli import build_app
from urakata.hosts import available

__all__ = ["nothing_stays"]  # around every test here

WAYS = ["messages", "persistent", "neighbour", "put-fence", "put-pscw", "put-flush", "put-notify", "sockets"]
EDGE = 6


def program(name: str, *arguments: str) -> list[str]:
    return [
        str(paths.program(f"bench/{name}/solver")),
        "--n",
        str(EDGE),
        "--turns",
        "2",
        "--operations",
        "2",
        *arguments,
    ]


def records(outcome: Outcome) -> list[dict[str, Any]]:
    passes(outcome)
    return [json.loads(line) for line in outcome.output.splitlines() if line.startswith('{"measure"')]


def product(x: Any) -> Any:
    """HPCG's matrix times a grid: 27 times the point less the sum over the 27 points around and at it."""
    padded = numpy.pad(x, 1)
    around = (padded[i : i + EDGE, j : j + EDGE, k : k + EDGE] for i in range(3) for j in range(3) for k in range(3))
    return 27 * x - sum(around)


def sequential(tolerance: float) -> tuple[int, float]:
    """Iterations and residual of textbook CG."""
    r = product(numpy.ones((EDGE, EDGE, EDGE)))
    p, x, norm, iterations = r.copy(), 0 * r, (r * r).sum(), 0
    while ((r * r).sum() / norm) ** 0.5 > tolerance:
        q, before = product(p), (r * r).sum()
        alpha = before / (p * q).sum()
        x, r = x + alpha * p, r - alpha * q
        p = r + (r * r).sum() / before * p
        iterations += 1
    return iterations, float(((r * r).sum() / norm) ** 0.5)


@pytest.mark.parametrize("partition", ("rows", "metis"))
@pytest.mark.parametrize("within", (False, True))
@pytest.mark.parametrize("ranks", (1, 2, 3, 4) if FULL else (1, 3))
@pytest.mark.parametrize("name", ("openmpi", "mpich", "impi") if FULL else ("openmpi", "mpich"))
def test_every_way_solves_as_a_sequential_solver(name: str, ranks: int, within: bool, partition: str) -> None:
    job = space_job if within else run_job
    found = records(job(named(name), ranks, program(name, "--partition", partition), seconds=240))
    counts = [record for record in found if record["measure"] == "partition"]
    assert [(one["parts"], one["space"]) for one in counts] == [(ranks, within)]
    assert not [record for record in found if record["measure"] == "skip"]
    iterations, residual = sequential(1e-8)
    for measure in ("exchange", "spmv", "cg", "pipelined"):
        of_measure = [record for record in found if record["measure"] == measure]
        assert [record["way"] for record in of_measure] == WAYS
        for record in of_measure:
            assert len(record["turns"]["us"]) == 2 and record["us"] > 0
            if measure in ("cg", "pipelined"):
                assert record["iterations"] == iterations
                assert record["residual"] == pytest.approx(residual, rel=1e-5)


def test_partitions_are_counted_exactly() -> None:
    """6 x 6 x 6 rows in three blocks of two layers: two borders with 36 values each way. In six: a layer each. In seven
    the borders are within layers, and a row may need values of the block after the next."""
    found = records(run_job(named("openmpi"), 1, program("openmpi", "--count", "3,6,7")))
    three, six, seven = found
    assert (three["least_rows"], three["most_rows"], three["messages"], three["most_neighbours"]) == (72, 72, 4, 2)
    assert three["bytes"] == 4 * 36 * 8 and six["messages"] == 10 and six["bytes"] == 10 * 36 * 8
    assert (three["marks_two_buffers"], three["marks_one_buffer"]) == (4, 8)
    assert (seven["least_rows"], seven["most_rows"]) == (30, 31) and seven["most_neighbours"] == 4


@pytest.mark.parametrize("ranks", (2, 4))
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_a_part_of_many_is_played_by_few(name: str, ranks: int) -> None:
    """Parts have more neighbours than there are ranks: several messages go between each two."""
    arguments = ["--partition", "metis", "--play", "27", "--measure", "exchange"]
    for job in (run_job, space_job):
        found = records(job(named(name), ranks, program(name, *arguments), seconds=120))
        assert [record["way"] for record in found if record["measure"] == "exchange"] == WAYS


def test_the_study_is_measured_and_shown(tmp_path: Path) -> None:
    """Both partitions, on the MPI library alone, under Urakata and in a space: equal residuals, figures, page, CSV."""
    named("openmpi")
    words = ["--n", str(EDGE), "--parts", "2", "--repeats", "1", "--iterations", "5", "-o", str(tmp_path)]
    done = CliRunner().invoke(build_app(), ["bench", "solver", *words])
    assert done.exit_code == 0, done.output
    document = json.loads((tmp_path / "solver.json").read_text())
    assert document["failed"] == [] and document["refused"] == []
    found = {(row["mode"], row["partition"], row["measure"], row["way"]) for row in document["rows"]}
    assert len(found) == 3 * 2 * 4 * (len(WAYS) - 1)
    assert {row["iterations"] for row in document["rows"] if row["measure"] in ("cg", "pipelined")} == {5}
    assert {one["parts"] for one in document["partitions"]} == {2, 4, 8, 16, 32, 64, 100}
    names = ("index.html", "solver.csv", "spmv-openmpi.svg", "cg-openmpi.svg")
    assert all((tmp_path / name).stat().st_size > 0 for name in names)


@pytest.mark.skipif(not available()[0], reason=f"no test hosts here: {available()[1]}")
def test_the_study_over_two_test_hosts(tmp_path: Path) -> None:
    """From its hosts to its page: every way ends with the residual of a sequential solver, alone and under Urakata."""
    named("openmpi")
    words = ["--hosts", "2", "--n", str(EDGE), "--repeats", "1", "--partition", "rows", "--measure", "cg,pipelined"]
    words += ["--iterations", "30", "--ways", ",".join(WAYS), "-o", str(tmp_path)]
    done = CliRunner().invoke(build_app(), ["bench", "solver", "--quick", *words])
    assert done.exit_code == 0, done.output
    document = json.loads((tmp_path / "solver.json").read_text())
    assert document["failed"] == [] and document["refused"] == []
    assert document["settings"]["test_hosts"] == 2
    rows = {(row["mode"], row["measure"], row["way"]): row for row in document["rows"]}
    assert set(rows) == set(itertools.product(("alone", "urakata"), ("cg", "pipelined"), WAYS))
    for (_, measure, _), row in rows.items():
        assert (row["parts"], row["iterations"]) == (2, rows["alone", measure, "messages"]["iterations"]), row
        assert row["residual"] == pytest.approx(rows["alone", measure, "messages"]["residual"], rel=1e-5), row
    assert all((tmp_path / name).stat().st_size > 0 for name in ("index.html", "solver.csv", "cg-openmpi.svg"))


LOSES_A_VALUE = """
#include <mpi.h>
int MPI_Put(const void* from, int count, MPI_Datatype type, int rank, MPI_Aint place, int there, MPI_Datatype their,
            MPI_Win window) {
  return PMPI_Put(from, count - 1, type, rank, place, there - 1, their, window);
}
"""
# After the first exchanges, which the program checks, a value that comes by a persistent receive is a little off.
DISTURBS = """
#include <mpi.h>
static double* place;
static int starts, started;
int MPI_Recv_init(void* to, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm, MPI_Request* request) {
  place = to;
  return PMPI_Recv_init(to, count, type, rank, tag, comm, request);
}
int MPI_Startall(int count, MPI_Request* requests) {
  started = ++starts > 16;
  return PMPI_Startall(count, requests);
}
int MPI_Waitall(int count, MPI_Request* requests, MPI_Status* statuses) {
  const int code = PMPI_Waitall(count, requests, statuses);
  if (started) *place *= 1.001;
  started = 0;
  return code;
}
"""


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_wrong_values_and_residuals_end_the_job(folder: Path, name: str) -> None:
    mpi = named(name)
    for source, words in ((LOSES_A_VALUE, "put-flush brings"), (DISTURBS, "persistent ends")):
        library = compiled_library(mpi, source, folder)
        arguments = ["--measure", "cg", "--ways", "messages,persistent,put-flush"]
        outcome = run_job(mpi, 2, program(name, *arguments), environment={"LD_PRELOAD": str(library)})
        assert outcome.code not in (0, None) and words in outcome.output, outcome.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    (
        (["--ways", "pigeons"], "there is no way 'pigeons'"),
        (["--measure", "taste"], "there is no 'taste'"),
        (["--partition", "columns"], "neither rows nor metis"),
        (["--tolerance", "small"], "is no number"),
        (["--play", "27"], "only the exchange can be measured"),
        (["--count", "217"], "more than there are rows"),
    ),
)
def test_bad_values_are_told(arguments: list[str], words: str) -> None:
    outcome = run_job(named("mpich"), 1, program("mpich", *arguments))
    assert outcome.code not in (0, None) and words in outcome.output, outcome.output
