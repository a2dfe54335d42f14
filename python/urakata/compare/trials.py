# SPDX-License-Identifier: BSD-3-Clause
"""What a comparison has measured: the runs of each side, and a side's beside the MPI library's of the same round."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from urakata.compare.interval import WANTED, Interval, interval, wanted_of_each
from urakata.compare.side import Side
from urakata.measure.estimate import Estimate, mean_of_few, mean_ratio
from urakata.measure.session import Refused


@dataclass(frozen=True)
class Run:
    """One job. `seconds`: from the launcher's start to its end; `inside`: from MPI_Init to MPI_Finalize of its slowest
    rank, None where no rank told (see compare/clock.py)."""

    seconds: float
    inside: float | None = None


@dataclass
class Trials:
    """The runs of one side by round. One that has failed or was refused is not run again."""

    side: Side
    runs: dict[int, Run] = field(default_factory=dict)
    outputs: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)  # Urakata's own, each once
    failure: str = ""
    refusal: str = ""

    @property
    def usable(self) -> bool:
        return not self.failure and not self.refusal and bool(self.runs)


@dataclass
class Session:
    """All sides, the MPI library's alone first; `ended`: why no further round was run."""

    trials: list[Trials]
    ended: str = ""
    stopped: int = 0  # the signal that ended it
    nothing_to_progress: bool = False  # so no engine can matter, only a space: see compare/progress_need.py

    @property
    def alone(self) -> Trials:
        return self.trials[0]

    @property
    def inside(self) -> bool:
        """Whether what is compared is the time from MPI_Init to MPI_Finalize: every run has told it. Else that of
        whole jobs."""
        runs = [run for one in self.trials if one.usable for run in one.runs.values()]
        return bool(runs) and all(run.inside for run in runs)

    @property
    def wanted(self) -> float:
        """The coverage that an interval needs, as there are several sides among which one is chosen."""
        return wanted_of_each(sum(not one.refusal for one in self.trials[1:]))

    def rounds(self, trials: Trials) -> list[int]:
        """Those that the side and the MPI library alone have completed."""
        return [number for number in trials.runs if number in self.alone.runs]

    def compared(self) -> list[Trials]:
        """The sides that can be compared."""
        return [one for one in self.trials[1:] if one.usable and self.rounds(one)]

    def times(self, trials: Trials) -> list[float]:
        """Seconds of what is compared, by round."""
        inside = self.inside
        return [run.inside if inside and run.inside else run.seconds for run in trials.runs.values()]

    def ratios(self, trials: Trials) -> list[float]:
        """A side's time over that of the MPI library alone in the same round."""
        inside = self.inside

        def time(run: Run) -> float:
            return run.inside if inside and run.inside else run.seconds

        return [time(trials.runs[number]) / time(self.alone.runs[number]) for number in self.rounds(trials)]

    def _known(self, values: list[float], few: Callable[[Sequence[float], int], Estimate | None]) -> Interval:
        """Between what the true value lies: the one interval that the table shows and the verdict goes by. Of fewer
        rounds than an interval of order statistics takes, each may be on one side by luck: there Student's (`few`),
        which is the wider the fewer there are. One round tells nothing of noise: its coverage is 0."""
        known = interval(values, self.wanted)
        sides = max(1, len(self.compared()))
        if known.coverage >= self.wanted or not (student := few(values, sides)):
            return known
        low, high = min(student.low, known.median), max(student.high, known.median)
        return Interval(known.median, low, high, 1 - 2 * (1 - WANTED) / sides)

    def ratio(self, trials: Trials) -> Interval:
        """A side's time over that of the MPI library alone."""
        return self._known(self.ratios(trials), mean_ratio)

    def start(self, trials: Trials) -> Interval | None:
        """How many seconds more a side needs before MPI_Init has returned and after MPI_Finalize has begun, in the
        same round; None where that is not known apart."""
        if not self.inside:
            return None

        def outside(run: Run) -> float:
            return run.seconds - (run.inside or 0.0)

        more = [outside(trials.runs[number]) - outside(self.alone.runs[number]) for number in self.rounds(trials)]
        return self._known(more, mean_of_few)

    def failed(self) -> list[Refused]:
        return [Refused(one.side.title, one.failure) for one in self.trials if one.failure]

    def refused(self) -> list[Refused]:
        return [Refused(one.side.title, one.refusal) for one in self.trials if one.refusal]
