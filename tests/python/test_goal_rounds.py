# SPDX-License-Identifier: BSD-3-Clause
"""How a session measures: rounds that alternate, and the same work for all sides; with jobs that are not run."""

from __future__ import annotations

from collections.abc import Sequence

from goal_cases import HOST, POLL, job

from urakata.goals import jobs, session
from urakata.goals.definitions import Session


class Clock:
    """Every group of jobs that is run takes a second of it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.ran: list[str] = []

    def run(self, group: Sequence[jobs.Job]) -> None:
        self.now += 1.0
        self.ran.append(" ".join(job.side.name for job in group))


def alternate(groups: Sequence[Sequence[jobs.Job]], seconds: float, least: int) -> list[str]:
    clock = Clock()
    session.alternate(groups, clock.run, seconds, least, lambda _: None, clock=lambda: clock.now)
    return clock.ran


def test_rounds_alternate_and_end_in_time() -> None:
    ran = alternate([[job(HOST)], [job(POLL)]], 7.0, 1)
    assert ran == ["host", "poll", "poll", "host", "host", "poll"]


def test_jobs_that_take_turns_change_places() -> None:
    assert alternate([[job(HOST), job(POLL)]], 3.0, 1) == ["host poll", "poll host", "host poll"]


def test_the_least_number_of_rounds_is_run_whatever_it_takes() -> None:
    assert len(alternate([[job(HOST)]], 0.0, 4)) == 4


def test_all_sides_compute_the_amount_that_the_first_side_found() -> None:
    # 8 B: the mean of 100 and 300; 64 B: of 1000 and 1000. It is asked once, of the first side.
    class Matching:
        def run(self, job: jobs.Job) -> jobs.Records:
            assert job.side is HOST and "match" in job.arguments
            found = [(8, 100), (64, 1000), (8, 300), (64, 1000)]
            return [{"type": "result", "bytes": size, "work": work} for size, work in found]

    fixed = session.fix_work([job(HOST), job(POLL)], {"node": Matching()}, lambda _: None)
    assert [j.arguments for j in fixed] == [("--work", "200,1000")] * 2


def test_a_session_says_how_many_hosts() -> None:
    def ranks(per_host: int = 1, **parameters: object) -> tuple[int, str]:
        table = {"jobs": [{"place": "hosts", "arguments": [], "per_host": per_host}], **parameters}
        made = Session("s", "suite", 1.0, 1, "median", False, False, (HOST,), table)
        (only,) = session.make_jobs(made)
        assert session.count_hosts(made) * per_host == only.ranks
        return only.ranks, only.label

    assert ranks() == (4, "4 hosts, 1gbit") and ranks(hosts=3) == (3, "3 hosts, 1gbit")
    assert ranks(per_host=2, hosts=2) == (4, "2 hosts of 2 ranks, 1gbit")
