# SPDX-License-Identifier: BSD-3-Clause
"""The study as sheets for other programs: a round a line."""

from __future__ import annotations

from dataclasses import astuple
from pathlib import Path

from urakata.measure.sheet import write_sheet
from urakata.sites_study.results import Results


def write_sheets(results: Results, folder: Path) -> list[str]:
    """sites.csv, and leader.csv where a site leader computed; their names."""
    times = (
        (*astuple(key), number, us, row.chosen, row.predicted_us, row.paper_us)
        for key, row in results.rows.items()
        for number, us in enumerate(row.us, 1)
    )
    columns = ("link", "operation", "bytes", "method", "round", "us", "chosen", "predicted_us", "paper_us")
    names = [write_sheet(folder / "sites.csv", columns, times)]
    if results.relayed:
        relayed = (
            (*astuple(key), number, *values)
            for key, row in results.relayed.items()
            for number, values in enumerate(zip(*vars(row).values(), strict=True), 1)
        )
        columns = ("link", "operation", "bytes", "engine", "round", "us", "idle_us", "compute_us", "lost_us")
        names.append(write_sheet(folder / "leader.csv", columns, relayed))
    return names
