# SPDX-License-Identifier: BSD-3-Clause
"""What a session gives: its results, what cannot be measured here, and which jobs failed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Generic, TypeVar

Results = TypeVar("Results")


@dataclass(frozen=True)
class Refused:
    """What cannot run here, or failed, and why."""

    what: str
    reason: str


@dataclass
class Session(Generic[Results]):
    """`refused`: what cannot be measured here. `failed`: jobs that failed once, and were not tried again."""

    results: Results
    refused: list[Refused] = field(default_factory=list)
    failed: list[Refused] = field(default_factory=list)
