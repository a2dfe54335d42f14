# SPDX-License-Identifier: BSD-3-Clause
"""Goals, samples and jobs in few words, for the tests of goals."""

from __future__ import annotations

from typing import Any

from urakata.goals import jobs
from urakata.goals.definitions import Goal, Side
from urakata.goals.samples import Samples

HOST, POLL = Side("host", "openmpi"), Side("poll", "openmpi", ("--engine", "poll"))
A, B = ("node", "ibcast", "8 B"), ("node", "ibcast", "4 KiB")


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
