# SPDX-License-Identifier: BSD-3-Clause
"""Both sides in turn: A B B A A B ..., until the session's time is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from urakata.goals.jobs import Job
from urakata.measure.rounds import Budget, in_order

Notice = Callable[[str], None]


def alternate(
    groups: Sequence[Sequence[Job]],
    run: Callable[[Sequence[Job]], None],
    seconds: float,
    least: int,
    notice: Notice,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Runs rounds of all `groups` of jobs; returns how many rounds there were.

    Every second round runs in reverse, so that a machine that becomes slower or faster favours no side. Another round
    begins only if one as long as the longest so far still fits `seconds`, but there are at least `least`.
    """
    budget = Budget(seconds, clock)
    done = 0
    while done < least or budget.has_room():
        with budget.round():
            for group in in_order(groups, done):
                notice(f"round {done + 1}: {group[0].label}, {' and '.join(job.side.name for job in group)}")
                run(in_order(group, done))
        done += 1
    return done
