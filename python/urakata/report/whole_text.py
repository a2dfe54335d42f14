# SPDX-License-Identifier: BSD-3-Clause
"""The whole program as text: a row for each rank, and for each of the call sites that took longest."""

from __future__ import annotations

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urakata.report.console import show_sentence
from urakata.report.hang import early_ends
from urakata.report.units import bytes_text, known_time, percent, short_place, time_text
from urakata.report.whole import CallRow, RankShare, Whole
from urakata.tables import print_table

_MOST_RANKS = 16
_MOST_ROWS = 12
_LEAST = 0.9  # of the time in MPI: shown until the rows make up as much


def headline(whole: Whole) -> str:
    """How long it ran, and how much of that in MPI: of all ranks, and of those with least and most."""
    longest = max(rank.run_ns for rank in whole.ranks)
    if not whole.end_known:
        return f"whole program: its end is unknown; the last known moment is {time_text(longest)} after MPI_Init"
    so_far = " so far" if whole.alive else ""
    line = f"whole program: {time_text(longest)}{so_far}, {percent(whole.share)} of it in MPI"
    least = min(whole.ranks, key=lambda rank: rank.share)
    most = max(whole.ranks, key=lambda rank: rank.share)
    if percent(least.share) != percent(most.share):
        line += (
            f" on average ({percent(least.share)} of rank {least.rank} to {percent(most.share)} of rank {most.rank})"
        )
    return line


def shown_ranks(whole: Whole) -> list[RankShare]:
    """All, or of many those with the least, the middle and the most time in MPI."""
    if len(whole.ranks) <= _MOST_RANKS:
        return whole.ranks
    by_share = sorted(whole.ranks, key=lambda rank: rank.share)
    few = _MOST_RANKS // 4
    middle = len(by_share) // 2 - few // 2
    return by_share[:few] + by_share[middle : middle + few] + by_share[-few:]


def shown_rows(whole: Whole) -> list[CallRow]:
    """Calls that lasted for an unknown time, and the longest ones that make up most of the time."""
    rows: list[CallRow] = []
    so_far = 0
    for row in whole.rows[:_MOST_ROWS]:
        if rows and not row.untimed and so_far >= _LEAST * whole.mpi_ns:
            break
        rows.append(row)
        so_far += row.ns
    return rows


def row_cells(whole: Whole, row: CallRow) -> list[str]:
    """As ROW_HEADS has it."""
    imbalance = row.imbalance(len(whole.ranks))
    return [
        str(row.calls),
        known_time(row.mean_ns),
        known_time(None if row.untimed else row.most_ns),
        percent(row.ns / whole.run_ns) if whole.run_ns and whole.end_known and not row.untimed else "-",
        "-" if row.bytes is None else bytes_text(row.bytes / row.calls),
        "-" if imbalance is None else percent(imbalance),
    ]


RANK_HEADS = ("rank", "host", "run", "in MPI", "of run", "calls")


def rank_cells(rank: RankShare) -> list[str]:
    """As RANK_HEADS has it."""
    mpi = rank.mpi_ns if rank.end_known or not rank.inside else None
    run, share = (time_text(rank.run_ns), percent(rank.share)) if rank.end_known else ("-", "-")
    return [str(rank.rank), rank.host, run, known_time(mpi), share, str(rank.calls)]


LEGEND = (
    "mean, most: time inside a call. bytes: what a call sends, or reads from or writes to a file. -: not known. "
    "imb.: imbalance, from 0 % (all ranks alike) to 100 % (all of the time on one rank)."
)
ROW_HEADS = ("calls", "mean", "most", "of run", "bytes", "imb.")


def _table(*heads: str) -> Table:
    table = Table(header_style="bold", box=box.SIMPLE, padding=(0, 1, 0, 0))
    for head in heads:
        words = head in ("call", "call site", "host")
        table.add_column(head, justify="left" if words else "right", no_wrap=head != "call site", overflow="fold")
    return table


def show_whole(whole: Whole, console: Console) -> None:
    show_sentence(console, headline(whole), style="bold")
    for line in early_ends(whole):
        show_sentence(console, line, style="yellow")
    if len(whole.ranks) > 1:
        table = _table(*RANK_HEADS)
        for rank in shown_ranks(whole):
            table.add_row(*map(escape, rank_cells(rank)))
        print_table(console, table)
        if len(shown_ranks(whole)) < len(whole.ranks):
            console.print(f"of {len(whole.ranks)} ranks those with least, middle and most of MPI", style="dim")
    table = _table("call", *ROW_HEADS, "call site")
    for row in shown_rows(whole):
        table.add_row(escape(row.operation), *row_cells(whole, row), escape(short_place(row.place)))
    print_table(console, table, "call site")
    rest = len(whole.rows) - len(shown_rows(whole))
    if rest > 0:
        more = f"{rest} more call sites are" if rest > 1 else "1 more call site is"
        show_sentence(console, f"{more} in --csv, --json and --html.", style="dim")
    show_sentence(console, LEGEND, style="dim")
