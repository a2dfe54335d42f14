# SPDX-License-Identifier: BSD-3-Clause
"""The study as sheets for other programs: a round a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path

from urakata.measure.sheet import write_sheet
from urakata.sites_study.results import Results


def _times(results: Results) -> Iterator[tuple[object, ...]]:
    for key, row in results.rows.items():
        for number, us in enumerate(row.us):
            yield (*astuple(key), number + 1, us, row.chosen, row.predicted_us, row.paper_us)


def _relayed(results: Results) -> Iterator[tuple[object, ...]]:
    for key, relayed in results.relayed.items():
        for number, values in enumerate(zip(*vars(relayed).values(), strict=True)):
            yield (*astuple(key), number + 1, *values)


def write_sheets(results: Results, folder: Path) -> list[str]:
    """sites.csv, and leader.csv where a site leader computed; their names."""
    columns = ("link", "operation", "bytes", "method", "round", "us", "chosen", "predicted_us", "paper_us")
    names = [write_sheet(folder / "sites.csv", columns, _times(results))]
    if results.relayed:
        columns = ("link", "operation", "bytes", "engine", "round", "us", "idle_us", "compute_us", "lost_us")
        names.append(write_sheet(folder / "leader.csv", columns, _relayed(results)))
    return names
