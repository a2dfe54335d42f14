# SPDX-License-Identifier: BSD-3-Clause
"""What Urakata's reports add to the records of bench/late: how late ranks were, as told, and what was hidden."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from urakata.goals.errors import MeasurementError
from urakata.report.summary import summarise


def add_reports(records: list[dict[str, Any]], folder: Path) -> None:
    """Adds `told_late_ns`, a mean as the program's own, and `hidden`."""
    found = [row for row in summarise(folder).rows if row.operation == "Iallreduce"]
    if len(found) != 1 or found[0].hidden.share is None or found[0].late_ns is None:
        raise MeasurementError("the report does not tell what was hidden of the one Iallreduce, and who was late")
    for record in records:
        record["told_late_ns"] = found[0].late_ns
        record["hidden"] = found[0].hidden.share
