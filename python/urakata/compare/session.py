# SPDX-License-Identifier: BSD-3-Clause
"""Running the sides in turn, round after round, until it is known which is faster or the time is over."""

from __future__ import annotations

import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from urakata import caller_path
from urakata.compare.clock import broken_by_clock, read_clock
from urakata.compare.interval import rounds_for
from urakata.compare.progress_need import nothing_to_progress
from urakata.compare.side import ALONE, Side
from urakata.compare.trials import Run, Session, Trials
from urakata.launcher import Mpi
from urakata.measure.rounds import Budget, Progress, in_order
from urakata.measure.running import Done, JobError, run, why
from urakata.measure.text_table import time_text

# urakata-exec's and the preload library's exit code for what cannot be done here; their lines begin with a name.
_CODE_REFUSED = 2
# Each leaves in one write, but behind what another rank may have written of a line.
_OUR_LINE = re.compile(r"urakata(?:-exec)?: .*")

# Parts of the time left, for the run with a report that tells which functions the program calls. It is left out if the
# MPI library alone takes more than the first part, and ended if it takes more than the second itself.
_USUAL_FOR_REPORT = 0.1
_MOST_FOR_REPORT = 0.2
# A side that is still running when the time is over has failed where it takes as many times as long as the MPI library.
_TOO_SLOW = 10


class Stop:
    """Whether a signal asked to end the comparison. `ask` is its handler; it raises nothing: see running.run."""

    def __init__(self) -> None:
        self.number = 0

    def ask(self, number: int, _frame: FrameType | None) -> None:
        if self.number:  # asked twice
            raise SystemExit(128 + number)
        self.number = number

    def look(self) -> None:
        if self.number:
            raise _StoppedError


class _StoppedError(Exception):
    pass


class _OutOfTimeError(Exception):
    pass


@dataclass(frozen=True)
class Question:
    """What is compared."""

    mpi: Mpi
    program: list[str]
    ranks: int
    options: list[str] = field(default_factory=list)  # urakata-exec's, of every side with Urakata
    words: list[str] = field(default_factory=list)  # of `urakata run`, which say the same and name the MPI library
    launcher_arguments: list[str] = field(default_factory=list)
    timeout_s: float = 600.0
    check: str | None = None  # a shell command that reads the output of a run

    def command(self, side: Side, clock: bool = False, report: Path | None = None) -> list[str]:
        """The command line of a side's job; with the `clock` preloaded, and a report, where these are asked for."""
        more = [*self.options, *(("--report", str(report)) if report else ())]
        return side.command(self.mpi, self.ranks, self.program, more, self.launcher_arguments, clock)

    def shell_line(self, side: Side) -> str:
        """What to paste into a shell to run the side's job, with the variables that it needs."""
        return caller_path.shell_line(self.command(side), self.mpi.environment(side.space))


@dataclass(frozen=True)
class Limits:
    """When to end: after `runs` rounds, if given; when no interval is wider than `precision` to either side, which
    takes as many rounds as make it sure; and after `seconds` in any case, if given."""

    seconds: float | None
    runs: int | None = None
    precision: float = 0.02


def _our_lines(complaints: str) -> list[str]:
    return [found[0].strip() for line in complaints.splitlines() if (found := _OUR_LINE.search(line))]


def _check(command: str, output: str) -> str:
    """Why the user's command does not accept the output; empty where it does."""
    done = subprocess.run(command, shell=True, input=output, text=True, capture_output=True, check=False)
    return f"--check: {why(done.returncode, done.stderr or done.stdout)}" if done.returncode else ""


def _take(trials: Trials, number: int, done: Done, check: str | None) -> None:
    inside, complaints = read_clock(done.complaints)
    lines = _our_lines(complaints)
    if done.code == _CODE_REFUSED and lines and trials.side is not ALONE:
        trials.refusal = lines[0].partition(": ")[2].strip()
        return
    if done.code != 0:
        trials.failure = why(done.code, complaints)
        return
    trials.runs[number] = Run(done.seconds, inside)
    trials.outputs.append(done.said)
    trials.lines += [line for line in lines if line not in trials.lines]
    if check:
        trials.failure = _check(check, done.said)


class _Measuring:
    """One comparison under way."""

    def __init__(
        self, question: Question, limits: Limits, progress: Progress, tell: Callable[[str], None], stop: Stop
    ) -> None:
        self._question, self._limits, self._progress, self._tell, self._stop = question, limits, progress, tell, stop
        self._budget = Budget(limits.seconds)
        self._clock = True

    @property
    def _time_is_over(self) -> str:
        return f"the {self._limits.seconds:g} s are over"

    def _run(self, trials: Trials, number: int, report: Path | None = None) -> None:
        """Raises _OutOfTimeError where the time of the comparison is over before the job is."""
        self._stop.look()
        left = self._budget.left
        timeout = min(self._question.timeout_s, left * _MOST_FOR_REPORT) if report else self._question.timeout_s
        if left <= 0:
            raise _OutOfTimeError
        environment = self._question.mpi.environment(space=trials.side.space)
        command = self._question.command(trials.side, self._clock, report)
        try:
            done = run(command, environment, min(timeout, left), self._stop.look)
            _take(trials, number, done, self._question.check)
        except JobError as error:
            if timeout >= left and self._budget.left <= 0:
                raise _OutOfTimeError from error
            trials.failure = str(error)

    def _report(self, side: Side) -> bool:
        """Runs a side once without counting it, with a report; whether the program leaves an engine nothing to do."""
        self._progress(f"{side.title}, for what the program calls", 0)
        with tempfile.TemporaryDirectory(prefix="urakata-compare-", ignore_cleanup_errors=True) as folder:
            trials = Trials(side)
            self._run(trials, 0, Path(folder))
            return trials.usable and nothing_to_progress(Path(folder))

    def warm_up(self, session: Session, sides: Sequence[Side], idle_sides: Sequence[Side] | None) -> bool:
        """The MPI library alone once without being counted, which finds its files and fills the caches; then a side
        with Urakata, with a report. False where the program fails with the MPI library alone."""
        self._progress("MPI library alone, to warm up", 0)
        first = Trials(ALONE)
        self._run(first, 0)
        if broken_by_clock(first.failure):  # whole jobs are compared, then
            self._clock, first = False, Trials(ALONE)
            self._run(first, 0)
        if not first.usable:
            session.alone.failure = first.failure
            session.ended = "the program fails with the MPI library alone"
            return False
        session.alone.outputs += first.outputs
        if len(sides) > 1 and first.runs[0].seconds <= _USUAL_FOR_REPORT * self._budget.left:
            session.nothing_to_progress = self._report(sides[1])
        if session.nothing_to_progress and idle_sides is not None:
            session.trials[1:] = [Trials(side) for side in idle_sides[1:]]
        return True

    def _round(self, session: Session, number: int) -> None:
        for trials in in_order(session.trials, number):
            label = f"round {number + 1}: {trials.side.title}"
            if not trials.failure and not trials.refusal:
                self._progress(label, 0)
                begin = time.monotonic()
                try:
                    self._run(trials, number)
                except _OutOfTimeError:
                    self._judge_unfinished(session, trials, time.monotonic() - begin)
                    raise
            self._progress(label, 1)

    def _judge_unfinished(self, session: Session, trials: Trials, seconds: float) -> None:
        usual = max((one.seconds for one in session.alone.runs.values()), default=0.0)
        if trials.side is not ALONE and usual and seconds > _TOO_SLOW * usual:
            trials.failure = f"not done after {seconds:.3g} s; the MPI library alone takes {usual:.3g} s"

    def _tell_round(self, session: Session, number: int) -> None:
        inside = session.inside
        told = []
        for one in session.trials:
            if run_of_it := one.runs.get(number):
                seconds = run_of_it.inside if inside and run_of_it.inside else run_of_it.seconds
                told.append(f"{one.side.title} {time_text(1e6 * seconds)}")
        what = " after MPI_Init" if inside else ""
        limit = f" of {self._limits.seconds:g} s" if self._limits.seconds is not None else ""
        self._tell(f"round {number + 1}{what}: {'; '.join(told)} ({self._budget.spent:.0f} s{limit})")

    def _why_no_further(self, session: Session, done: int) -> str:
        """Empty where another round is to be run."""
        if session.alone.failure:
            return "the program failed with the MPI library alone"
        if done and not any(one.usable for one in session.trials[1:]):
            return "no other side can be run"
        if self._limits.runs is not None and done >= self._limits.runs:
            return "1 round was asked for" if done == 1 else f"{done} rounds were asked for"
        if self._limits.runs is None and done >= rounds_for(session.wanted) and self._precise(session):
            return f"all times are known within {self._limits.precision:.0%}"
        return "" if self._budget.has_room() else self._time_is_over

    def _precise(self, session: Session) -> bool:
        return all(session.ratio(one).width <= self._limits.precision for one in session.compared())

    def rounds(self, session: Session) -> None:
        done = 0
        while not (ended := self._why_no_further(session, done)):
            with self._budget.round():
                self._round(session, done)
                self._tell_round(session, done)
            done += 1
        session.ended = ended

    def all(self, session: Session, sides: Sequence[Side], idle_sides: Sequence[Side] | None) -> None:
        try:
            if self.warm_up(session, sides, idle_sides):
                self.rounds(session)
        except _OutOfTimeError:
            session.ended = self._time_is_over
        except _StoppedError:
            session.stopped = self._stop.number
            session.ended = f"{signal.Signals(self._stop.number).name} came"


def run_session(
    question: Question,
    sides: Sequence[Side],
    limits: Limits,
    progress: Progress,
    tell: Callable[[str], None],
    stop: Stop,
    idle_sides: Sequence[Side] | None = None,
) -> Session:
    """Runs all sides. Where the program fails with the MPI library alone nothing else is run; where an engine has
    nothing to progress, `idle_sides` take their place, if given. `tell` gets a line after each round. `stop` ends it
    early: what was measured until then counts."""
    session = Session([Trials(side) for side in sides])
    _Measuring(question, limits, progress, tell, stop).all(session, sides, idle_sides)
    return session
