# SPDX-License-Identifier: BSD-3-Clause
"""How long a job takes that does nothing but start and end, by the number of ranks (bench/empty)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from urakata.measure.plots import Drawing
from urakata.measure.sides import TITLES
from urakata.measure.text_table import TextTable
from urakata.space_study.figures import Curves, draw_curves
from urakata.space_study.part import Part, by_ranks
from urakata.space_study.results import Results, Value

JOB = "job"


def _read(record: dict[str, Any]) -> Iterator[Value]:
    if "job_seconds" in record:
        yield Value(JOB, record["ranks"], 1e3 * record["job_seconds"])


_CURVES = Curves("starting", "A job that starts and ends", "ms, launcher included", JOB, across="ranks")


def _draw(results: Results, subtitle: str, folder: Path) -> list[Drawing]:
    return draw_curves([_CURVES], results, subtitle, folder)


def _tables(results: Results) -> list[TextTable]:
    rows = []
    for family in results.families(JOB):
        for ranks in results.points(JOB):
            alone, within = results.both(family, JOB, ranks)
            if alone is None or within is None:
                continue
            times = [f"{alone:.0f} ms", f"{within:.0f} ms", f"{(within - alone) / ranks:+.1f} ms"]
            rows.append([f"{TITLES[family]}, {ranks} ranks", *times])
    columns = ["MPI library", "alone", "in a space", "more for each rank"]
    return [TextTable("A job that starts and ends", columns, rows)] if rows else []


STARTING = Part(
    name="starting",
    title="Starting and ending",
    program="empty",
    runs=by_ranks,
    read=_read,
    tables=_tables,
    draw=_draw,
    text="A program of MPI_Init and MPI_Finalize, from the start of the launcher to its end.",
    whole=True,
)
