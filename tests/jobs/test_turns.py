# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of the benchmarks that take turns with each other."""

from __future__ import annotations

import pytest

from urakata.goals.definitions import Side
from urakata.goals.jobs import Job, Node
from urakata.goals.readers import READERS
from urakata.goals.together import compare_turns, run_together

SIDES = [Side("host", "openmpi"), Side("poll", "openmpi", ("--engine", "poll"))]
ARGUMENTS = {
    "bypass": ("--sizes", "8,4K", "--batches", "8", "--batch-us", "50", "--turns", "4"),
    "nbc": ("--operations", "ibcast,ialltoall", "--sizes", "8,4K", "--budget-ms", "2", "--turns", "4"),
    "overlap": ("--operation", "ibcast", "--sizes", "8,4K", "--budget-ms", "2", "--least", "4", "--rounds", "4"),
    "collectives": ("--operations", "allreduce,scatter", "--sizes", "4K,256K", "--repetitions", "2", "--turns", "4"),
    "suite": ("--communicators", "3", "--rounds", "1", "--turns", "4"),
    "layout": ("--patterns", "1", "--blocks", "8", "--gaps", "2", "--sizes", "1K", "--budget-ms", "2", "--turns", "4"),
}


@pytest.mark.parametrize("program", ARGUMENTS)
def test_both_sides_measure_every_point_in_each_turn(program: str) -> None:
    jobs = [Job(side, "node", 2, program, ARGUMENTS[program], "node, 2 ranks") for side in SIDES]
    records = run_together(jobs, Node())
    points = [record["turns"] for own in records for record in own if "turns" in record]
    assert {len(values) for turns in points for values in turns.values()} == {4}
    found: dict[str, list[tuple[str, tuple[str, ...]]]] = {"host": [], "poll": []}
    for job, quantity, point, value in compare_turns(jobs, records, READERS[program]):
        assert value > 0
        found[job.side.name].append((quantity, point))
    assert found["host"] == found["poll"] != []
