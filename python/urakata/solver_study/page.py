# SPDX-License-Identifier: BSD-3-Clause
"""The study as one HTML file that needs nothing else, and as a table for other programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from urakata.measure.page import gallery, write_page
from urakata.measure.plots import Drawing
from urakata.measure.sheet import write_sheet
from urakata.solver_study.results import STEPS, Results
from urakata.solver_study.tables import all_tables, details


def write_study(document: dict[str, Any], results: Results, drawings: Sequence[Drawing], path: Path) -> None:
    """`document` is what goes to solver.json."""
    cores = document["machine"]["cores"]
    write_page(
        path,
        "urakata.solver_study",
        "solver.html.j2",
        document=document,
        tables=all_tables(results, cores),
        details=details(results, cores),
        figures=gallery(drawings),
    )


def _rounds(results: Results) -> Iterator[tuple[object, ...]]:
    for key, row in results.rows.items():
        named = (key.side.family, key.side.mode, key.partition, key.parts, key.measure, key.way)
        for number, times in enumerate(zip(row.us, row.exchange_us, row.last_us, strict=True)):
            steps = (row.steps[step][number] for step in STEPS)
            yield (*named, number + 1, *times, *steps, row.iterations, row.residual)


def write_csv(results: Results, path: Path) -> None:
    """A line for each side, partition, measure, way and round; times in microseconds."""
    columns = ["host", "mode", "partition", "parts", "measure", "way", "round", "us", "exchange_us", "last_us", *STEPS]
    write_sheet(path, [*columns, "iterations", "residual"], _rounds(results))
