"""What ./dev demo shows: a real program, unmodified, with and without Urakata, and how the benchmark sees it.

Where this machine permits it the ranks are on two test hosts joined by a 1 Gb/s link, as if on two machines; otherwise
they share this node, where there is little communication to hide.
"""

from __future__ import annotations

import platform
import re
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.table import Table

from urakata import hosts, launcher, paths
from urakata.commands.report import render_text

RANKS = 2
TURNS = 3
TREE = Path(__file__).resolve().parent.parent
OUTPUT = TREE / "build" / "demo"
Run = Callable[[list[str]], str]

console = Console(highlight=False)


@contextmanager
def place(mpi: launcher.Mpi, across_hosts: bool, reason: str) -> Iterator[tuple[str, Run]]:
    """Where jobs run, in words, and how: on test hosts, or on this node with the reason."""

    def here(program: list[str]) -> str:
        command = mpi.command(RANKS, program)
        return subprocess.run(command, env=mpi.environment(), check=True, text=True, stdout=subprocess.PIPE).stdout

    if not across_hosts:
        yield f"{RANKS} ranks on this node (no test hosts: {reason})", here
        return
    with hosts.Hosts(count=RANKS, rate="1gbit") as network:

        def across(program: list[str]) -> str:
            done = network.run(program, mpi_name=mpi, timeout=120)
            if done.returncode != 0:
                raise subprocess.CalledProcessError(done.returncode, program, done.stdout, done.stderr)
            sys.stderr.write(done.stderr)
            return done.stdout

        yield f"{RANKS} test hosts joined by a 1 Gb/s link, one rank on each", across


def compile_example(mpi: launcher.Mpi) -> Path:
    """examples/train.c with the MPI library's own compiler wrapper, as anybody would."""
    program = OUTPUT / "train"
    command = [
        str(mpi.launcher.parent / "mpicc"),
        "-O3",
        "-g",
        "-o",
        str(program),
        str(TREE / "examples/train.c"),
        "-lm",
    ]
    console.print("[dim]" + " ".join(command) + "[/dim]")
    subprocess.run(command, env=mpi.environment(), check=True)
    return program


def train(run: Run, program: Path, report: Path) -> None:
    """The two sides in turn, medians, and Urakata's report."""
    exec_program = str(paths.program("urakata-exec"))
    sides = {
        "Open MPI alone": [str(program)],
        "under Urakata": [exec_program, "--engine", "thread", "--report", str(report), "--", str(program)],
    }
    total: dict[str, list[float]] = {side: [] for side in sides}
    inside: dict[str, list[float]] = {side: [] for side in sides}
    losses: dict[str, str] = {}
    with console.status("Training") as status:
        for turn in range(TURNS):
            for side, command in sides.items():
                status.update(f"Training, turn {turn + 1} of {TURNS}, {side}")
                figures = re.search(r": ([\d.]+) s, of these ([\d.]+) s inside MPI; loss (\S+)", run(command))
                if not figures:
                    raise SystemExit(f"{program} printed no result")
                total[side].append(float(figures[1]))
                inside[side].append(float(figures[2]))
                losses[side] = figures[3]
    table = Table("", "whole run", "inside MPI", "loss at the end", box=None, header_style="bold", pad_edge=False)
    for side in sides:
        spread = f"{min(total[side]):.2f} to {max(total[side]):.2f}"
        table.add_row(
            side,
            f"{statistics.median(total[side]):.2f} s [dim]({spread})[/dim]",
            f"{statistics.median(inside[side]):.2f} s",
            losses[side],
        )
    console.print(table)
    console.print()
    render_text(report)


def overlap(across_hosts: bool) -> None:
    """The benchmark in its short form, where the train was."""
    command = [sys.executable, "-m", "urakata", "bench", "overlap", "--quick", "--operation", "iallreduce"]
    command += ["--kind", "compute", "--amount", "match", "--engine", "none,poll,shared", "--mpi", "openmpi"]
    command += ["--output", str(OUTPUT / "overlap")] + (["--hosts", str(RANKS)] if across_hosts else [])
    console.print("[dim]urakata " + " ".join(command[3:]) + "[/dim]\n")
    subprocess.run(command, check=True)


def main() -> None:
    OUTPUT.mkdir(parents=True, exist_ok=True)
    report = OUTPUT / "report"
    report.mkdir(exist_ok=True)
    mpi = launcher.find_mpi("openmpi")
    console.rule("A real program: training a neural network, examples/train.c")
    cores = f"{launcher.usable_cores()} cores, {platform.release()}"
    console.print(f"Open MPI {mpi.version}, {cores}; medians of {TURNS} runs in turn\n")
    program = compile_example(mpi)
    across_hosts, reason = hosts.available()
    with place(mpi, across_hosts, reason) as (where, run):
        console.print(f"{where}\n")
        train(run, program, report)
    page = OUTPUT / "report.html"
    subprocess.run([sys.executable, "-m", "urakata", "report", str(report), "--html", str(page)], check=True)
    console.print()
    console.rule("The overlap benchmark, short")
    overlap(across_hosts)
    console.print(f"\nPlots: [bold]{OUTPUT / 'overlap' / 'index.html'}[/bold]", soft_wrap=True)


if __name__ == "__main__":
    main()
# SPDX-License-Identifier: BSD-3-Clause
