"""--json: what a command says, as JSON. Commands that look print it; those that measure can write it to a file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from urakata import paths

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JsonFile = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Write JSON there; - for the standard output.", show_default=False),
]

STANDARD_OUTPUT = Path("-")


def write_json(document: Any, file: Path = STANDARD_OUTPUT, compact: bool = False) -> None:
    """`compact`: one line, for what holds raw samples. Raises NotFoundError where the file cannot be written."""
    text = json.dumps(document, **({"separators": (",", ":")} if compact else {"indent": 1})) + "\n"
    if file == STANDARD_OUTPUT:
        sys.stdout.write(text)
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise paths.NotFoundError(f"cannot write {file}: {error.strerror}") from error
