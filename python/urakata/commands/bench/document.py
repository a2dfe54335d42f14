"""What a benchmark writes and reads again: its JSON, with notes on what went wrong."""

from __future__ import annotations

import datetime
import json
import platform
import sys
from pathlib import Path
from typing import Any

from rich.console import Console

from urakata import paths


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
