# SPDX-License-Identifier: BSD-3-Clause
"""urakata compare: when a comparison ends, and what it runs, with jobs that only move a clock of the test's own."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from calls_file import CallsFile

from urakata.compare import session as sessions
from urakata.compare.progress_need import nothing_to_progress
from urakata.compare.session import Limits, Question, Stop, run_session
from urakata.compare.side import ENGINES, idle_sides_of, sides_of
from urakata.compare.trials import Run, Session, Trials
from urakata.compare.verdict import verdict
from urakata.launcher import Mpi
from urakata.measure.running import Done, JobError

HANGS = 1e9


class Jobs:
    """Jobs whose times are given by side; they are not run. `calls`: what the program of a reported job calls."""

    def __init__(self, times: dict[str, float], calls: tuple[str, ...] = ("Isend",)) -> None:
        self.now, self.commands, self._times, self._calls = 0.0, list[str](), times, calls

    def run(self, command: list[str], _environment: dict[str, str], timeout_s: float, _look: object) -> Done:
        line = " ".join(command)
        self.commands.append(line)
        if "--report" in command:
            rank = CallsFile(0, 1)
            for one in self._calls:
                rank.call(one, 1, 10)
            rank.write(Path(command[command.index("--report") + 1]))
        side = "space" if "SPACE=1" in line else "poll" if "poll" in line else "host"
        seconds = self._times[side]
        self.now += min(seconds, timeout_s)
        if seconds > timeout_s:
            raise JobError(f"not done after {timeout_s:g} s")
        return Done(0, "", "urakata-clock: 1000000000\n", seconds)


Compare = Callable[..., tuple[Session, Jobs]]


@pytest.fixture
def compared(monkeypatch: pytest.MonkeyPatch) -> Compare:
    def compare(limits: Limits, spaces: list[bool], jobs: Jobs) -> tuple[Session, Jobs]:
        monkeypatch.setattr(sessions, "run", jobs.run)
        monkeypatch.setattr(sessions.time, "monotonic", lambda: jobs.now)
        question = Question(Mpi(Path("/bin/mpirun"), "mpich", "4.2"), ["./app"], 1)
        sides = sides_of(["poll"], spaces)
        nothing = lambda *_: None  # noqa: E731
        return run_session(question, sides, limits, nothing, nothing, Stop(), idle_sides_of(spaces)), jobs

    return compare


def test_seconds_bound_the_whole(compared: Compare) -> None:
    """Rounds of 20 s in 130 s: 10 to warm up, 10 for the report, five rounds; a sixth would end too late."""
    session, jobs = compared(Limits(130, precision=0), [False], Jobs({"host": 10, "poll": 10}))
    assert jobs.now == 120 and len(session.alone.runs) == 5 and session.ended == "the 130 s are over"


def test_a_round_that_is_cut_off_counts_for_the_sides_that_it_has(compared: Compare) -> None:
    """40 s are too long for a report in 100 s; host and poll are done in 120 s, the space is not."""
    session, jobs = compared(Limits(130), [False, True], Jobs({"host": 40, "poll": 40, "space": 40}))
    assert jobs.now == 130 and [one.side.name for one in session.compared()] == ["poll"]


def test_a_side_that_hangs_is_told_when_the_time_is_over(compared: Compare) -> None:
    session, jobs = compared(Limits(100), [False], Jobs({"host": 1, "poll": HANGS}))
    assert jobs.now == 100 and session.trials[1].failure == "not done after 78.2 s; the MPI library alone takes 1 s"


def test_rounds_that_were_asked_for_have_no_bound(compared: Compare) -> None:
    session, jobs = compared(Limits(None, 3), [False], Jobs({"host": 100, "poll": 100}))
    assert session.ended == "3 rounds were asked for" and jobs.now == 800


def test_where_no_engine_can_matter_only_the_space_is_compared(compared: Compare) -> None:
    jobs = Jobs({"host": 1, "poll": 1, "space": 1}, ("Send", "Recv", "Allreduce", "Iprobe"))
    session, _ = compared(Limits(None, 1), [False, True], jobs)
    assert session.ended == "1 round was asked for"
    assert [one.side.name for one in session.trials] == ["host", "space"] and len(jobs.commands) == 4
    assert session.inside and "engine" not in verdict(session).text
    jobs = Jobs({"host": 1, "poll": 1, "space": 1}, ("Send", "Iallreduce"))
    session, _ = compared(Limits(None, 1), [False, True], jobs)
    assert [one.side.name for one in session.trials] == ["host", "poll", "poll+space"]


@pytest.mark.parametrize(
    ("calls", "nothing"),
    [
        (["Send", "Info_set", "Improbe", "Intercomm_create", "Is_thread_main", "Init_thread", "Wait"], True),
        *((["Send", one], False) for one in ("Irecv", "Imrecv", "Ineighbor_alltoall", "Allreduce_init", "Start")),
        *((["Send", one], False) for one in ("Comm_idup", "Psend_init", "ura_start", "(others)")),
    ],
)
def test_what_leaves_an_engine_something_to_progress(tmp_path: Path, calls: list[str], nothing: bool) -> None:
    rank = CallsFile(0, 1)
    for one in calls:
        rank.call(one, 1, 10)
    rank.write(tmp_path)
    assert nothing_to_progress(tmp_path) is nothing


def test_between_nodes_and_without_all_ranks_an_engine_may_matter(tmp_path: Path) -> None:
    assert not nothing_to_progress(tmp_path)
    CallsFile(0, 2, host="a").write(tmp_path)
    assert not nothing_to_progress(tmp_path)
    CallsFile(1, 2, host="b").write(tmp_path)
    assert not nothing_to_progress(tmp_path)
    CallsFile(1, 2, host="a").write(tmp_path)
    assert nothing_to_progress(tmp_path)


def simulated(draw: random.Random, rounds: int, gain: float) -> Session:
    """Six sides that take as long as the MPI library alone, one of them `gain` less; each run is off by 3 %."""
    session = Session([Trials(side) for side in sides_of(list(ENGINES), [False, True])])
    for number in range(rounds):
        of_round = 10 * draw.lognormvariate(0, 0.1)
        for one in session.trials:
            seconds = of_round * draw.lognormvariate(0, 0.03) * (1 - gain * (one.side.name == "poll+space"))
            one.runs[number] = Run(seconds + 1, seconds)
    return session


@pytest.mark.parametrize("rounds", [1, 3, 8, 12])
def test_without_any_difference_hardly_a_comparison_finds_a_winner(rounds: int) -> None:
    draw = random.Random(rounds)
    found = [verdict(simulated(draw, rounds, 0.0)).side.name for _ in range(200)]
    assert sum(name != "host" for name in found) <= 0.08 * 200


@pytest.mark.parametrize(("rounds", "least"), [(3, 0.5), (8, 0.95)])
def test_a_difference_of_a_fifth_is_found(rounds: int, least: float) -> None:
    draw = random.Random(rounds)
    found = [verdict(simulated(draw, rounds, 0.2)) for _ in range(200)]
    assert sum(one.side.name == "poll+space" for one in found) >= least * 200
