# SPDX-License-Identifier: BSD-3-Clause
"""The sides that are compared: each MPI library alone, under Urakata, and with its ranks in a space."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from urakata.measure.jobs import with_urakata

TITLES = {"openmpi": "Open MPI", "mpich": "MPICH", "impi": "Intel MPI"}
MODES = ("alone", "urakata", "space")
_OPTIONS: dict[str, tuple[str, ...] | None] = {"alone": None, "urakata": (), "space": ("--space",)}
_WORDS = {"alone": "", "urakata": " under Urakata", "space": " in a space"}


@dataclass(frozen=True)
class Side:
    """An MPI library, by its family, in one of MODES."""

    family: str
    mode: str

    @property
    def urakata(self) -> bool:
        """Whether Urakata is loaded."""
        return self.mode != "alone"

    @property
    def space(self) -> bool:
        """Whether the ranks of a node are in one address space."""
        return self.mode == "space"

    @property
    def name(self) -> str:
        """Name in files and narrow columns."""
        return f"{self.family}, {self.mode}" if self.urakata else self.family

    @property
    def title(self) -> str:
        """Name in tables and legends."""
        return f"{TITLES[self.family]}{_WORDS[self.mode]}"

    def command(self, program: Path, arguments: Sequence[str]) -> list[str]:
        """What the launcher starts for each rank."""
        return with_urakata(_OPTIONS[self.mode], [str(program), *arguments])


def both_of(families: Iterable[str]) -> list[Side]:
    """Alone and in a space, for each family."""
    return [Side(family, mode) for family in families for mode in ("alone", "space")]
