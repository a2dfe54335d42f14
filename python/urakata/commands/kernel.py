# SPDX-License-Identifier: BSD-3-Clause
"""urakata kernel: eBPF code for small collectives at network interfaces, for administrators."""

from __future__ import annotations

import subprocess
from typing import Annotated

import typer

from urakata import paths
from urakata.commands.hosts.options import OperationsOption
from urakata.hosts import ebpf
from urakata.json_output import JsonFlag

_EXAMPLES = """
[bold]Examples[/bold]

  urakata kernel attach eth0 --user anna
      # as root, on every node: for anna's jobs

  urakata kernel list
      # where it is attached, and for whom

  urakata run -n 4 --engine kernel -- ./app
      # a job that uses it, by anna

  urakata kernel detach eth0
      # as root: nothing is left behind
"""

_ATTACH_EXAMPLES = """
[bold]Examples[/bold]

  urakata kernel attach eth0 --user anna --user ben
      # on every node of the job, once

  urakata kernel attach eth0 --user anna --op affine=affine.bpf.o
      # with an operation of a program's own

  urakata kernel attach eth0 --user anna --generic
      # where the driver runs no eBPF code

Jobs of these users with --engine kernel then have small MPI_Iallreduce, Ireduce, Ibcast and Ibarrier between
nodes computed by the kernel: docs/progress-without-a-thread.md. It stays until it is detached or the machine starts
anew. Exit code 1: it could not be attached; the line says why, the verifier's reason among it.
"""

_DETACH_EXAMPLES = """
[bold]Examples[/bold]

  urakata kernel detach eth0

Jobs that use it then get an MPI error on what is under way. Nothing is left behind; also what an attach that was
killed half way has left goes.
"""

_LIST_EXAMPLES = """
[bold]Examples[/bold]

  urakata kernel list --json
"""


def _call(*words: str) -> None:
    raise typer.Exit(subprocess.run([str(paths.program("urakata-kernel")), *words], check=False).returncode)


_Interface = Annotated[str, typer.Argument(help="Network interface, such as eth0.")]


def attach(
    interface: _Interface,
    user: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Who may use it; may be repeated. Without: who calls.")
    ] = None,
    operations: OperationsOption = None,
    generic: Annotated[
        bool,
        typer.Option("--generic", help="In the kernel's own part, not the driver's: any interface, a little slower."),
    ] = False,
) -> None:
    """Attach it to an interface, beside other programs there. It replaces what was attached before once it works."""
    users = [word for name in user or [] for word in ("--user", name)]
    own = [word for operation in operations or [] for word in ("--op", operation)]
    _call("attach", interface, ebpf.file(), *users, *own, *(["--generic"] if generic else []))


def detach(interface: _Interface) -> None:
    """Detach it from an interface."""
    _call("detach", interface)


def show(as_json: JsonFlag = False) -> None:
    """Show where it is attached, and for whom."""
    _call("list", *(["--json"] if as_json else []))


def register(app: typer.Typer) -> None:
    """Adds the commands kernel attach, detach and list."""
    group = typer.Typer(
        help="eBPF code at network interfaces that computes small collectives, for administrators.",
        epilog=_EXAMPLES,
        no_args_is_help=True,
        rich_markup_mode="rich",
    )
    group.command("attach", epilog=_ATTACH_EXAMPLES)(attach)
    group.command("detach", epilog=_DETACH_EXAMPLES)(detach)
    group.command("list", epilog=_LIST_EXAMPLES)(show)
    app.add_typer(group, name="kernel")
