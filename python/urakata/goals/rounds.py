"""Both sides in turn: A B B A A B ..., until the session's time is over."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from urakata.goals.jobs import Job, Place, Records

Notice = Callable[[str], None]


def alternate(
    jobs: Sequence[Job],
    places: dict[str, Place],
    take: Callable[[Job, Records], None],
    seconds: float,
    least: int,
    notice: Notice,
    clock: Callable[[], float] = time.monotonic,
) -> int:
    """Runs rounds of all `jobs` and hands what each prints to `take`; returns how many rounds there were.

    Every second round runs in reverse, so that a machine that becomes slower or faster favours no side. Another round
    begins only if one as long as the longest so far still fits `seconds`, but there are at least `least`.
    """
    begin = clock()
    longest = 0.0
    done = 0
    while done < least or clock() - begin + longest <= seconds:
        round_begin = clock()
        for job in jobs if done % 2 == 0 else reversed(jobs):
            notice(f"round {done + 1}: {job.label}, {job.side.name}")
            take(job, places[job.place].run(job))
        longest = max(longest, clock() - round_begin)
        done += 1
    return done
