# SPDX-License-Identifier: BSD-3-Clause
"""urakata goals: a command of the source tree now, ./dev goals; says so for one release."""

from __future__ import annotations

import sys

import typer

_ALL_WORDS = {"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []}


def goals() -> None:
    """Measure performance targets: ./dev goals, in the source tree."""
    print("urakata: performance targets are measured in the source tree, by `./dev goals`", file=sys.stderr)
    raise typer.Exit(2)


def register(app: typer.Typer) -> None:
    """Adds the hidden command goals."""
    app.command("goals", hidden=True, context_settings=_ALL_WORDS)(goals)
