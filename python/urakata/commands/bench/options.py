# SPDX-License-Identifier: BSD-3-Clause
"""Values of options that the benchmarks share."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from urakata import paths
from urakata.commands.job_options import TIMEOUT

if TYPE_CHECKING:
    from urakata.hosts import Hosts

Timeout = Annotated[float, typer.Option(min=1, help=TIMEOUT)]
LinkRate = Annotated[str, typer.Option(help="Rate of the test hosts' links.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would be measured.")]
PagesFolder = Annotated[Path, typer.Option("-o", "--output", help="Folder for page, figures and JSON.")]
TablesFolder = Annotated[Path, typer.Option("-o", "--output", help="Folder for figures, CSV and JSON.")]
Earlier = Annotated[Path | None, typer.Option("--from", help="Show an earlier run's folder or JSON; measure nothing.")]


def listed(text: str, option: str, allowed: Sequence[str] | None = None) -> list[str]:
    """Names separated by commas, each once. BadParameter where one is not allowed."""
    names = list(dict.fromkeys(item.strip() for item in text.split(",") if item.strip()))
    if not names:
        raise typer.BadParameter("the list is empty", param_hint=option)
    for name in names:
        if allowed and name not in allowed:
            raise typer.BadParameter(f"{name!r}: valid are {', '.join(allowed)}", param_hint=option)
    return names


def numbers(text: str, option: str) -> list[int]:
    """Numbers above 0 separated by commas."""
    names = listed(text, option)
    if not all(name.isdecimal() and int(name) > 0 for name in names):
        raise typer.BadParameter(f"{text!r} is no list of numbers above 0", param_hint=option)
    return [int(name) for name in names]


def listed_sizes(text: str, option: str) -> list[int]:
    """As parse_sizes. BadParameter where one is not valid."""
    try:
        return parse_sizes(text)
    except ValueError as error:
        raise typer.BadParameter(str(error), param_hint=option) from error


def parse_sizes(text: str) -> list[int]:
    """8,64K,1M or powers of two 1:4M, in bytes. Raises ValueError."""

    def one(word: str) -> int:
        factor = {"K": 2**10, "M": 2**20, "G": 2**30}.get(word[-1:].upper(), 1)
        digits = word[:-1] if factor > 1 else word
        if not digits.isdecimal() or not 0 < int(digits) * factor < 2**31:
            raise ValueError(f"{word!r} is no size: 1 to 2 GiB less one, such as 512, 64K, 1M")
        return int(digits) * factor

    if ":" in text:
        first, last = (one(word.strip()) for word in text.split(":", 1))
        if first > last:
            raise ValueError(f"{text!r}: the first size is above the last")
        return [first << step for step in range((last // first).bit_length())]
    return sorted({one(word.strip()) for word in text.split(",") if word.strip()})


def open_hosts(count: int, rate: str, stack: ExitStack) -> Hosts:
    """What --hosts asks for, until the stack ends. Raises NotFoundError where they are not possible."""
    from urakata.hosts import Hosts, HostsError

    try:
        return stack.enter_context(Hosts(count=count, rate=rate))
    except (HostsError, ValueError) as error:
        raise paths.NotFoundError(f"--hosts {count}: {error}") from error
