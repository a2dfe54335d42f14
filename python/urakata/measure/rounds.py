# SPDX-License-Identifier: BSD-3-Clause
"""Jobs in turn, round after round, every other round backwards: what drifts with time then meets all of them alike."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

from urakata.measure.running import JobError
from urakata.measure.session import Refused

Item = TypeVar("Item")

Progress = Callable[[str, int], None]
"""What is being done, and how many steps are done since the last call."""


@dataclass(frozen=True)
class Turn:
    """A job of each round; `steps`: what it counts for Progress."""

    label: str
    run: Callable[[], None]
    steps: int = 1


def in_order(items: Sequence[Item], number: int) -> Sequence[Item]:
    """As they are, or backwards, for the round of this number, from 0 on."""
    return items if number % 2 == 0 else items[::-1]


def in_turns(turns: Sequence[Turn], rounds: int, progress: Progress) -> list[Refused]:
    """Runs every job `rounds` times. Those that raise JobError come back, and are not tried again."""
    failed: dict[int, Refused] = {}
    for number in range(rounds):
        for place in in_order(range(len(turns)), number):
            turn = turns[place]
            shown = f"round {number + 1}: {turn.label}"
            progress(shown, 0)
            if place not in failed:
                try:
                    turn.run()
                except JobError as error:
                    failed[place] = Refused(turn.label, str(error))
            progress(shown, turn.steps)
    return list(failed.values())


class Budget:
    """The time for all rounds, from now on. None: there is no end."""

    def __init__(self, seconds: float | None, clock: Callable[[], float] | None = None) -> None:
        self._seconds = math.inf if seconds is None else seconds
        self._clock = clock or (lambda: time.monotonic())
        self._begin = self._clock()
        self._longest = 0.0

    @property
    def spent(self) -> float:
        """Seconds since it began."""
        return self._clock() - self._begin

    @property
    def left(self) -> float:
        """Seconds until its end; below 0 behind it."""
        return self._seconds - self.spent

    @contextmanager
    def round(self) -> Iterator[None]:
        """To be held for each round."""
        begin = self.spent
        yield
        self._longest = max(self._longest, self.spent - begin)

    def has_room(self) -> bool:
        """Whether a round as long as the longest so far would end in time."""
        return self._longest <= self.left
