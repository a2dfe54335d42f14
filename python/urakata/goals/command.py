# SPDX-License-Identifier: BSD-3-Clause
"""./dev goals: builds, and then measures the performance targets by this command. It is not installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from urakata.goals import show
from urakata.goals.definitions import load
from urakata.goals.errors import MeasurementError
from urakata.goals.machine import describe_build, warnings
from urakata.goals.measure import forget_options, measure_goals
from urakata.goals.page import page
from urakata.json_output import JsonFile, write_json
from urakata.measure.machine import describe_machine
from urakata.output_file import STANDARD_OUTPUT
from urakata.paths import NotFoundError

CANNOT = 77
PLOTTED = "overlap-overall-worst"

_EXAMPLES = """
[bold]Examples[/bold]

  ./dev goals --list

  ./dev goals nbc-poll-geomean overlap-hidden

  ./dev goals bypass-ns --json bypass.json

  ./dev goals --list --json -

  ./dev goals --all --page performance-targets.md

  ./dev goals overlap-overall-worst --plot overall.png

Exit code: 0 all were measured, met or not; 77 this machine cannot measure one; 1 measuring failed; 2 no such goal.
Where goals that bind a release are among them, only those count.
"""


def _fail(error: object) -> typer.Exit:
    Console(stderr=True).print(f"[red]./dev goals:[/red] {error}", highlight=False, soft_wrap=True)
    return typer.Exit(2)


def goals(
    names: Annotated[list[str] | None, typer.Argument(metavar="[NAME]...", help="Goals to measure.")] = None,
    show_list: Annotated[bool, typer.Option("--list", help="Show every goal, and measure nothing.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Measure every goal.")] = False,
    json_file: JsonFile = None,
    page_file: Annotated[
        Path | None,
        typer.Option("--page", metavar="FILE", help="Write what was measured there, as a page of Markdown."),
    ] = None,
    plot_file: Annotated[
        Path | None,
        typer.Option("--plot", metavar="FILE", help=f"Draw every point of {PLOTTED} there, as PNG or SVG."),
    ] = None,
) -> None:
    """Measure performance targets: both sides in turn, each name in under 50 s."""
    out, err = Console(stderr=json_file == STANDARD_OUTPUT, highlight=False), Console(stderr=True, highlight=False)
    try:
        definitions = load()
    except MeasurementError as error:
        raise _fail(error) from error
    if show_list and json_file:
        write_json([goal.as_json() for goal in definitions.goals.values()], json_file)
        return
    if show_list:
        for binding, title in show.KINDS.items():
            out.print(f"[bold]{title}[/bold]\n")
            out.print(show.goals_table(goal for goal in definitions.goals.values() if goal.binding is binding))
            out.print()
        return
    chosen = list(definitions.goals) if everything else names or []
    if not chosen:
        raise _fail("name the goals to measure, or say --all; --list shows them")
    if unknown := [name for name in chosen if name not in definitions.goals]:
        raise _fail(f"no goal {unknown[0]}; there are {', '.join(definitions.goals)}")
    if plot_file and PLOTTED not in chosen:
        raise _fail(f"--plot draws {PLOTTED}, which is not one of those to be measured")

    for name in forget_options():
        err.print(f"[yellow]{name} is ignored: every side has its own options[/yellow]")
    machine, build = describe_machine(), describe_build()
    for line in warnings(machine, build):
        err.print(f"[yellow]warning:[/yellow] {line}")
    with err.status("measuring") as status:
        wanted = [definitions.goals[name] for name in chosen]
        outcomes = measure_goals(definitions, wanted, lambda text: status.update(f"measuring: {text}"))
    out.width = max(out.width, show.OUTCOMES_WIDTH)
    out.print(show.outcomes_table(outcomes))
    for outcome in outcomes:
        for line in show.remarks(outcome):
            out.print(line, soft_wrap=True)
    out.print()
    for line in show.count(outcomes):
        out.print(line)
    results = {one.goal.name: one.as_json(machine.as_json() | build) for one in outcomes}
    if json_file:
        write_json(results, json_file)
    if page_file:
        page_file.write_text(page(results), encoding="utf-8")
    if plot_file and (ratios := results[PLOTTED]["detail"].get("ratios")):
        from urakata.goals.plot import draw  # loads what other commands need not wait for

        draw(ratios, plot_file)
    counted = [outcome for outcome in outcomes if outcome.goal.binding] or outcomes
    if any(outcome.failed for outcome in counted):
        sys.exit(1)
    if any(outcome.figure is None for outcome in counted):
        sys.exit(CANNOT)


def build_app() -> typer.Typer:
    """The command by itself."""
    app = typer.Typer(
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.command("goals", epilog=_EXAMPLES)(goals)
    return app


def main() -> None:
    """Runs it; what could not be found is one line on stderr and exit code 2."""
    try:
        build_app()(prog_name="./dev goals")
    except NotFoundError as error:
        raise SystemExit(_fail(error).exit_code) from error
