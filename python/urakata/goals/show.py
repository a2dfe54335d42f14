"""Goals and outcomes as tables."""

from __future__ import annotations

from collections.abc import Iterable

from rich.table import Table

from urakata.goals.definitions import Goal
from urakata.goals.outcome import Outcome
from urakata.goals.statistics import spread

SENTENCES = "what is compared"


def number(value: float) -> str:
    """Three significant digits, without an exponent."""
    for digits, limit in ((0, 100.0), (1, 10.0), (2, 1.0)):
        if abs(value) >= limit:
            return f"{value:.{digits}f}"
    return f"{value:.3g}"


def target(goal: Goal) -> str:
    """Direction, target and unit in words."""
    return f"{goal.direction} {goal.target:g} {goal.unit}"


def _table(*headings: str) -> Table:
    """A table in which only sentences are broken: names are typed again, and numbers belong to their units."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("goal", *headings):
        table.add_column(heading, no_wrap=heading != SENTENCES)
    return table


def goals_table(goals: Iterable[Goal]) -> Table:
    """Name, target and what is compared."""
    table = _table("target", SENTENCES)
    for goal in goals:
        table.add_row(goal.name, target(goal), goal.compares)
    return table


def _row(outcome: Outcome) -> list[str]:
    goal, figure = outcome.goal, outcome.figure
    if figure is None:
        word = "[red]failed[/red]" if outcome.failed else "[yellow]cannot[/yellow]"
        return [goal.name, "", "", "", target(goal), word]
    sides = "\n".join(f"{name} {number(value)} {figure.sides_unit}" for name, value in figure.sides.items())
    low, high = spread(figure.samples)
    met = "[green]met[/green]" if outcome.met else "[red]not met[/red]"
    return [goal.name, sides, f"{number(figure.value)}", f"{number(low)}..{number(high)}", target(goal), met]


def outcomes_table(outcomes: Iterable[Outcome]) -> Table:
    """Name, both sides, value, spread over rounds, target, met or not."""
    table = _table("sides", "value", "spread", "target", "met")
    for outcome in outcomes:
        table.add_row(*_row(outcome))
    return table


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
