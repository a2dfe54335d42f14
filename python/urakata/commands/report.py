# SPDX-License-Identifier: BSD-3-Clause
"""urakata report: what a run hid, what that cost, and what to switch on or off."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from urakata.json_output import JsonFlag, write_json
from urakata.last_report import last_report
from urakata.output_file import opened, tell_written
from urakata.report.calls import read_all_calls
from urakata.report.errors import ReportError
from urakata.report.events import TimeLine, read_events
from urakata.report.files import Faults
from urakata.report.gaps import fault_lines
from urakata.report.page import page
from urakata.report.summary import as_json, summarise
from urakata.report.text import render_text, show
from urakata.report.trace import write_trace
from urakata.report.whole import calls_csv

__all__ = ["register", "render_text"]

_EXAMPLES = """
[bold]Examples[/bold]

  urakata report
      # the last report of this directory

  urakata report out --html report.html
      # one page with a plot

  urakata report out --trace trace.json
      # for ui.perfetto.dev: needs urakata run --timeline

  urakata report out --csv calls.csv
      # each MPI call of each rank, by call site

  urakata report out --json

Exit code: 0; 2 where the folder holds no report, or a file cannot be written.
"""


def write_page(folder: Path, file: Path) -> None:
    """The report as one HTML file."""
    _write(file, page(summarise(folder)))


def _write(path: Path, text: str) -> None:
    with opened(path) as file:
        file.write(text)
    tell_written(path)


def _write_trace(path: Path, line: TimeLine, ranks: list[dict[str, Any]]) -> None:
    with opened(path) as file:
        write_trace(line, ranks, file)
    tell_written(path)


def report(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]",
            help="What --report DIR of urakata run wrote.  [dim]default: the last one of this directory[/dim]",
            show_default=False,
        ),
    ] = None,
    as_data: JsonFlag = False,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write one HTML file with a plot; - for the standard output.", show_default=False
        ),
    ] = None,
    csv: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write a line for each rank and call site of MPI; - for the standard output.",
            show_default=False,
        ),
    ] = None,
    trace_file: Annotated[
        Path | None,
        typer.Option(
            "--trace",
            metavar="FILE",
            help="Write the time line for ui.perfetto.dev; - for the standard output.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """Show the report of a run: its time in MPI by call site, what was hidden, what that cost, what to switch."""
    folder = folder or last_report()
    summary = summarise(folder)
    if csv is not None:
        _write(csv, calls_csv(read_all_calls(folder, [])))
    if trace_file is not None:
        faults: Faults = []
        if (line := read_events(folder, faults)) is None:
            raise ReportError(f"{folder} holds no time line: run with --timeline")
        for gap in fault_lines((fault for fault in faults if fault.path.name.startswith("events-")), summary.size):
            print(f"urakata: {gap}", file=sys.stderr)
        _write_trace(trace_file, line, summary.ranks)
    if html is not None:
        _write(html, page(summary))
    if as_data:
        write_json(as_json(summary))
    elif html is None and trace_file is None and csv is None:
        show(summary, Console())


def register(app: typer.Typer) -> None:
    app.command(epilog=_EXAMPLES)(report)
