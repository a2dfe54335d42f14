# SPDX-License-Identifier: BSD-3-Clause
"""Builds the command line from the modules in urakata.commands: a new command is a new file there."""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from urakata import __version__, commands
from urakata.paths import NotFoundError

_EXAMPLES = """
[bold]Examples[/bold]

  urakata check                         what is usable on this machine

  urakata run -n 4 --report -- ./app    run it, and show what was hidden

  urakata bench overlap --quick         the study behind it, on this machine

Each command has its own: urakata run --help
"""


def _typed(options: Sequence[str], arguments: Sequence[str]) -> str | None:
    """Which of an option's names stands in the arguments."""
    words = arguments[: arguments.index("--")] if "--" in arguments else arguments
    for word in words:
        for name in options:
            if word == name or word.startswith(f"{name}="):
                return name
        for name in options:
            if len(name) == 2 and word.startswith(name) and not word.startswith("--"):
                return name
    return None


class _Commands(TyperGroup):
    """Errors name an option as it was typed, and not by all of its names."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except Exception as error:
            options = getattr(getattr(error, "param", None), "opts", [])
            if getattr(error, "param_hint", "") is None and (name := _typed(options, sys.argv[1:])):
                error.param_hint = f"'{name}'"  # type: ignore[attr-defined]
            raise


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"urakata {__version__}")
        raise typer.Exit


def build_app() -> typer.Typer:
    """The application with every command module registered, in alphabetical order."""
    app = typer.Typer(
        cls=_Commands,
        help="Communication behind computation, under unmodified MPI programs.",
        epilog=_EXAMPLES,
        no_args_is_help=True,
        add_completion=False,
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )

    @app.callback()
    def top(
        version: Annotated[
            bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and leave.")
        ] = False,
    ) -> None:
        pass

    for module in pkgutil.iter_modules(commands.__path__):
        loaded = importlib.import_module(f"{commands.__name__}.{module.name}")
        if hasattr(loaded, "register"):
            loaded.register(app)
    return app


def main() -> None:
    """Runs the command line; what could not be found is one line on stderr and exit code 2."""
    if "_URAKATA_COMPLETE" in os.environ:  # a shell asks what may come next, or for its script
        from typer._completion_classes import completion_init

        completion_init()
    try:
        build_app()(prog_name="urakata")
    except NotFoundError as error:
        Console(stderr=True).print(f"[red]urakata:[/red] {error}", highlight=False, soft_wrap=True)
        sys.exit(2)
