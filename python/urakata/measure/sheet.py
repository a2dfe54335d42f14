# SPDX-License-Identifier: BSD-3-Clause
"""What was measured as a sheet for other programs: a value, or a round, a line."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path


def write_sheet(path: Path, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> str:
    """Writes CSV; the file's name."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow(columns)
        table.writerows(rows)
    return path.name
