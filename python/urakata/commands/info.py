"""urakata info: every option with its value in force, its default and where the value came from."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from urakata import paths


def info(
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="[OPTIONS OF urakata-exec]", help="See what they would change: --engine poll ..."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Show every option: value in force, default, where the value comes from, and what it does."""
    asked = subprocess.run(
        [str(paths.program("urakata-exec")), "--info", "--json", *(arguments or [])],
        capture_output=True,
        text=True,
        check=False,
    )
    sys.stderr.write(asked.stderr)
    if asked.returncode != 0:
        raise typer.Exit(asked.returncode)
    if as_json:
        sys.stdout.write(asked.stdout)
        return
    table = Table("option", "value", "default", "from", "what it does", box=None, pad_edge=False, header_style="bold")
    for option in json.loads(asked.stdout):
        value, default = str(option["value"]), str(option["default"])
        changed = value != default
        table.add_row(
            f"URAKATA_{option['name']}",
            f"[bold]{value or '-'}[/bold]" if changed else value or "-",
            default or "-",
            option["origin"],
            option["sentence"],
        )
    Console(highlight=False).print(table)


def register(app: typer.Typer) -> None:
    """Adds the command info."""
    app.command("info", context_settings={"ignore_unknown_options": True})(info)
