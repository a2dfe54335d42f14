# SPDX-License-Identifier: BSD-3-Clause
"""urakata hosts: several test hosts on this machine, joined by links of a set rate, and MPI jobs across them."""

from __future__ import annotations

import typer

from urakata.commands.hosts import check, links, run

_EXAMPLES = """
[bold]Examples[/bold]

  urakata hosts check
      # are test hosts possible here?

  urakata hosts run -n 4 -- urakata-exec -- ./app
      # one rank on each of 4 hosts, with Urakata
"""


def register(app: typer.Typer) -> None:
    """Adds the commands hosts run, check and links."""
    group = typer.Typer(
        help="Test hosts: namespaces on this machine, joined by shaped links, and MPI jobs across them; also several "
        "sites with long links between them.",
        epilog=_EXAMPLES,
        no_args_is_help=True,
        rich_markup_mode="rich",
    )
    group.command("run", epilog=run.EXAMPLES, context_settings={"allow_interspersed_args": False})(run.run)
    group.command("check", epilog=check.EXAMPLES)(check.check)
    links.register(group)
    app.add_typer(group, name="hosts")
