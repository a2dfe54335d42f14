# SPDX-License-Identifier: BSD-3-Clause
"""What a benchmark writes and reads again: its JSON, with notes on what went wrong."""

from __future__ import annotations

import datetime
import json
import platform
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer
from rich.console import Console

from urakata import paths
from urakata.json_output import write_json
from urakata.measure.text_table import TextTable, show

Present = Callable[[dict[str, Any], Path, Console], list[str]]
"""Shows a document, writes page and figures to the folder, and says what it has written."""


def make_folder(output: Path) -> None:
    """Raises NotFoundError where it cannot be made."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise paths.NotFoundError(f"--output {output}: {error.strerror}") from error


def begin_document(name: str) -> dict[str, Any]:
    """What every document says first: its format, when and how it came about."""
    return {
        "format": f"urakata-{name}-1",
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": sys.argv[1:],
        "python": platform.python_version(),
    }


def conclude(name: str, document: dict[str, Any], output: Path, json_file: Path | None, present: Present) -> None:
    """Writes the JSON: alone where a file was named for it, else to the folder, beside what `present` writes there.
    Raises typer.Exit with code 1 where a job has failed."""
    write_json(document, json_file or output / f"{name}.json", compact=True)
    if json_file:
        show_notes(document, Console(stderr=True))
    else:
        _show_written([f"{name}.json", *present(document, output, Console())], output)
    if document.get("failed"):
        raise typer.Exit(1)


def show_again(name: str, earlier: Path, output: Path, present: Present) -> None:
    """What `present` makes of an earlier run's folder or JSON."""
    document = load(earlier, name)
    make_folder(output)
    _show_written(present(document, output, Console()), output)


def _show_written(names: list[str], output: Path) -> None:
    if names:
        Console().print(f"Written to [bold]{output}[/bold]: {', '.join(names)}", soft_wrap=True)


def show_document(document: dict[str, Any], tables: Iterable[TextTable], console: Console) -> None:
    """Its tables and notes."""
    show(tables, console)
    show_notes(document, console)


def show_notes(document: dict[str, Any], console: Console) -> None:
    """The warnings of a document, and what was refused, left out or failed."""
    for warning in document["warnings"]:
        console.print(f"[yellow]Warning:[/yellow] {warning}", highlight=False)
    for title, name in (("Not possible here", "refused"), ("Left out", "skips"), ("Failed", "failed")):
        for item in document.get(name, ()):
            console.print(f"[dim]{title}:[/dim] {item['what']}: {item['reason']}", highlight=False, markup=True)


def load(path: Path, name: str) -> dict[str, Any]:
    """What an earlier `urakata bench NAME` wrote: its folder or its JSON. Raises NotFoundError."""
    file = path / f"{name}.json" if path.is_dir() else path
    try:
        document: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise paths.NotFoundError(f"--from {file}: {error}") from error
    if document.get("format") != f"urakata-{name}-1":
        raise paths.NotFoundError(f"--from {file}: not written by urakata bench {name}")
    return document
