# SPDX-License-Identifier: BSD-3-Clause
"""The sites and links that a study runs jobs across."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from urakata.sites_study.methods import Method

if TYPE_CHECKING:
    from urakata.hosts import Sites


@dataclass(frozen=True)
class Bed:
    """`layout`: hosts of each site, as `urakata hosts --sites` takes them."""

    layout: str
    delay: str
    loss: str

    @property
    def name(self) -> str:
        """As tables and figures call it."""
        lost = "" if self.lossless else f", {self.loss} lost"
        return f"{self.layout}, {self.delay} one way{lost}"

    @property
    def lossless(self) -> bool:
        """Is nothing lost on purpose?"""
        return float(self.loss.rstrip("% ")) == 0


def paper_beds() -> list[Bed]:
    """Two sites by delay and loss, and three and four sites."""
    two = [Bed("2x4", delay, loss) for delay in ("1ms", "8ms", "20ms", "50ms") for loss in ("0", "0.1%", "1%")]
    return [*two, Bed("3x3", "8ms", "0"), Bed("4x2", "8ms", "0")]


@dataclass(frozen=True)
class Leg:
    """What is run on one bed. `leaders`: methods by which a site leader computes meanwhile."""

    bed: Bed
    sites: Sites
    methods: Sequence[Method]
    leaders: Sequence[Method] = ()

    def jobs(self, operations: Sequence[str]) -> list[tuple[str, list[Method]]]:
        """Each operation with all that perform it."""
        return [(operation, [one for one in self.methods if one.performs(operation)]) for operation in operations]

    def count(self, operations: Sequence[str]) -> int:
        """Jobs of a round."""
        relayed = sum(len(one.operations) for one in self.leaders)
        return relayed + sum(len(able) for _, able in self.jobs(operations))
