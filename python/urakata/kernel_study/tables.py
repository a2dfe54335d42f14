# SPDX-License-Identifier: BSD-3-Clause
"""The study as tables."""

from __future__ import annotations

from dataclasses import replace

from urakata.kernel_study.interrupts import interrupts_table
from urakata.kernel_study.methods import ALGORITHMS, METHODS, PARTS, STEERING, Variant
from urakata.kernel_study.results import Results, key_of
from urakata.measure.text_table import TextTable, percent, ratio_cell, time_text
from urakata.sizes import size_text

_COLUMNS = {
    "us": "from start to last end",
    "stolen_us": "taken from the relay",
    "interruptions": "interruptions",
    "start_ns": "starting call",
    "lost_us": "CPU time lost",
    "lost_thread_us": "by its thread's clock",
    "lost_process_us": "by its process's clock",
    "cpu_us": "CPU time, all ranks",
    "workers": "kernel threads",
    "late": "not before a call",
}

_NOTES = {
    "lost_thread_us": "CPU time lost: the time from its start to its end in which a rank made no product, the mean "
    "over the ranks that relay. What a progress thread takes on its core is not in the CPU clock of its rank, "
    "but in that of its process.",
    "late": "Not before a call: the share of operations that had not come when the rank had computed long enough and "
    "called MPI. What they took from it is in that call, and not in the table.",
}


def _cell(quantity: str, value: float | None) -> str:
    if value is None:
        return "-"
    if quantity in ("interruptions", "workers"):
        return f"{value:g}"
    if quantity == "late":
        return percent(value)
    return time_text(value / 1e3 if quantity == "start_ns" else value)


def _quantities(results: Results, part: str) -> list[str]:
    """That were measured; that something was late is worth a column only where it was."""
    rows = [row for key, row in results.rows.items() if key.part == part]
    measured = [name for name in _COLUMNS if any(name in row for row in rows)]
    late = any(value > 0 for row in rows for value in row.get("late", ()))
    return [name for name in measured if name != "late" or late]


def _names(variant: Variant, algorithms: bool, steering: bool) -> list[str]:
    """What a row is by; of what all have alike nothing is said."""
    names = [METHODS[variant.method].title]
    if algorithms:
        names.append(ALGORITHMS[variant.algorithm].title if variant.algorithm else "-")
    if steering:
        names.append(STEERING[variant.steering])
    return names


def part_table(results: Results, part: str) -> TextTable | None:
    """A row for each operation, size and variant, with what the part has measured."""
    variants = results.variants(part)
    algorithms = len({variant.algorithm for variant in variants}) > 1
    steering = any(variant.steering != "none" for variant in variants)
    quantities = _quantities(results, part)
    rows = []
    for point in results.points(part):
        for variant in variants:
            key = key_of(part, point, variant)
            us = results.median(key, "us")
            if us is None:
                continue
            base = results.median(replace(key, method="thread"), "us")
            base = base or results.median(replace(key, method="thread", steering="none"), "us")
            cells = [_cell(name, results.median(key, name)) for name in quantities]
            what = f"{point[0]}, {size_text(point[1])}"
            rows.append([what, *_names(variant, algorithms, steering), *cells, ratio_cell(us, base)])
    textual = ("by", *(["algorithm"] if algorithms else []), *(["packets"] if steering else []))
    columns = ["", *textual, *(_COLUMNS[name] for name in quantities), "time / thread's"]
    notes = ["Medians over rounds of the medians of each.", *(_NOTES[name] for name in quantities if name in _NOTES)]
    return TextTable(PARTS[part].title, columns, rows, " ".join(notes), textual) if rows else None


def all_tables(results: Results) -> list[TextTable]:
    """Two for each part that was run: times, and who takes the interrupts."""
    shown = [table for part in PARTS for table in (part_table(results, part), interrupts_table(results, part))]
    return [one for one in shown if one]
