# SPDX-License-Identifier: BSD-3-Clause
"""Jobs that take turns, compared turn by turn; with jobs that are not run."""

from __future__ import annotations

import threading
from concurrent import futures
from pathlib import Path
from typing import Any

import pytest
from goal_cases import HOST, POLL, A, job, samples

from urakata.goals import jobs, readers, together
from urakata.goals.errors import MeasurementError
from urakata.goals.samples import TOGETHER

SLOW = 5.0
"""What another machine would make of a turn's time."""


def record(*us: float) -> jobs.Records:
    return [{"operation": "ibcast", "bytes": 8, "us": 100.0, "turns": {"us": list(us)}}]


def test_a_machine_that_changes_from_turn_to_turn_changes_no_ratio() -> None:
    # Twice as long in each turn, while most of the one side's turns, and few of the other's, are slow in all.
    both = [job(HOST), job(POLL)]
    records = [record(1.0, SLOW, SLOW, 1.0, SLOW), record(2.0, 2 * SLOW, 2 * SLOW, 2.0, 2 * SLOW)]
    found = {j.side.name: us for j, _, _, us in together.compare_turns(both, records, readers.READERS["nbc"])}
    assert found == {"host": SLOW, "poll": 2 * SLOW}


def test_rounds_of_turns_compare_beside_each_other_too() -> None:
    measured = samples("us", host={A: [1.0, SLOW, 1.1]}, poll={A: [1.2, 1.2 * SLOW, 1.1 * 1.2]})
    measured.over_rounds = TOGETHER
    assert measured.value("poll", "us", A) == pytest.approx(1.2 * measured.value("host", "us", A))


def test_jobs_that_took_other_turns_are_no_measurement() -> None:
    with pytest.raises(MeasurementError, match="other turns"):
        list(together.compare_turns([job(HOST), job(POLL)], [record(1.0, 1.0), record(1.0)], readers.READERS["nbc"]))


class FakePlace:
    """Each job says which of how many it is, and that their page is there."""

    def run(self, job: jobs.Job) -> jobs.Records:
        option, how = job.arguments
        number, page = how.split(":")
        assert option == "--together" and Path(page).stat().st_size == together.PAGE_BYTES
        return [{"number": number}]


def test_all_jobs_share_a_page() -> None:
    assert together.run_together([job(HOST), job(POLL)], FakePlace()) == [[{"number": "0/2"}], [{"number": "1/2"}]]


def test_the_job_that_failed_first_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    # Side host fails too, and when somebody has already been told of side poll.
    told, in_time = threading.Event(), []

    def wait(*arguments: Any, **how: Any) -> Any:
        done = futures.wait(*arguments, **how)
        told.set()
        return done

    class Failing:
        def run(self, job: jobs.Job) -> jobs.Records:
            if job.side is POLL:
                raise MeasurementError("the reason")
            in_time.append(told.wait(60))
            raise MeasurementError("another job has not taken its turn")

    monkeypatch.setattr(together, "wait", wait)
    with pytest.raises(MeasurementError, match="the reason"):
        together.run_together([job(HOST), job(POLL)], Failing())
    assert in_time == [True]
