# SPDX-License-Identifier: BSD-3-Clause
"""The study as one HTML file that needs nothing else, and as a table for other programs."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from urakata.measure.page import data_uri, render
from urakata.measure.plots import Drawing
from urakata.solver_study.results import STEPS, Results
from urakata.solver_study.tables import all_tables, details


def write_page(document: dict[str, Any], results: Results, drawings: Sequence[Drawing], path: Path) -> None:
    """`document` is what goes to solver.json."""
    cores = document["machine"]["cores"]
    path.write_text(
        render(
            "urakata.solver_study",
            "solver.html.j2",
            document=document,
            tables=all_tables(results, cores),
            details=details(results, cores),
            figures=[(drawing.title, data_uri(drawing.path)) for drawing in drawings],
        ),
        encoding="utf-8",
    )


def write_csv(results: Results, path: Path) -> None:
    """A line for each side, partition, measure, way and round; times in microseconds."""
    columns = ["host", "mode", "partition", "parts", "measure", "way", "round", "us", "exchange_us", "last_us", *STEPS]
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file)
        table.writerow([*columns, "iterations", "residual"])
        for key, row in results.rows.items():
            named = [key.side.family, key.side.mode, key.partition, key.parts, key.measure, key.way]
            for number, us in enumerate(row.us):
                steps = [row.steps[step][number] for step in STEPS]
                values = [
                    number + 1,
                    us,
                    row.exchange_us[number],
                    row.last_us[number],
                    *steps,
                    row.iterations,
                    row.residual,
                ]
                table.writerow([*named, *values])
