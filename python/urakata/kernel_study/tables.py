"""The study as tables."""

from __future__ import annotations

from urakata.kernel_study.methods import METHODS, PARTS
from urakata.kernel_study.results import Key, Results
from urakata.sizes import size_text
from urakata.study.text_table import TextTable, time_text

_COLUMNS = {
    "us": "from start to last end",
    "stolen_us": "taken from the relay",
    "interruptions": "interruptions",
    "start_ns": "starting call",
    "lost_us": "CPU time lost",
    "cpu_us": "CPU time, all ranks",
    "workers": "kernel threads",
}


def _cell(quantity: str, value: float | None) -> str:
    if value is None:
        return "-"
    if quantity in ("interruptions", "workers"):
        return f"{value:g}"
    return time_text(value / 1e3 if quantity == "start_ns" else value)


def part_table(results: Results, part: str) -> TextTable | None:
    """A row for each operation, size and method, with what the part has measured."""
    methods = results.methods(part)
    quantities = [
        name for name in _COLUMNS if any(name in row for key, row in results.rows.items() if key.part == part)
    ]
    rows = []
    for operation, size in results.points(part):
        base = results.median(Key(part, operation, size, "thread"), "us")
        for method in methods:
            key = Key(part, operation, size, method)
            us = results.median(key, "us")
            if us is None:
                continue
            cells = [_cell(name, results.median(key, name)) for name in quantities]
            ratio = f"{us / base:.2f}" if base else "-"
            rows.append([f"{operation}, {size_text(size)}", METHODS[method].title, *cells, ratio])
    columns = ["", "by", *(_COLUMNS[name] for name in quantities), "time / thread's"]
    note = "Medians over rounds of the medians of each." if rows else ""
    return TextTable(PARTS[part].title, columns, rows, note, ("by",)) if rows else None


def all_tables(results: Results) -> list[TextTable]:
    """One for each part that was run."""
    shown = [part_table(results, part) for part in PARTS]
    return [one for one in shown if one]
