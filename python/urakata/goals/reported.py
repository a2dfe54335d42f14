# SPDX-License-Identifier: BSD-3-Clause
"""What reports of a job add to what its program printed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from urakata.goals import crossing, lateness

FOLDER = "{report}"
"""In a side's options: a folder that is made for the job's reports."""

ADDERS: dict[str, Callable[[list[dict[str, Any]], Path], None]] = {
    "sites": crossing.add_reports,
    "late": lateness.add_reports,
}
"""By program; of others the report is written, and not read."""


def add(program: str, records: list[dict[str, Any]], folder: Path) -> None:
    if program in ADDERS:
        ADDERS[program](records, folder)
