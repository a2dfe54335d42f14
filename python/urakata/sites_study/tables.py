# SPDX-License-Identifier: BSD-3-Clause
"""The study as tables."""

from __future__ import annotations

import statistics

from urakata.measure.text_table import TextTable, cell, percent, ratio_cell, time_text
from urakata.sites_study.methods import FORCED
from urakata.sites_study.results import Key, Results
from urakata.sizes import size_text


def _best_forced(results: Results, bed: str, operation: str, size: int) -> float | None:
    forced = [
        us
        for method in results.methods(bed, operation)
        if method.startswith(FORCED) and (us := results.us(Key(bed, operation, size, method))) is not None
    ]
    return min(forced, default=None)


def _row(results: Results, bed: str, operation: str, size: int, methods: list[str]) -> list[str]:
    cells = [size_text(size)]
    cells += [cell(results.us(Key(bed, operation, size, method))) for method in methods]
    chosen = results.rows.get(Key(bed, operation, size, "urakata"))
    ours = results.us(Key(bed, operation, size, "urakata"))
    predicted = chosen.predicted_us if chosen else None
    best = _best_forced(results, bed, operation, size)
    cells.append(chosen.chosen if chosen and chosen.chosen else "-")
    return [*cells, cell(predicted), ratio_cell(ours, best)]


def operation_table(results: Results, bed: str, operation: str) -> TextTable:
    """A row for each size: each method's time, what Urakata chose and predicted, and its time over the best forced."""
    methods = results.methods(bed, operation)
    columns = ["in all", *methods, "chosen", "predicted", "/ best forced"]
    rows = [_row(results, bed, operation, size, methods) for size in results.sizes(bed, operation)]
    return TextTable(
        f"{operation}, {bed}",
        columns,
        rows,
        "Medians over rounds of the medians of each; to the last end.",
        ("chosen",),
    )


def model_table(results: Results) -> TextTable | None:
    """How far predictions were from what was measured, for each link and operation, forced lanes included."""
    rows = []
    for bed in results.beds():
        for operation in results.operations(bed):
            errors = []
            for key, row in results.rows.items():
                if (key.bed, key.operation) == (bed, operation) and row.predicted_us and row.us:
                    us = statistics.median(row.us)
                    errors.append(abs(row.predicted_us - us) / us)
            if errors:
                rows.append([f"{operation}, {bed}", percent(statistics.median(errors)), percent(max(errors))])
    columns = ["", "median", "worst"]
    note = "|predicted - measured| / measured, over sizes and numbers of lanes."
    return TextTable("Error of the model", columns, rows, note) if rows else None


def paper_table(results: Results) -> TextTable | None:
    """Scatter and gather by lanes: measured, predicted by our model, and by the paper's."""
    rows = []
    for key, row in results.rows.items():
        if row.paper_us is None or row.predicted_us is None or not row.us:
            continue
        us = statistics.median(row.us)
        errors = (f"{100 * (predicted - us) / us:+.0f} %" for predicted in (row.predicted_us, row.paper_us))
        times = map(time_text, (us, row.predicted_us, row.paper_us))
        rows.append([f"{key.operation}, {key.bed}", size_text(key.bytes), row.chosen, *times, *errors])
    columns = ["", "in all", "lanes", "measured", "ours", "the paper's", "ours is off", "the paper's is off"]
    note = (
        "T_L(P) = L + x M / b_L(P) + y M / B + alpha (Chiba, Endo, Matsuoka), by the rates that the job has measured."
    )
    return TextTable("Beside the paper's model", columns, rows, note, ("lanes",)) if rows else None


def relay_table(results: Results) -> TextTable | None:
    """What a site leader that computes costs the others, and what relaying costs it."""
    rows = []
    for key, row in results.relayed.items():
        medians = row.medians()
        lost = medians["lost_us"]
        rows.append(
            [
                f"{key.operation}, {key.bed}",
                size_text(key.bytes),
                key.method,
                time_text(medians["idle_us"]),
                time_text(medians["us"]),
                time_text(medians["compute_us"]),
                f"{'-' if lost < 0 else ''}{time_text(abs(lost))}",
            ]
        )
    columns = ["", "in all", "engine", "it waits", "it computes", "its work", "lost by it"]
    note = (
        "To the last of the other ranks, while a leader that is not the root waits as they do, and while it computes "
        "without a call; its work alone, and how much longer that took meanwhile."
    )
    return TextTable("A site leader that computes", columns, rows, note, ("engine",)) if rows else None


def all_tables(results: Results) -> list[TextTable]:
    """One for each link and operation, the model's errors, the paper's model, and the site leader's."""
    tables = [
        operation_table(results, bed, operation) for bed in results.beds() for operation in results.operations(bed)
    ]
    return [*tables, *filter(None, (model_table(results), paper_table(results), relay_table(results)))]
