# SPDX-License-Identifier: BSD-3-Clause
"""A part of the study: a program of bench/, what its records mean, and how they are shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urakata.measure.plots import Drawing
from urakata.measure.text_table import TextTable
from urakata.space_study.results import Results, Value


@dataclass(frozen=True)
class Run:
    """How one job of a part is started."""

    ranks: int
    arguments: Sequence[str]
    label: str = ""
    """What differs between the jobs of a part; empty where there is one."""


def by_ranks(quick: bool) -> list[Run]:
    """A job for each number of ranks: the runs of what depends on that only."""
    return [Run(ranks, [], f"{ranks} ranks") for ranks in ((2, 8) if quick else (2, 4, 8, 16, 32, 64))]


@dataclass(frozen=True)
class Part:
    """`runs` takes whether a quick look is wanted; `read` gives the values of one record that the program printed;
    `draw` writes PNG files to a folder, with a subtitle."""

    name: str
    title: str
    program: str
    runs: Callable[[bool], list[Run]]
    read: Callable[[dict[str, Any]], Iterator[Value]]
    tables: Callable[[Results], list[TextTable]]
    draw: Callable[[Results, str, Path], list[Drawing]]
    text: str
    """How it is measured, for the page."""
    whole: bool = False
    """Whether the whole job is measured, launcher included: `read` gets one more record, with job_seconds and ranks."""
