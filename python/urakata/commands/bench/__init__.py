# SPDX-License-Identifier: BSD-3-Clause
"""urakata bench: benchmarks that a user can run on a machine of their own, one a module."""

from __future__ import annotations

import typer

from urakata.commands.bench import kernel, overlap, sites, solver, space

_EXAMPLES = """
[bold]Examples[/bold]

  urakata bench overlap --quick
      # a first look, in about a minute

  urakata bench space
      # what MPI calls cost with the ranks of a node in one address space
"""


def register(app: typer.Typer) -> None:
    """Adds the group bench."""
    group = typer.Typer(no_args_is_help=True, rich_markup_mode="rich")
    group.command("kernel", epilog=kernel.EXAMPLES)(kernel.kernel)
    group.command("overlap", epilog=overlap.EXAMPLES)(overlap.overlap)
    group.command("sites", epilog=sites.EXAMPLES)(sites.sites)
    group.command("solver", epilog=solver.EXAMPLES)(solver.solver)
    group.command("space", epilog=space.EXAMPLES)(space.space)

    @group.callback(epilog=_EXAMPLES)
    def bench() -> None:
        """Measure what Urakata does on this machine."""

    app.add_typer(group, name="bench")
