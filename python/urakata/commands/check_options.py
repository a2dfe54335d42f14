# SPDX-License-Identifier: BSD-3-Clause
"""urakata check --options: every option with its value in force, its default and where the value came from."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from typing import Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from urakata import paths
from urakata.json_output import write_json
from urakata.tables import print_table

_STYLE: dict[str, Any] = {"box": None, "pad_edge": False, "header_style": "bold"}


def show_options(arguments: list[str], as_json: bool, expert: bool) -> None:
    """The options, as variables to paste: value in force, default, origin, and what they do. With `expert` also those
    for experts, and every cost. As JSON all of them.

    `arguments`: options of urakata-exec, whose effect is shown. Leaves with 2 where a value is not valid."""
    asked = subprocess.run(
        [str(paths.program("urakata-exec")), "--info", "--json", *arguments],
        capture_output=True,
        text=True,
        check=False,
    )
    sys.stderr.write(asked.stderr)
    if asked.returncode != 0:
        raise typer.Exit(asked.returncode)
    options = json.loads(asked.stdout)
    if as_json:
        write_json(options)
        return
    table = Table("variable", "unit", "default", "from", "what it does", **_STYLE)
    for option in options:
        if option["level"] == "expert" and not expert:
            continue
        value, default = str(option["value"]), str(option["default"])
        changed = value != default
        setting = escape(f"{option['variable']}={shlex.quote(value) if value else ''}")
        table.add_row(
            f"[bold]{setting}[/bold]" if changed else setting,
            option["unit"] or "-",
            escape(default) or "-",
            option["origin"],
            option["sentence"],
        )
    console = Console(highlight=False)
    print_table(console, table, "what it does", prose=True)
    if not expert:
        return
    costs = Table("cost", "value", "default", "unit", "from", "what it is", **_STYLE)
    for cost in next(option["costs"] for option in options if option["name"] == "COSTS"):
        value, default = f"{cost['value']:.12g}", f"{cost['default']:.12g}"
        costs.add_row(
            cost["name"],
            f"[bold]{value}[/bold]" if value != default else value,
            default,
            cost["unit"],
            cost["origin"],
            f"{cost['sentence']} (measured by {cost['measured']})" if cost["measured"] else cost["sentence"],
        )
    console.print("\nWhat messages cost, for Urakata's choices (option COSTS):\n")
    print_table(console, costs, "what it is", prose=True)
