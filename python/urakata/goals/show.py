# SPDX-License-Identifier: BSD-3-Clause
"""Goals and outcomes as tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rich.table import Table

from urakata.goals.definitions import Goal
from urakata.goals.outcome import Outcome

KINDS = {True: "binding: a release must meet these", False: "watched: beyond what a release must meet"}
"""Titles, by whether a goal binds."""

OUTCOMES_WIDTH = 104
"""Columns that a table of outcomes needs so that no number is broken."""

SIGNS = {"at most": "<=", "at least": ">="}


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    for digits, limit in ((0, 100.0), (1, 10.0), (2, 1.0)):
        if abs(value) >= limit:
            return f"{value:.{digits}f}"
    return f"{value:.3g}"


def target(goal: Goal) -> str:
    """The target with its direction as a sign."""
    return f"{SIGNS[goal.direction]} {goal.target:g}"


def _table(*headings: str) -> Table:
    """A table whose first column holds the names of goals, which are never cut: they are typed again."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("goal", no_wrap=True)
    for heading in headings:
        table.add_column(heading, overflow="fold")
    return table


def goals_table(goals: Iterable[Goal]) -> Table:
    """Name, target, unit and what is compared."""
    table = _table("target", "unit", "what is compared")
    for goal in goals:
        table.add_row(goal.name, target(goal), goal.unit, goal.compares)
    return table


def _row(outcome: Outcome) -> list[str]:
    goal, figure = outcome.goal, outcome.figure
    if figure is None:
        word = "[red]failed[/red]" if outcome.failed else "[yellow]cannot[/yellow]"
        return [goal.name, "", "", "", target(goal), goal.unit, word]
    sides = "\n".join(f"{name} {number(value)} {figure.sides_unit}" for name, value in figure.sides.items())
    spread = f"{number(figure.estimate.low)}..{number(figure.estimate.high)}"
    met = "[green]met[/green]" if outcome.met else "[red]not met[/red]"
    return [goal.name, sides, f"{number(figure.value)}", spread, target(goal), goal.unit, met]


def outcomes_table(outcomes: Iterable[Outcome]) -> Table:
    """Name, both sides, value, spread, target, unit, met or not."""
    table = _table("sides", "value", "spread", "target", "unit", "met")
    for outcome in outcomes:
        table.add_row(*_row(outcome))
    return table


def count(outcomes: Sequence[Outcome]) -> list[str]:
    """A line for those that bind, and one for those that are watched: how many are met, and how many not measured."""
    lines = []
    for binding, title in KINDS.items():
        if one_kind := [outcome for outcome in outcomes if outcome.goal.binding is binding]:
            met, unknown = (sum(outcome.met is which for outcome in one_kind) for which in (True, None))
            line = f"{title.partition(':')[0]}: {met} of {len(one_kind)} met"
            lines.append(f"{line}, {unknown} not measured" if unknown else line)
    return lines


def remarks(outcome: Outcome) -> list[str]:
    """Lines to print below the table: where the worst was, and why a goal is not met or was not measured."""
    name = outcome.goal.name
    if outcome.figure is None:
        return [f"{name}: {outcome.reason}"]
    lines = []
    if worst := outcome.figure.detail.get("worst_point"):
        lines.append(f"{name}: the worst point is {', '.join(worst)}")
    if outcome.figure.broken:
        lines.append(f"{name}: {outcome.figure.broken}")
    return lines
