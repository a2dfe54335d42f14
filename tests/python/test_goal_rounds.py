"""How a session measures: rounds that alternate, and the same work for all sides; with jobs that are not run."""

from __future__ import annotations

from collections.abc import Callable

from goal_cases import HOST, POLL, job

from urakata.goals import jobs, rounds, session


class FakePlace:
    """Runs nothing; every job takes a second of a clock that only it moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.ran: list[str] = []

    def run(self, job: jobs.Job) -> jobs.Records:
        self.now += 1.0
        self.ran.append(job.side.name)
        return []


def test_rounds_alternate_and_end_in_time() -> None:
    place = FakePlace()
    done = rounds.alternate(
        [job(HOST), job(POLL)], {"node": place}, lambda *_: None, 7.0, 1, lambda _: None, clock=lambda: place.now
    )
    assert done == 3 and place.ran == ["host", "poll", "poll", "host", "host", "poll"]


def test_the_least_number_of_rounds_is_run_whatever_it_takes() -> None:
    place = FakePlace()
    clock: Callable[[], float] = lambda: place.now  # noqa: E731
    assert rounds.alternate([job(HOST)], {"node": place}, lambda *_: None, 0.0, 4, lambda _: None, clock) == 4


def test_all_sides_compute_the_amount_that_the_first_side_found() -> None:
    # 8 B: the mean of 100 and 300; 64 B: of 1000 and 1000. It is asked once, of the first side.
    class Matching(FakePlace):
        def run(self, job: jobs.Job) -> jobs.Records:
            assert job.side is HOST and "match" in job.arguments
            found = [(8, 100), (64, 1000), (8, 300), (64, 1000)]
            return [{"type": "result", "bytes": size, "work": work} for size, work in found]

    fixed = session.fix_work([job(HOST), job(POLL)], {"node": Matching()}, lambda _: None)
    assert [j.arguments for j in fixed] == [("--work", "200,1000")] * 2
