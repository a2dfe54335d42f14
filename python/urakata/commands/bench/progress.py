"""The bar of a benchmark that runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

Result = TypeVar("Result")


def with_progress(total: int, work: Callable[[Callable[[str, int], None]], Result]) -> Result:
    """Runs `work`, which reports what it does and how many of `total` steps are done, below a bar on stderr."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("starting", total=total)
        return work(lambda label, done: bar.update(task, description=label, advance=done))
