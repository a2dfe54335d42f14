# SPDX-License-Identifier: BSD-3-Clause
"""Jobs in turn, round after round, every other round backwards: what drifts with time then meets all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from urakata.measure.running import JobError
from urakata.measure.session import Refused

Progress = Callable[[str, int], None]
"""What is being done, and how many jobs (or sizes, where a job has several) are done since the last call."""


def in_turns(jobs: Sequence[tuple[str, Callable[[], None]]], rounds: int, progress: Progress) -> list[Refused]:
    """Runs every job, each with its label, `rounds` times. Those that raise JobError come back, and are
    not tried again."""
    failed: dict[str, Refused] = {}
    for number in range(rounds):
        for label, run in jobs if number % 2 == 0 else reversed(jobs):
            shown = f"round {number + 1}: {label}"
            progress(shown, 0)
            if label not in failed:
                try:
                    run()
                except JobError as error:
                    failed[label] = Refused(label, str(error))
            progress(shown, 1)
    return list(failed.values())
