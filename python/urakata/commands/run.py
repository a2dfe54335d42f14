# SPDX-License-Identifier: BSD-3-Clause
"""urakata run: starts a program on an MPI library with Urakata under each rank."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from urakata import caller_path, job_guard, job_hosts, launcher, paths, typed
from urakata.commands.job_options import (
    RANKS,
    JobCommand,
    LauncherArgumentsOption,
    McaOption,
    MpiOption,
    ProgramArgument,
    RanksOption,
    SettingsOption,
    launcher_words,
)
from urakata.last_report import DEFAULT_REPORT, remember
from urakata.report.ending import RUN_FILE, is_noted, note_end
from urakata.report.files import foreign_files, own_files

_EXAMPLES = """
[bold]Examples[/bold]

  urakata run -n 4 -- ./app input.dat

  urakata run -n 4 --report -- ./app
      # and show what was hidden

  urakata run -n 4 --report --html -- ./app
      # and write it as a page with a plot

  urakata run -n 2 --engine thread --placement spare -- ./app

  urakata run -n 4 --mpi mpich --algorithm allgather:ring,bcast:chain -- ./app

  urakata run -n 2 -- python script.py
      # mpi4py, too

  urakata run -n 16 --space -- ./app
      # the ranks of a node in one address space

  urakata run -n 4 --engine native -- ./app
      # the MPI library alone

Inside another launcher, put urakata-exec before the program: [bold]srun -n 4 urakata-exec -- ./app[/bold]
"""


class RunCommand(JobCommand):
    """--report and --html may stand without a value."""

    bare = {"--report": DEFAULT_REPORT, "--html": ""}  # noqa: RUF012


def run_job(command: list[str], environment: dict[str, str]) -> int:
    """Runs the launcher, passes termination on to it; gives its exit code, 128 + n where signal n ended it.

    Nothing of the job outlives this process.
    """
    job: subprocess.Popen[bytes] | None = None
    early: list[int] = []
    ended: set[int] = set()  # was told to end

    def pass_on(number: int, _frame: FrameType | None) -> None:
        if job is None:
            early.append(number)
        else:
            ended.update(job_guard.with_descendants([job.pid]))
            job.send_signal(number)

    # From before the launcher is there, so that none is lost while it starts.
    before = {number: signal.signal(number, pass_on) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        with job_guard.Guard() as guard:
            job = subprocess.Popen(command, env=environment, preexec_fn=guard.announce)
            for number in early:
                job.send_signal(number)
            # The terminal sends SIGINT to the launcher too: it ends the job, and this command stays to tell how.
            before[signal.SIGINT] = signal.signal(signal.SIGINT, signal.SIG_IGN)
            code = job.wait()
            if code < 0:  # of the signal, as a shell script does that leaves the launcher proper behind
                job_guard.end_rest(ended)
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return code if code >= 0 else 128 - code


def check_options(options: list[str]) -> None:
    """Leaves with code 2 and the reason where urakata-exec would refuse the options."""
    checked = subprocess.run(
        [str(paths.program("urakata-exec")), "--check-options", *options],
        capture_output=True,
        text=True,
        check=False,
    )
    if checked.returncode != 0:
        sys.stderr.write(checked.stderr)
        raise typer.Exit(2)


def _prepare_report(folder: Path, ranks: int) -> None:
    """A folder without an earlier run's report. Whatever else lies there stays; what the ranks would write over is
    named."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if foreign := foreign_files(folder, ranks):
            raise paths.NotFoundError(
                f"--report {folder}: {foreign[0].name} there is no report of Urakata's and would be lost. Move it, or "
                "name another folder"
            )
        for left_over, _ in list(own_files(folder)):
            left_over.unlink()
        if is_noted(folder):
            (folder / RUN_FILE).unlink()
        with tempfile.TemporaryFile(dir=folder):  # as the ranks will write there
            pass
    except OSError as error:
        raise paths.NotFoundError(f"--report {folder}: {error.strerror}") from error


def _show_report(folder: Path, html: Path | None) -> None:
    note_end(folder)
    if not any(own_files(folder, "rank", "calls")):
        print(f"urakata: no report in {folder}: no rank called MPI_Init with Urakata loaded", file=sys.stderr)
        return
    from urakata.commands.report import render_text, write_page

    remember(folder)
    render_text(folder)
    if html is not None:
        write_page(folder, html)
    print(f"\nMore: {typed.command()} report {folder} --help")


def run(
    program: ProgramArgument,
    ranks: RanksOption = RANKS,
    mpi: MpiOption = None,
    engine: Annotated[
        str | None, typer.Option(metavar="ENGINE", help="native, poll, thread or kernel.", show_default=False)
    ] = None,
    placement: Annotated[
        str | None,
        typer.Option(
            metavar="PLACEMENT", help="Where a progress thread sits: auto, spare or shared.", show_default=False
        ),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(metavar="SPEC", help="Such as ring, or allgather:ring,bcast:chain.", show_default=False),
    ] = None,
    report: Annotated[
        Path | None,
        typer.Option(
            metavar="[DIR]",
            help=f"Show afterwards what was hidden; files go to DIR ({DEFAULT_REPORT} where none is given).",
            show_default=False,
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="[FILE]",
            help="Write the report as a page with a plot, too; to index.html of its folder where no FILE is given.",
            show_default=False,
        ),
    ] = None,
    timeline: Annotated[bool, typer.Option("--timeline", help="Record events too, for a time line.")] = False,
    space: Annotated[bool, typer.Option("--space", help="The ranks of a node share one address space.")] = False,
    config: Annotated[
        Path | None, typer.Option(metavar="FILE", help="TOML file with options.", show_default=False)
    ] = None,
    settings: SettingsOption = None,
    launcher_arguments: LauncherArgumentsOption = None,
    mca: McaOption = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the command line that would be run.")] = False,
) -> None:
    """Run an MPI program, unmodified, with its non-blocking collectives progressing while it computes."""
    if html is not None:
        report = report or Path(DEFAULT_REPORT)
        html = report / "index.html" if html == Path() else html
    options: list[str] = []
    for name, value in (("engine", engine), ("placement", placement), ("algorithm", algorithm)):
        if value is not None:
            options += [f"--{name}", value]
    if config:
        options += ["--config", str(config.absolute())]
    if report:
        options += ["--report", str(report.absolute())]
    if timeline:
        options += ["--set", "TIMELINE=1"]
    if space:
        options += ["--set", "SPACE=1"]
    for setting in settings or []:
        options += ["--set", setting]
    check_options(options)

    launcher.refuse_inside_a_job("urakata run")
    if not dry_run:
        job_hosts.refuse_missing_program(program[0], [*(launcher_arguments or ()), *(mca or ())])
    chosen = launcher.find_mpi(mpi, program[0])
    under_urakata = [str(paths.program("urakata-exec")), *options, "--", *caller_path.resolved(program)]
    arguments = launcher_words(chosen, launcher_arguments, mca)
    command = chosen.command(ranks, under_urakata, arguments)
    environment = chosen.environment(space)
    if dry_run:
        print(caller_path.shell_line(command, environment))
        return
    if not job_hosts.fit_sites(chosen, ranks, arguments, options):
        raise typer.Exit(2)
    if report:
        _prepare_report(report, ranks)
    code = run_job(command, environment)
    if report:
        _show_report(report, html)
    raise typer.Exit(code)


def register(app: typer.Typer) -> None:
    """Adds the command run."""
    add = app.command("run", cls=RunCommand, epilog=_EXAMPLES, context_settings={"allow_interspersed_args": False})
    add(run)
