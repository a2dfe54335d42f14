"""Running the sides in turn, round after round, until it is known which is faster or the time is over."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

from urakata.compare.interval import Interval, interval
from urakata.compare.side import HOST, Side
from urakata.launcher import Host
from urakata.study.plan import Refused
from urakata.study.running import Done, JobError, run, why
from urakata.study.turns import Progress

# urakata-exec's and the preload library's exit code for what cannot be done here; their lines begin with a name.
_CODE_REFUSED = 2
_OUR_LINES = ("urakata: ", "urakata-exec: ")


@dataclass(frozen=True)
class Question:
    """What is compared."""

    host: Host
    program: list[str]
    ranks: int
    options: list[str] = field(default_factory=list)  # urakata-exec's, of every side with Urakata
    words: list[str] = field(default_factory=list)  # of `urakata run`, which say the same and name the host
    launcher_arguments: list[str] = field(default_factory=list)
    timeout_s: float = 600.0
    check: str | None = None  # a shell command that reads the output of a run

    def command(self, side: Side) -> list[str]:
        """The command line of a side's job."""
        return side.command(self.host, self.ranks, self.program, self.options, self.launcher_arguments)


@dataclass(frozen=True)
class Limits:
    """When to end: after `runs` rounds, if given; else when no interval is wider than `precision` to either side,
    which takes `sure` rounds at least, or no further round fits into `seconds`, but not before `least` rounds."""

    seconds: float
    runs: int | None = None
    precision: float = 0.02
    least: int = 3
    sure: int = 6  # the fewest rounds of which an interval holds the median with 95 %


@dataclass
class Trials:
    """The runs of one side: seconds and output of each. One that has failed or was refused is not run again."""

    side: Side
    seconds: list[float] = field(default_factory=list)
    outputs: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # Urakata's own, each once
    failure: str = ""
    refusal: str = ""

    @property
    def usable(self) -> bool:
        return not self.failure and not self.refusal and bool(self.seconds)


@dataclass
class Session:
    """All sides, the host's first; `ended`: why no further round was run."""

    trials: list[Trials]
    ended: str = ""

    @property
    def host(self) -> Trials:
        return self.trials[0]

    def ratio(self, trials: Trials) -> Interval:
        """A side's time over the host's in the same round."""
        pairs = zip(trials.seconds, self.host.seconds, strict=False)
        return interval([ours / hosts for ours, hosts in pairs])

    def failed(self) -> list[Refused]:
        return [Refused(one.side.title, one.failure) for one in self.trials if one.failure]

    def refused(self) -> list[Refused]:
        return [Refused(one.side.title, one.refusal) for one in self.trials if one.refusal]


def _our_lines(complaints: str) -> list[str]:
    return [line.strip() for line in complaints.splitlines() if line.startswith(_OUR_LINES)]


def _check(command: str, output: str) -> str:
    """Why the user's command does not accept the output; empty where it does."""
    done = subprocess.run(command, shell=True, input=output, text=True, capture_output=True, check=False)
    return f"--check: {why(done.returncode, done.stderr or done.stdout)}" if done.returncode else ""


def _take(trials: Trials, done: Done, check: str | None) -> None:
    lines = _our_lines(done.complaints)
    if done.code == _CODE_REFUSED and lines and trials.side is not HOST:
        trials.refusal = lines[0].partition(": ")[2].strip()
        return
    if done.code != 0:
        trials.failure = why(done.code, done.complaints)
        return
    trials.seconds.append(done.seconds)
    trials.outputs.append(done.said)
    trials.lines += [line for line in lines if line not in trials.lines]
    if check:
        trials.failure = _check(check, done.said)


def _run(question: Question, trials: Trials) -> None:
    environment = question.host.environment(space=trials.side.space)
    try:
        _take(trials, run(question.command(trials.side), environment, question.timeout_s), question.check)
    except JobError as error:
        trials.failure = str(error)


def _precise(session: Session, precision: float) -> bool:
    return all(session.ratio(one).width <= precision for one in session.trials[1:] if one.usable)


def run_session(question: Question, sides: Sequence[Side], limits: Limits, progress: Progress) -> Session:
    """Runs all sides; the host first once without being counted, which finds its files and fills the caches. Where the
    program fails with the host alone nothing else is run."""
    session = Session([Trials(side) for side in sides])
    begin = time.monotonic()
    progress("host alone, to warm up", 0)
    warm_up = Trials(HOST)
    _run(question, warm_up)
    if not warm_up.usable:
        session.host.failure = warm_up.failure
        session.ended = "the program fails with the host alone"
        return session
    session.host.outputs += warm_up.outputs
    done, longest = 0, 0.0
    while limits.runs is None or done < limits.runs:
        spent = time.monotonic() - begin
        if limits.runs is None and done >= limits.least:
            if done >= limits.sure and _precise(session, limits.precision):
                session.ended = f"all times are known within {limits.precision:.0%}"
                break
            if spent + longest > limits.seconds:
                session.ended = f"the {limits.seconds:g} s are over"
                break
        round_begin = time.monotonic()
        for trials in session.trials if done % 2 == 0 else session.trials[::-1]:
            if not trials.failure and not trials.refusal:
                progress(f"round {done + 1}: {trials.side.title}", 0)
                _run(question, trials)
            progress(f"round {done + 1}: {trials.side.title}", 1)
        longest = max(longest, time.monotonic() - round_begin)
        done += 1
        if session.host.failure:
            session.ended = "the program failed with the host alone"
            break
        if not any(one.usable for one in session.trials[1:]):
            session.ended = "no other side can be run"
            break
    else:
        session.ended = f"{done} rounds were asked for"
    return session
