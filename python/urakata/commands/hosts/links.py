# SPDX-License-Identifier: BSD-3-Clause
"""urakata hosts links: shows, cuts, restores and sets the long links of test hosts while a job runs on them."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from urakata.commands.hosts import options
from urakata.json_output import JsonFlag, write_json
from urakata.renamed import renamed

_CUT_EXAMPLES = """
[bold]Examples[/bold], while `urakata hosts run --sites ...` runs

  urakata hosts links cut 0-1
      # nothing comes through between the sites 0 and 1

  urakata hosts links cut host0-host4
      # nor between these two hosts

  urakata hosts links cut host0:40112-host4:5000 --one-way
      # one connection, from its first end to the second

  urakata hosts links restore 0-1
"""

_SET_EXAMPLES = """
[bold]Examples[/bold]

  urakata hosts links set 0-1 delay=20ms,loss=1%

  urakata hosts links set host0-host4 flow-rate=5mbit
"""

_SHOW_EXAMPLES = """
[bold]Examples[/bold]

  urakata hosts links show

  urakata hosts links show --json | jq '."0-1".directions[0]'
"""

_EXAMPLES = """
[bold]Examples[/bold]

  urakata hosts links
      # as urakata hosts links show

  urakata hosts links cut 0-1

  urakata hosts links set 0-1 delay=20ms,loss=1%
"""

_What = Annotated[
    str, typer.Argument(metavar="A-B|HOST[:PORT]-HOST[:PORT]", help="The link between two sites, or two hosts.")
]
_OneWay = Annotated[bool, typer.Option("--one-way", help="Only from the first to the second.")]
_Instance = Annotated[
    int | None,
    typer.Option(
        metavar="PID", help="Of the process that made the hosts, where there are several.", show_default=False
    ),
]


def _folder(instance: int | None) -> str:
    from urakata.hosts.instance import running

    return running(instance)


def _do(what: str, word: str, one_way: bool, instance: int | None) -> None:
    from urakata.hosts.long_links import LinkError, command_all

    try:
        command_all(_folder(instance), what, word, one_way)
    except LinkError as error:
        raise options.fail(str(error), 1) from error


def cut(what: _What, one_way: _OneWay = False, instance: _Instance = None) -> None:
    """Cut a long link, or what two hosts send each other over it, while a job runs. What is on its way arrives."""
    _do(what, "cut", one_way, instance)


def restore(what: _What, one_way: _OneWay = False, instance: _Instance = None) -> None:
    """Restore what was cut by the same words."""
    _do(what, "restore", one_way, instance)


def change(
    what: _What,
    settings: Annotated[
        str, typer.Argument(metavar="NAME=VALUE,...", help="delay, rate, flow-rate, queue, loss; the rest stays.")
    ],
    one_way: _OneWay = False,
    instance: _Instance = None,
) -> None:
    """Set a long link anew while a job runs."""
    from urakata.hosts import long_links

    try:
        long_links.change(_folder(instance), what, settings, one_way)
    except (long_links.LinkError, ValueError) as error:
        raise options.fail(str(error), 1) from error


def show(instance: _Instance = None, as_json: JsonFlag = False) -> None:
    """Show the long links of running test hosts: what they carried, dropped and lost; with --json also each flow."""
    from urakata.hosts import long_links

    try:
        folder = _folder(instance)
        links = {f"{a}-{b}": long_links.ask(folder, a, b, "stats") for a, b in long_links.all_links(folder)}
    except long_links.LinkError as error:
        raise options.fail(str(error), 1) from error
    if as_json:
        write_json(links)
        return
    table = Table("sites", "MB", "packets", "dropped", "lost", "cut off", "flows", "state")
    for name, link in links.items():
        for arrow, direction in zip("><", link["directions"], strict=True):
            counted: dict[str, Any] = direction["segments"]
            numbers = [counted[key] for key in ("delivered", "dropped", "lost", "cut")]
            state = "cut" if direction["settings"]["cut"] else "open"
            flows = str(direction["flow_count"])
            megabytes = f"{counted['delivered_bytes'] / 1e6:.1f}"
            table.add_row(name.replace("-", f" {arrow} "), megabytes, *map(str, numbers), flows, state)
    Console().print(table)


def _show_alone(context: typer.Context, instance: _Instance = None, as_json: JsonFlag = False) -> None:
    """Show, cut, restore or set the long links of running test hosts; show is what it does without a word."""
    if context.invoked_subcommand is None:
        show(instance, as_json)
    elif instance is not None or as_json:
        raise typer.BadParameter(f"options stand behind {context.invoked_subcommand}")


def register(hosts: typer.Typer) -> None:
    """Adds the commands hosts links show, cut, restore and set; hidden, the last three also as hosts cut and so on."""
    group = typer.Typer(rich_markup_mode="rich")
    group.callback(epilog=_EXAMPLES, invoke_without_command=True)(_show_alone)
    group.command("show", epilog=_SHOW_EXAMPLES)(show)
    for name, command, examples in (
        ("cut", cut, _CUT_EXAMPLES),
        ("restore", restore, _CUT_EXAMPLES),
        ("set", change, _SET_EXAMPLES),
    ):
        group.command(name, epilog=examples)(command)
        old = renamed(command, f"hosts {name}", f"hosts links {name}")
        hosts.command(name, epilog=examples, hidden=True)(old)
    hosts.add_typer(group, name="links")
