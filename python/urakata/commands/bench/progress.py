# SPDX-License-Identifier: BSD-3-Clause
"""The bar of a benchmark that runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

Result = TypeVar("Result")


def _show_nothing(_label: str, _done: int) -> None:
    pass


def with_progress(total: int, work: Callable[[Callable[[str, int], None]], Result]) -> Result:
    """Runs `work`, which reports what it does and how many of `total` steps are done, below a bar on stderr. Without a
    terminal there is no bar."""
    console = Console(stderr=True)
    if not console.is_terminal:
        return work(_show_nothing)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("starting", total=total)
        return work(lambda label, done: bar.update(task, description=label, advance=done))
