# SPDX-License-Identifier: BSD-3-Clause
"""The study's tables, for the terminal and for the page: plain rows of text, so that both show the same."""

from __future__ import annotations

import statistics
from collections.abc import Iterable

from urakata.measure.estimate import mean_ratio, median_and_range
from urakata.measure.text_table import TextTable, percent, ratio, time_text
from urakata.overlap_study import measures
from urakata.overlap_study.configuration import ENGINES, Configuration
from urakata.overlap_study.results import Results, Row, fastest
from urakata.sizes import size_text

# From here on the study computes more, and messages were worth overlapping.
LARGE = 8192


def _mean_ratio(results: Results, rows: Iterable[Row], time: str) -> str:
    ratios = [one for row in rows if (one := results.ratio(row, time)) is not None]
    return ratio(measures.geometric_mean(ratios)) if ratios else "-"


def _hidden(rows: list[Row]) -> str:
    """The median over the rows in each round; of the rounds the median, and from the least to the most."""
    each = [row.hidden_by_round() for row in rows]
    numbers = set.intersection(*(set(one) for one in each))
    if not numbers:
        return percent(statistics.median(row.measured()["hidden"] for row in rows))
    rounds = median_and_range([statistics.median(one[number] for one in each) for number in numbers])
    return rounds.text(percent, lambda part: f"{100 * part:.0f}") if len(numbers) > 1 else percent(rounds.value)


def summary(results: Results, operation: str, kind: str) -> TextTable:
    """One row for each configuration: what it hides, costs and gains over all sizes."""
    rows = []
    for one in results.of_panel(operation, kind):
        all_sizes = results.of(one)
        large = [row for row in all_sizes if row.bytes >= LARGE] or all_sizes
        measured = [row.measured() for row in large]

        def median(name: str, measured: list[dict[str, float]] = measured) -> float:
            return statistics.median(record[name] for record in measured)

        rows.append(
            [
                one.place,
                _hidden(large),
                percent(median("theft")),
                f"{median('osu_overlap'):.0f} %",
                f"{median('imb_overlap'):.0f} %",
                ratio(median("t_over_limit")),
                percent(median("helper_share")),
                _mean_ratio(results, large, "overall"),
                _mean_ratio(results, [row for row in all_sizes if row.bytes < LARGE], "pure"),
            ]
        )
    return TextTable(
        f"MPI_{operation.capitalize()}, computation: {kind}",
        [
            "p_node x engine",
            "hidden",
            "theft",
            "OSU",
            "IMB",
            "T/limit",
            "progress thread CPU",
            "T / MPI's",
            "small Tc / MPI's",
        ],
        rows,
        "Medians over sizes from 8 KiB up; in brackets: the rounds. Progress thread CPU: of one core, while both run. "
        "T / MPI's: overall time over the MPI library's own, same p_node, geometric mean; small Tc / MPI's: "
        "communication alone below 8 KiB.",
    )


def details(results: Results, operation: str, kind: str, ranks_per_node: int) -> TextTable:
    """Overall time and what was hidden, a row for each size, a column for each configuration of one p_node."""
    here = [one for one in results.of_panel(operation, kind) if one.ranks_per_node == ranks_per_node]
    sizes = sorted({row.bytes for one in here for row in results.of(one)})
    rows = []
    for size in sizes:
        rows.append([size_text(size), *(_cell(results.row(one, size)) for one in here)])
    return TextTable(
        f"MPI_{operation.capitalize()}, computation: {kind}, p_node = {ranks_per_node}: overall time (hidden)",
        ["size", *(one.line for one in here)],
        rows,
    )


def all_details(results: Results, operation: str, kind: str) -> list[TextTable]:
    """The same for each p_node."""
    divisions = sorted({one.ranks_per_node for one in results.of_panel(operation, kind)})
    return [details(results, operation, kind, ranks) for ranks in divisions]


def _cell(row: Row | None) -> str:
    if row is None:
        return "-"
    mark = " WRONG" if row.wrong else ""
    return f"{time_text(row.time('overall').median)} ({percent(row.measured()['hidden'])}){mark}"


def choice(results: Results) -> TextTable:
    """What to choose on this machine: the fastest overall, by operation, kind and size class."""
    rows = []
    for operation, kind in results.panels():
        here = [
            row for row in results.rows if (row.configuration.operation, row.configuration.kind) == (operation, kind)
        ]
        for label, chosen in (
            ("below 8 KiB", [row for row in here if row.bytes < LARGE]),
            ("8 KiB and up", [row for row in here if row.bytes >= LARGE]),
        ):
            best = fastest(chosen)
            if best is None:
                continue
            sizes = sorted({row.bytes for row in chosen if row.configuration == best[0]})
            others = {row.configuration for row in chosen if row.configuration.engine != "none"}
            rounds = results.ratios_by_round(best[0], sizes)
            rows.append(
                [
                    f"{operation}, {kind}",
                    label,
                    best[0].place,
                    ENGINES[best[0].engine],
                    *_verdict(best[0], rounds, len(others)),
                ]
            )
    return TextTable(
        "Fastest overall",
        ["operation, computation", "messages", "p_node x engine", "which is", "T / MPI's", "between"],
        rows,
        "Least geometric mean of overall times, at equal bytes a rank and equal computation a node. T / MPI's: ratio "
        "to the MPI library's own time in the same rounds, geometric mean; between: its 95 % interval, corrected for "
        "choosing the fastest (Student's t of the rounds, Bonferroni); within noise: it may not be faster at all.",
        textual=("messages", "p_node x engine", "which is", "between"),
    )


def _verdict(best: Configuration, rounds: list[float], among: int) -> tuple[str, str]:
    """T / MPI's, and whether what is the fastest of `among` configurations is surely faster than the MPI
    library's own."""
    if best.engine == "none":
        return "1.00", "nothing is faster than the MPI library's own"
    known = mean_ratio(rounds, among)
    if known is None:
        return (f"{rounds[0]:.2f}", "spread not known") if rounds else ("-", "-")
    noise = ": within noise" if known.high >= 1 else ""
    return f"{known.value:.2f}", f"{known.low:.2f} to {known.high:.2f}{noise}"


def all_tables(results: Results) -> list[TextTable]:
    """Choice, then for each operation and kind the summary and the details."""
    tables = [choice(results)]
    for operation, kind in results.panels():
        tables += [summary(results, operation, kind), *all_details(results, operation, kind)]
    return tables
