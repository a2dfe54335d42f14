# SPDX-License-Identifier: BSD-3-Clause
"""The report as text."""

from __future__ import annotations

import re
from pathlib import Path
from statistics import fmean
from typing import Any

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urakata.report.console import show_line, show_sentence
from urakata.report.messages import MessageRow, carrier_lines, space_lines
from urakata.report.rank_lines import periodic_seconds, rank_lines
from urakata.report.summary import Row, Summary, overlap_command, summarise
from urakata.report.units import bytes_text, count, known_time, of_ranks, ranges, short_place, time_text
from urakata.report.verdict import verdict
from urakata.report.whole_text import show_whole
from urakata.tables import print_table


def hidden_text(row: Row) -> str:
    if row.blocking:
        return "none"
    return "unknown" if row.hidden.share is None else f"{100 * row.hidden.share:.0f} %"


def hidden_part(row: MessageRow) -> str:
    return row.hidden_word if row.hidden is None else f"{100 * row.hidden:.0f} %"


def way_text(row: Row) -> str:
    """Engine and algorithm, and why this algorithm."""
    why = f" ({row.reason})" if row.reason else ""
    engine = "the MPI library" if row.engine == "native" else row.engine
    return ", ".join(part for part in (engine, row.algorithm) if part) + why


_NO_RANK = "No rank reached MPI_Finalize, where it tells what Urakata did; above is what the program called until then."


def show(summary: Summary, console: Console) -> None:
    """The whole program; then what Urakata handled: call sites, way and advice for each, and each rank's progress
    threads."""
    console.print(f"[bold]{escape(summary.program)}[/bold]  {count(summary.size, 'rank')}", highlight=False)
    if summary.mpi_library:
        console.print(escape(summary.mpi_library), highlight=False, style="dim")
    for line in summary.gaps:
        show_sentence(console, line, style="yellow")
    if summary.whole is not None:
        show_whole(summary.whole, console)
    for line in run_lines(summary):
        show_sentence(console, line)
    if summary.rows:
        print_table(console, _table(summary))
        console.print(
            "start, gap (start to wait), wait: means of an instance; late: of the wait, until the last rank had begun; "
            "own: the operation, once all wait for it.",
            style="dim",
        )
        _show_advice(summary.rows, console)
    else:
        console.print("No collective that Urakata handles was called." if summary.ranks else _NO_RANK)
    if summary.messages:
        _show_messages(summary, console)
    for line in rank_lines(summary.ranks):
        show_line(console, line)
    if said := verdict(summary):
        console.print()
        for line in said.sentences:
            show_sentence(console, line)
        for command in said.command.splitlines():
            show_line(console, f"  {command}")
    if summary.next is not None:
        console.print()
        show_sentence(console, summary.next[0])
        for command in summary.next[1].splitlines():
            show_line(console, f"  {command}")


_CPUS = re.compile(r"(own )?CPUs \d+(?:[,-]\d+)*")  # in a reason: what differs from rank to rank


def engine_lines(ranks: list[dict[str, Any]]) -> list[str]:
    """The engine, which one it stands for, and why: one line for all ranks of which the same is true."""
    alike: dict[tuple[str, str, str], list[int]] = {}
    for rank in ranks:
        asked = {option["name"]: option["value"] for option in rank["options"]}.get("ENGINE", rank["engine"])
        why = re.sub(_CPUS, lambda found: "own CPUs" if found[1] else "CPUs of its own", rank["engine_why"])
        alike.setdefault((asked, rank["engine"], why), []).append(rank["rank"])
    lines = []
    for (asked, got, why), numbers in alike.items():
        of = "" if len(numbers) == len(ranks) else f" ({of_ranks(numbers)})"
        instead = "" if got.split("/")[0] == asked else f" instead of {asked}"
        lines.append(f"Engine {got}{instead}{of}" + f": {why}" * bool(why) + "." + _periodic(ranks, numbers))
    return lines


def _periodic(ranks: list[dict[str, Any]], numbers: list[int]) -> str:
    """A sentence on the thread that engine poll may have all the same."""
    used = [seconds for rank in ranks if rank["rank"] in numbers and (seconds := periodic_seconds(rank)) is not None]
    if not used:
        return ""
    each = " each" if len(used) > 1 else ""
    return f" A periodic progress thread, which only keeps MPI's progress rule, used {fmean(used):.3f} CPU s{each}."


def _show_advice(rows: list[Row], console: Console) -> None:
    """What to change at each call site; those alike share a sentence."""
    alike: dict[tuple[str, str, str], list[int]] = {}
    measured: dict[tuple[str, str, tuple[str, ...]], list[int]] = {}  # by why it is unknown, and what measures it
    for number, row in enumerate(rows, 1):
        alike.setdefault((short_place(row.place), row.switch, way_text(row)), []).append(number)
        if row.unknown:
            measured.setdefault((row.unknown, row.measured_by, row.measured_with), []).append(number)
    console.print("Can more be hidden? By call site:")
    for (place, switch, way), numbers in alike.items():
        show_sentence(console, f"{ranges(numbers):>3}  {place}: {switch}.", " " * 5)
        show_sentence(console, f"     By {way}.", " " * 5)
    for (why, operation, setting), numbers in measured.items():
        show_sentence(
            console, f"What was hidden at call site{'s' * (len(numbers) > 1)} {ranges(numbers)} is unknown: {why}."
        )
        if operation:
            sizes = sorted({rows[number - 1].bytes for number in numbers})
            show_line(console, f"  To measure it: {overlap_command(operation, sizes, setting)}")


def _table(summary: Summary) -> Table:
    table = Table(header_style="bold", box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("#")
    table.add_column("operation", no_wrap=True)
    for heading in ("bytes", "count", "start", "gap", "wait", "late", "own", "hidden"):
        table.add_column(heading, justify="right", no_wrap=True)
    for number, row in enumerate(summary.rows, 1):
        times = row.times
        table.add_row(
            str(number),
            row.operation,
            bytes_text(row.bytes),
            str(row.started),
            time_text(times["start"].mean),
            time_text(times["gap"].mean),
            time_text(times["wait"].mean),
            known_time(row.late_ns),
            known_time(row.hidden.own_ns),
            hidden_text(row),
        )
    return table


def _show_messages(summary: Summary, console: Console) -> None:
    """The program's own messages: a table of their own, since nothing in it can be compared with a collective's row."""
    table = Table(header_style="bold", box=box.SIMPLE, padding=(0, 1, 0, 0))
    table.add_column("message")
    table.add_column("carrier", no_wrap=True)
    for heading in ("count", "bytes", "waited", "hidden"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("call site")
    for row in summary.messages:
        size = "-" if row.bytes is None else bytes_text(row.bytes)
        seen = (str(row.messages), size, known_time(row.wait_ns), hidden_part(row))
        table.add_row(*(escape(cell) for cell in (row.operation, row.carrier, *seen, short_place(row.place))))
    console.print("The program's own messages", style="bold")
    print_table(console, table, "call site")
    console.print(
        "bytes and waited are sums over all ranks. waited: time inside blocking calls, waits and tests. hidden is "
        "measured for carrier wire only. -: not known.",
        style="dim",
    )


def run_lines(summary: Summary) -> list[str]:
    """Of the whole run: which engine, which space, and who carried the program's own messages."""
    return engine_lines(summary.ranks) + space_lines(summary.ranks) + carrier_lines(summary.ranks)


def render_text(folder: Path) -> None:
    """Prints the report in `folder`."""
    show(summarise(folder), Console())
