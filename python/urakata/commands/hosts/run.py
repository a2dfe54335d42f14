# SPDX-License-Identifier: BSD-3-Clause
"""urakata hosts run: an MPI job across test hosts."""

from __future__ import annotations

import os
import shlex
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Annotated

import typer

from urakata import caller_path, launcher, paths, typed
from urakata.commands import job_options
from urakata.commands.hosts import options

EXAMPLES = """
[bold]Examples[/bold]

  urakata hosts run -n 4 -- ./app input.dat
      # Open MPI, one rank on each of 4 hosts

  urakata hosts run -n 4 --mpi mpich --per-host 2 -- ./app
      # 8 ranks

  urakata hosts run --sites 2x4 --delay 8ms --link-rate 400mbit \\
      --flow-rate 25mbit --loss 0.1% -- ./app
      # two sites of four hosts, a long link between them

  urakata hosts run --sites 4+2+2 --delay 8ms --link 0-1:delay=20ms \\
      --flow host0-host4=100mbit -- ./app
      # three sites; one link and one pair of hosts differ

  urakata hosts run -n 4 -- urakata-exec --engine thread -- ./app
      # with Urakata

  urakata hosts run -n 4 --ebpf -- urakata-exec --engine kernel -- ./app
      # small collectives by eBPF code; as root

  urakata hosts run -n 2 --op affine=affine.bpf.o -- urakata-exec \\
      --engine kernel -- ./own_operation
      # and an operation of the program's own

`urakata-exec` need not be on PATH. Without it the program runs with its MPI library alone, and a line says so.

The exit code is the job's; 77 where this machine permits no test hosts.
"""


def _ranks_command(program: list[str]) -> list[str]:
    """What the launcher starts. urakata-exec need not be on PATH; a job without it is said to be so."""
    if program[0] == "urakata-exec":
        return [str(paths.program("urakata-exec")), *program[1:]]
    if any(Path(word).name in ("urakata-exec", "urakata") for word in program):
        return program
    print(
        f"urakata: {program[0]} runs without Urakata; with it: {typed.command()} hosts run [OPTION]... -- "
        + shlex.join(["urakata-exec", "--", *program]),
        file=sys.stderr,
    )
    return caller_path.without_urakata(program)


class _Stop:
    """Whether a signal asked to end the job. Its handler raises nothing at first: Python drops what a handler raises
    inside a destructor, or a callback of a fork, and the command would go on."""

    def __init__(self) -> None:
        self._number = 0
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            if signal.getsignal(number) != signal.SIG_IGN:  # as SIGINT in the background of a script
                signal.signal(number, self._ask)

    def _ask(self, number: int, _frame: FrameType | None) -> None:
        if self._number:  # asked twice
            raise SystemExit(128 + number)
        self._number = number

    def look(self) -> None:
        if self._number:
            raise SystemExit(128 + self._number)


def run(
    program: Annotated[list[str], typer.Argument(metavar="-- PROGRAM [ARGUMENT]...", help="The ranks' command.")],
    count: options.CountOption = None,
    rate: options.RateOption = "1gbit",
    delay: options.DelayOption = None,
    mpi: Annotated[
        str,
        typer.Option("--mpi", metavar="MPI", help=job_options.MPIS),
    ] = "openmpi",
    per_host: Annotated[int, typer.Option(min=1, help="Ranks on each host.")] = 1,
    sites: options.SitesOption = None,
    link_rate: options.LinkRateOption = None,
    flow_rate: options.FlowRateOption = None,
    loss: options.LossOption = None,
    queue: options.QueueOption = None,
    link: options.LinkOption = None,
    flow: options.FlowOption = None,
    seed: options.SeedOption = 1,
    congestion: options.CongestionOption = None,
    settings: options.SettingOption = None,
    with_ebpf: Annotated[
        bool,
        typer.Option(
            "--ebpf", "--byte-code", help="Attach eBPF code for small collectives (urakata kernel) on every host."
        ),
    ] = False,
    operations: options.OperationsOption = None,
) -> None:
    """Run an MPI job across test hosts."""
    from urakata.hosts import HostsError, ebpf

    mpi_name = launcher.find_mpi(mpi)
    asked = lambda: options.sites_asked(sites, delay, link_rate, flow_rate, loss, queue, link, flow, seed)  # noqa: E731
    hosts = options.make(count, rate, delay, asked, congestion, settings)
    command = _ranks_command(program)
    environment = {name: value for name, value in os.environ.items() if name.startswith("URAKATA_")}
    environment[caller_path.VARIABLE] = caller_path.caller_path()
    stop = _Stop()
    stdin = None if sys.stdin is None or sys.stdin.isatty() else 0
    try:
        with hosts:
            stop.look()
            if with_ebpf or operations:
                ebpf.attach(hosts, operations or [])
            done = hosts.run(
                command,
                ranks_per_host=per_host,
                mpi_name=mpi_name,
                env=environment,
                capture=False,
                stdin=stdin,
                look=stop.look,
            )
    except HostsError as error:
        raise options.fail(str(error), 1) from error
    raise typer.Exit(done.returncode if done.returncode >= 0 else 128 - done.returncode)
