# SPDX-License-Identifier: BSD-3-Clause
"""How long `./dev demo` took in a clone in which nothing was built before: ./dev notes it, once."""

from __future__ import annotations

from urakata import paths
from urakata.goals.errors import CannotMeasureError
from urakata.goals.jobs import Job, Records


class FreshClone:
    """This tree, as it was when it was cloned."""

    def run(self, job: Job) -> Records:
        """Its seconds. CannotMeasureError where something was built before, in another way."""
        tree = paths.source_tree()
        note = tree / "build" / "demo-seconds" if tree else None
        if note is None or not note.is_file():
            raise CannotMeasureError(f"{job.program}: known where ./dev demo is the first that is run in a fresh clone")
        return [{"seconds": float(note.read_text())}]
