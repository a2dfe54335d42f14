# SPDX-License-Identifier: BSD-3-Clause
"""The options with which every command starts a job, so that each is spelt the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from urakata import launcher

RANKS = 2
"""How many ranks a job has where the user does not say."""

MPIS = f"{', '.join(launcher.NAMES)}, a launcher, or the folder of an MPI."

TIMEOUT = "Seconds after which a job is given up."

RANKS_NAMES = ("-n", "-np", "--np", "--ranks")
"""-np is mpirun's. As a name of its own it is no -n with the value p."""

RanksOption = Annotated[int, typer.Option(*RANKS_NAMES, metavar="N", min=1, help="How many ranks to start.")]


def _mpi_option(default: str) -> Any:
    return typer.Option(
        "--mpi", "--host", metavar="MPI", help=f"{MPIS}  [dim]default: {default}[/dim]", show_default=False
    )


MpiOption = Annotated[str | None, _mpi_option("the MPI that the program is linked with, else the first mpirun on PATH")]
MpiWithoutProgramOption = Annotated[
    str | None, _mpi_option("the first mpirun on PATH, else the source tree's Open MPI")
]
ProgramArgument = Annotated[
    list[str],
    typer.Argument(
        metavar="-- PROGRAM [ARGUMENT]...", help="The program and its arguments, after --.", show_default=False
    ),
]
SettingsOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="Any option of urakata check --options.", show_default=False),
]
LauncherArgumentsOption = Annotated[
    list[str] | None,
    typer.Option(
        "--launcher-argument",
        metavar="ARG",
        help="A word handed to mpirun as it is; may be repeated.",
        show_default=False,
    ),
]
McaOption = Annotated[
    list[str] | None,
    typer.Option(
        "--mca", metavar="NAME VALUE", help="Handed to Open MPI's mpirun; may be repeated.", show_default=False
    ),
]
LinksFileOption = Annotated[
    Path | None,
    typer.Option(
        "--file",
        metavar="FILE",
        help="Where --links keeps it.  [dim]default: the file that all jobs read[/dim]",
        show_default=False,
    ),
]


def _is_option(word: str) -> bool:
    """A - alone is a value: the standard output."""
    return word.startswith("-") and word != "-"


class JobCommand(TyperCommand):
    """Lets options stand as mpirun has them and people type them; click knows options with one value, or with none."""

    bare: dict[str, str] = {}  # noqa: RUF012
    """Options that may stand without a value, and what they mean then."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        end = args.index("--") if "--" in args else len(args)
        words: list[str] = []
        left = list(args[:end])
        while left:
            word = left.pop(0)
            if word in self.bare and (not (left or args[end:]) or _is_option((left or args[end:])[0])):
                words.append(f"{word}={self.bare[word]}")
            elif word == "--mca" and len(left) > 1 and "=" not in left[0]:
                words.append(f"--mca={left.pop(0)}={left.pop(0)}")
            else:
                words.append(word)
        return super().parse_args(ctx, [*words, *args[end:]])


def launcher_words(mpi: launcher.Mpi, arguments: list[str] | None, mca: list[str] | None) -> list[str]:
    """What the launcher gets of the user's."""
    words = list(arguments or [])
    if mca and mpi.family != "openmpi":
        raise typer.BadParameter(
            f"only Open MPI has it, and {mpi.launcher} is {mpi.family}'s; give that launcher's own options "
            "with --launcher-argument",
            param_hint="--mca",
        )
    for pair in mca or []:
        name, equals, value = pair.partition("=")
        if not equals:
            raise typer.BadParameter(f"{pair}: write --mca NAME VALUE", param_hint="--mca")
        words += ["--mca", name, value]
    return words
