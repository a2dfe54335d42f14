# SPDX-License-Identifier: BSD-3-Clause
"""The memory of a node: after MPI_Init and after an all-to-all, by the number of ranks (bench/memory)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from urakata.measure.plots import Drawing
from urakata.measure.sides import TITLES
from urakata.measure.text_table import TextTable, cell, ratio
from urakata.space_study.figures import Curves, draw_curves
from urakata.space_study.part import Part, by_ranks
from urakata.space_study.results import Results, Value

_ALL_TO_ALLS = {"8": "8 B", "65536": "64 KiB"}


def _memory(after: str) -> str:
    return f"memory after {after}"


def _tables_of(after: str) -> str:
    return f"page tables after {after}"


def _named(after: str) -> str:
    """As a person says it: `all-to-all of 65536 B` is one of 64 KiB."""
    for digits, text in _ALL_TO_ALLS.items():
        if after == f"all-to-all of {digits} B":
            return f"all-to-all of {text}"
    return after


def _read(record: dict[str, Any]) -> Iterator[Value]:
    after = _named(record["after"])
    yield Value(_memory(after), record["ranks"], record["node_kib"] / 1024)
    yield Value(_tables_of(after), record["ranks"], record["page_tables_kib"] / 1024)


_STAGES = ("init", *(f"all-to-all of {text}" for text in _ALL_TO_ALLS.values()))
_CURVES = tuple(
    Curves(
        f"memory-{number}",
        f"Memory of the node after {'MPI_Init' if stage == 'init' else f'an {stage}'}",
        "MiB, page tables included",
        _memory(stage),
        across="ranks",
    )
    for number, stage in enumerate(_STAGES)
)


def _draw(results: Results, subtitle: str, folder: Path) -> list[Drawing]:
    return draw_curves(_CURVES, results, subtitle, folder)


def _stage(results: Results, stage: str) -> TextTable:
    rows = []
    for family in results.families(_memory(stage)):
        for ranks in results.points(_memory(stage)):
            cells = []
            for quantity in (_memory(stage), _tables_of(stage)):
                cells += [cell(one, lambda mib: f"{mib:.1f} MiB") for one in results.both(family, quantity, ranks)]
            of_alone = results.ratios(family, _memory(stage)).get(ranks)
            rows.append([f"{TITLES[family]}, {ranks} ranks", *cells, cell(of_alone, ratio)])
    return TextTable(
        f"Memory of the node after {stage}",
        ["MPI library", "alone", "in a space", "page tables alone", "page tables in a space", "ratio"],
        rows,
        "Proportional set size and page tables of all processes of the job but the launcher; a space counts once.",
    )


def _tables(results: Results) -> list[TextTable]:
    return [_stage(results, stage) for stage in reversed(_STAGES) if results.families(_memory(stage))]


MEMORY = Part(
    name="memory",
    title="Memory",
    program="memory",
    runs=by_ranks,
    read=_read,
    tables=_tables,
    draw=_draw,
    text="Each rank sends one message to every other and receives theirs; then the kernel is asked for the "
    "proportional set size and the page tables of every process of the job. The launcher is left out on all sides.",
)
