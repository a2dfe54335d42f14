# SPDX-License-Identifier: BSD-3-Clause
"""The study as sheets for other programs: a value a line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple
from pathlib import Path

from urakata.kernel_study.results import Results
from urakata.measure.sheet import write_sheet

_OF_KEY = ("part", "operation", "bytes", "method", "algorithm", "steering")


def _values(results: Results) -> Iterator[tuple[object, ...]]:
    for key, row in results.rows.items():
        for quantity, values in row.items():
            for number, value in enumerate(values):
                yield (*astuple(key), quantity, number + 1, value)


def _interrupts(results: Results) -> Iterator[tuple[object, ...]]:
    for key, rounds in results.interrupts.items():
        for number, counts in enumerate(rounds):
            for kind, each in counts.items():
                for core, value in each.items():
                    yield (*astuple(key), kind, int(core), number + 1, value)


def write_sheets(results: Results, folder: Path) -> list[str]:
    """kernel.csv, and interrupts.csv where interrupts were counted; their names."""
    names = [write_sheet(folder / "kernel.csv", (*_OF_KEY, "quantity", "round", "value"), _values(results))]
    if results.interrupts:
        columns = (*_OF_KEY, "kind", "core", "round", "value")
        names.append(write_sheet(folder / "interrupts.csv", columns, _interrupts(results)))
    return names
