# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of all sides at the same time, which take turns on the same cores (bench/common/turns.h)."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any

from urakata.goals.errors import MeasurementError
from urakata.goals.jobs import Job, Place, Records
from urakata.goals.samples import Point, beside

Read = Callable[[Job, dict[str, Any]], Iterator[tuple[str, Point, float]]]
Turns = dict[tuple[str, Point], list[float]]
"""By quantity and point: one value a turn."""

PAGE_BYTES = 4096


def run_together(jobs: Sequence[Job], place: Place) -> list[Records]:
    """Runs the jobs at the same time; each lets the others run after each of its turns."""
    with tempfile.NamedTemporaryFile(prefix="turns-") as page, ThreadPoolExecutor(len(jobs)) as pool:
        page.write(bytes(PAGE_BYTES))
        page.flush()
        place_of = [f"{number}/{len(jobs)}:{page.name}" for number in range(len(jobs))]
        taking = [
            replace(job, arguments=(*job.arguments, "--together", at)) for job, at in zip(jobs, place_of, strict=True)
        ]
        running = [pool.submit(place.run, job) for job in taking]
        for done in wait(running, return_when=FIRST_EXCEPTION).done:
            done.result()  # the first that failed says why: the others then miss it
        return [done.result() for done in running]


def each_turn(record: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A record as each turn alone would have given it; one that says nothing of turns as it is."""
    turns: dict[str, list[Any]] | None = record.get("turns")
    if turns is None:
        yield record
        return
    rest = {key: value for key, value in record.items() if key != "turns"}
    for values in zip(*turns.values(), strict=True):
        yield {**rest, **dict(zip(turns, values, strict=True))}


def _turns(job: Job, records: Records, read: Read) -> Turns:
    turns: Turns = {}
    for record in records:
        try:
            for of_turn in each_turn(record):
                for quantity, point, value in read(job, of_turn):
                    turns.setdefault((quantity, point), []).append(value)
        except (ArithmeticError, LookupError, TypeError, ValueError) as error:
            raise MeasurementError(f"{job.program}, side {job.side.name}: cannot read a turn: {error!r}") from error
    return turns


def compare_turns(
    jobs: Sequence[Job], records: Sequence[Records], read: Read
) -> Iterator[tuple[Job, str, Point, float]]:
    """What stands for all turns of each job, seen beside the first job's."""
    all_turns = [_turns(job, own, read) for job, own in zip(jobs, records, strict=True)]
    first = all_turns[0]
    for job, turns in zip(jobs, all_turns, strict=True):
        if {key: len(values) for key, values in turns.items()} != {key: len(values) for key, values in first.items()}:
            raise MeasurementError(
                f"{job.program}: side {job.side.name} took other turns than side {jobs[0].side.name}"
            )
        for (quantity, point), values in turns.items():
            yield job, quantity, point, beside(values, first[quantity, point])
