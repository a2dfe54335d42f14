# SPDX-License-Identifier: BSD-3-Clause
"""--json: what a command says, as JSON. Commands that look print it; those that measure can write it to a file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from urakata.output_file import STANDARD_OUTPUT, opened

JsonFlag = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JsonFile = Annotated[
    Path | None,
    typer.Option("--json", metavar="FILE", help="Write JSON there; - for the standard output.", show_default=False),
]


def write_json(document: Any, file: Path = STANDARD_OUTPUT, compact: bool = False) -> None:
    """`compact`: one line, for what holds raw samples. Raises NotFoundError where the file cannot be written."""
    text = json.dumps(document, **({"separators": (",", ":")} if compact else {"indent": 1})) + "\n"
    with opened(file) as stream:
        stream.write(text)
