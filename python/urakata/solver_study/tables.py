# SPDX-License-Identifier: BSD-3-Clause
"""The study as tables."""

from __future__ import annotations

import statistics

from urakata.measure.sides import TITLES, Side
from urakata.measure.text_table import TextTable, cell, ratio_cell, time_text
from urakata.solver_study.results import MEASURES, PARTITIONS, STEPS, Key, Results

_STEP_TITLES = {
    "start": "pack, start",
    "inner": "local rows",
    "wait": "wait",
    "boundary": "boundary rows",
    "reduce": "inner products",
    "vectors": "vectors",
}


def crowded_note(cores: int) -> str:
    """What a star beside a number of parts means."""
    return (
        f"* more parts than the {cores} cores of this machine: ranks take turns on them, so the time is the "
        "scheduler's as much as the exchange's."
    )


def _place_text(place: tuple[str, int], cores: int) -> str:
    partition, parts = place
    return f"{PARTITIONS[partition]}, {parts} parts{'*' if parts > cores else ''}"


def _note(results: Results, cores: int, text: str = "") -> str:
    crowded = any(parts > cores for _, parts in results.places())
    return " ".join(filter(None, (text, crowded_note(cores) if crowded else "")))


def urakata_mode(results: Results) -> str:
    """The mode of the third method: in a space; where there was none, as over hosts, under Urakata."""
    return "space" if any(side.mode == "space" for side in results.sides()) else "urakata"


def paper(results: Results, measure: str, cores: int) -> TextTable | None:
    """The study's three methods."""
    rows = []
    mode = urakata_mode(results)
    for family in results.families():
        alone, within = Side(family, "alone"), Side(family, mode)
        for place in results.places():
            mpi = results.median(alone, place, measure, "messages")
            put = results.synchronised(alone, place, measure)
            double = results.median(within, place, measure, "neighbour")
            if mpi is None and put is None and double is None:
                continue
            of_put = put[1] if put else None
            form = f" ({put[0]})" if put else ""
            times = [cell(mpi), cell(of_put) + form, cell(double), ratio_cell(double, of_put), ratio_cell(double, mpi)]
            rows.append([f"{TITLES[family]}, {_place_text(place, cores)}", *times])
    third, where = ("double-buffered", "in a space") if mode == "space" else ("neighbour, Urakata", "under Urakata")
    columns = ["", "Isend/Irecv/Waitall", "one-sided, synchronised", third, "/ one-sided", "/ Isend"]
    what = {"exchange": "an exchange", "spmv": "a product"}.get(measure, "an iteration")
    note = _note(results, cores, f"Time of {what}. The third: {where}; the others: the MPI library alone.")
    return TextTable(MEASURES[measure], columns, rows, note) if rows else None


def _methods(results: Results, measure: str) -> list[Key]:
    """Of each partition the study's three methods, as far as they were measured."""
    found = []
    for place in results.places():
        for family in results.families():
            alone = Side(family, "alone")
            put = results.synchronised(alone, place, measure)
            found.append(Key(alone, *place, measure, "messages"))
            found += [Key(alone, *place, measure, put[0])] if put else []
            found.append(Key(Side(family, urakata_mode(results)), *place, measure, "neighbour"))
    return [key for key in found if key in results.rows]


def _all_ways(results: Results, measure: str) -> list[Key]:
    keys = [
        Key(side, *place, measure, way)
        for place in results.places()
        for side in results.sides()
        for way in results.ways()
    ]
    return [key for key in keys if key in results.rows]


def steps(results: Results, measure: str, keys: list[Key], cores: int) -> TextTable | None:
    """Where the time of an iteration goes."""
    rows = []
    for key in keys:
        row = results.rows[key]
        name = f"{_place_text((key.partition, key.parts), cores)}: {key.side.title}, {key.way}"
        cells = [time_text(statistics.median(row.steps[step])) for step in STEPS]
        rows.append([name, *cells, time_text(row.median)])
    columns = ["", *(_STEP_TITLES[step] for step in STEPS), "whole"]
    title = f"{MEASURES[measure]}: where an iteration's time goes"
    note = _note(results, cores, "Steps: means over ranks; whole: the longest of a rank.")
    return TextTable(title, columns, rows, note) if rows else None


def times(results: Results, measure: str, cores: int) -> TextTable | None:
    """Every way on every side."""
    ways = results.ways()
    rows = []
    for place in results.places():
        for side in results.sides():
            medians = [results.median(side, place, measure, way) for way in ways]
            if any(median is not None for median in medians):
                rows.append([_place_text(place, cores), side.title, *map(cell, medians)])
    title = f"{MEASURES[measure]}: every way"
    return TextTable(title, ["partition", "side", *ways], rows, _note(results, cores), ("side",)) if rows else None


def solvers(results: Results) -> TextTable | None:
    """Iterations and residuals, which are the same for all ways and sides."""
    rows: dict[str, list[str]] = {}
    for key, row in results.rows.items():
        if key.measure in ("cg", "pipelined"):
            name = f"{TITLES[key.side.family]}, {PARTITIONS[key.partition]}, {key.parts} parts, {MEASURES[key.measure]}"
            rows.setdefault(name, [name, str(row.iterations), f"{row.residual:.6g}"])
    differing = "; ".join(results.differing())
    note = f"NOT the same everywhere: {differing}" if differing else "The same on all sides and by all ways."
    return (
        TextTable("Iterations and residuals", ["", "iterations", "residual"], list(rows.values()), note)
        if rows
        else None
    )


def partitions(results: Results) -> TextTable | None:
    """The exact counts."""
    ordered = sorted(results.partitions.values(), key=lambda one: (list(PARTITIONS).index(one.partition), one.parts))
    rows = [
        [
            PARTITIONS[one.partition],
            str(one.parts),
            f"{one.least_rows} to {one.most_rows}",
            str(one.messages),
            f"{one.messages / one.parts:.1f}",
            str(one.most_neighbours),
            str(one.bytes),
            str(one.marks_two_buffers),
            str(one.marks_one_buffer),
        ]
        for one in ordered
    ]
    columns = ["partition", "parts", "rows of a part", "messages", "of a part", "most", "bytes"]
    columns += ["marks, two buffers", "marks, one buffer"]
    note = (
        "Exact counts of one exchange of all parts. Two buffers in turn take a mark for each message; one buffer takes "
        "another by which its owner says that it may be written to."
    )
    return TextTable("What an exchange is", columns, rows, note) if rows else None


def all_tables(results: Results, cores: int) -> list[TextTable]:
    """Those that the terminal shows: what the study asks, then the counts."""
    shown = [paper(results, measure, cores) for measure in MEASURES]
    shown += [steps(results, "cg", _methods(results, "cg"), cores), solvers(results), partitions(results)]
    return [one for one in shown if one]


def details(results: Results, cores: int) -> list[TextTable]:
    """Further ones of the page."""
    shown = [times(results, measure, cores) for measure in MEASURES]
    shown += [steps(results, measure, _all_ways(results, measure), cores) for measure in ("spmv", "cg", "pipelined")]
    return [one for one in shown if one]
