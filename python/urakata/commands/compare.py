# SPDX-License-Identifier: BSD-3-Clause
"""urakata compare: a program with and without Urakata, in turn, and which to use."""

from __future__ import annotations

import re
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer
from rich.console import Console

from urakata import job_hosts, launcher
from urakata.commands.job_options import (
    RANKS,
    TIMEOUT,
    JobCommand,
    LauncherArgumentsOption,
    McaOption,
    MpiOption,
    ProgramArgument,
    RanksOption,
    SettingsOption,
    launcher_words,
)
from urakata.json_output import JsonFile, write_json

_EXAMPLES = """
[bold]Examples[/bold]

  urakata compare -n 4 -- ./app input.dat

  urakata compare -n 2 --engines poll,shared --no-space -- ./app

  urakata compare -n 4 --runs 10 --ignore 'at .*h' -- ./app
      # leave out what the output says of the clock

  urakata compare -n 4 --check 'grep -q converged' -- ./app
      # decide by a command whether an output is right

  urakata compare -n 4 --json - -- ./app
      # for a script

Exit code: 0 all sides were compared; 1 one failed, wrote something else than the MPI library or took too long; 2
nothing could be compared, or a value is not valid; 128 and the number of a signal that ended it early (what was
measured is shown).
"""

_SIGNALS = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
_SECONDS = 120.0


def _engines(value: str) -> list[str]:
    from urakata.compare.side import ENGINES

    found = [one.strip() for one in value.split(",") if one.strip()]
    for one in found:
        if one not in ENGINES:
            raise typer.BadParameter(f"{one} is none of {', '.join(ENGINES)}", param_hint="--engines")
    if not found:
        raise typer.BadParameter("names no engine", param_hint="--engines")
    return found


def _check_patterns(patterns: list[str]) -> None:
    for one in patterns:
        try:
            re.compile(one)
        except re.error as error:
            raise typer.BadParameter(f"{one}: {error}", param_hint="--ignore") from error


def _end_by_exception(number: int, _frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def _on_signals(handler: Callable[[int, FrameType | None], None]) -> None:
    for number in _SIGNALS:
        signal.signal(number, handler)


def _tell_round(line: str) -> None:
    """Where the bar is not seen: a script's log, a batch job's file."""
    if not sys.stderr.isatty():
        print(line, file=sys.stderr, flush=True)


def compare(
    program: ProgramArgument,
    ranks: RanksOption = RANKS,
    mpi: MpiOption = None,
    engines: Annotated[
        str | None,
        typer.Option(
            metavar="LIST",
            help="Of poll, shared and spare (progress threads' cores).  [dim]default: those that can matter[/dim]",
            show_default=False,
        ),
    ] = None,
    space: Annotated[
        bool | None,
        typer.Option("--space/--no-space", help="Only in one, or never.  [dim]default: both[/dim]", show_default=False),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            min=0,
            help="The whole takes no longer.  [dim]default: 120; none with --runs[/dim]",
            show_default=False,
        ),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            metavar="N", min=1, help="Rounds.  [dim]default: until the spread is small[/dim]", show_default=False
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(metavar="S", min=0.1, help=TIMEOUT)] = 600.0,
    ignore: Annotated[
        list[str] | None,
        typer.Option(metavar="REGEX", help="Leave this out of the output's lines; repeatable.", show_default=False),
    ] = None,
    check: Annotated[
        str | None,
        typer.Option(
            metavar="COMMAND", help="Reads each output; an exit code but 0 makes it wrong.", show_default=False
        ),
    ] = None,
    settings: SettingsOption = None,
    launcher_arguments: LauncherArgumentsOption = None,
    mca: McaOption = None,
    output: Annotated[Path, typer.Option("-o", "--output", help="Folder for page, figure and JSON.")] = Path(
        "urakata-compare"
    ),
    only_json: JsonFile = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the command lines that would be run.")] = False,
) -> None:
    """Run a program with the MPI library alone and with Urakata, in turn, and say which is faster."""
    from urakata.commands.bench.document import begin_document, make_folder, show_document
    from urakata.commands.bench.progress import with_progress
    from urakata.commands.run import check_options
    from urakata.compare import document, tables
    from urakata.compare.interval import rounds_for, wanted_of_each
    from urakata.compare.session import Limits, Question, Stop, run_session
    from urakata.compare.side import ENGINES, idle_sides_of, sides_of
    from urakata.compare.verdict import judge_outputs, verdict
    from urakata.measure.machine import describe_machine

    spaces = [False, True] if space is None else [space]
    sides = sides_of(_engines(engines) if engines is not None else list(ENGINES), spaces)
    patterns = ignore or []
    _check_patterns(patterns)
    options = [word for one in settings or [] for word in ("--set", one)]
    check_options(options)
    job_hosts.refuse_missing_program(program[0], [*(launcher_arguments or ()), *(mca or ())])
    launcher.refuse_inside_a_job("urakata compare")
    chosen = launcher.find_mpi(mpi, program[0])
    question = Question(
        mpi=chosen,
        program=program,
        ranks=ranks,
        options=options,
        words=[*(("--mpi", mpi) if mpi else ()), *options],
        launcher_arguments=launcher_words(chosen, launcher_arguments, mca),
        timeout_s=timeout,
        check=check,
    )
    console = Console()
    if dry_run:
        for side in sides:
            console.print(side.title, highlight=False)
            console.print(f"  {question.shell_line(side)}", highlight=False, soft_wrap=True, markup=False)
        return
    if not only_json:
        make_folder(output)
    machine = describe_machine(chosen)
    limits = Limits(_SECONDS if seconds is None and runs is None else seconds, runs)
    expected = (runs or rounds_for(wanted_of_each(len(sides) - 1))) * len(sides)
    idle_sides = idle_sides_of(spaces) if engines is None else None
    stop = Stop()
    _on_signals(stop.ask)
    session = with_progress(
        expected, lambda progress: run_session(question, sides, limits, progress, _tell_round, stop, idle_sides)
    )
    _on_signals(_end_by_exception)
    compared = judge_outputs(session, patterns)
    result = verdict(session)
    said = {**begin_document("compare"), **document.as_json(question, session, result, compared, machine)}
    write_json(said, only_json or output / "compare.json")
    if not only_json:
        show_document(said, [tables.table(session, result, compared)], console)
        for note in tables.notes(session):
            console.print(f"[dim]Urakata said: {note}[/dim]", highlight=False, soft_wrap=True)
        document.write_page(said, session, result, output)
        console.print(f"\n[bold]{result.text}[/bold]", highlight=False, soft_wrap=True)
        if said["use"]:
            console.print(f"Use it so:  {said['use']}", highlight=False, soft_wrap=True)
        console.print(f"Written to {output}: index.html, compare.json", highlight=False, soft_wrap=True)
    if result.ratio is None:
        print(f"urakata: {session.ended}: {session.alone.failure or 'see above'}", file=sys.stderr)
    if session.stopped:
        raise typer.Exit(128 + session.stopped)
    if result.ratio is None:
        raise typer.Exit(1 if session.failed() else 2)
    if session.failed():
        raise typer.Exit(1)


def register(app: typer.Typer) -> None:
    """Adds the command compare."""
    app.command("compare", cls=JobCommand, epilog=_EXAMPLES, context_settings={"allow_interspersed_args": False})(
        compare
    )
