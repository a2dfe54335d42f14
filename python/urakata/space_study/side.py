# SPDX-License-Identifier: BSD-3-Clause
"""The sides that are compared: each MPI library alone and with its ranks in a space."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from urakata import launcher, paths
from urakata.launcher import Mpi

TITLES = {"openmpi": "Open MPI", "mpich": "MPICH", "impi": "Intel MPI"}


@dataclass(frozen=True)
class Side:
    """An MPI library, by its family, alone or in a space."""

    family: str
    space: bool

    @property
    def name(self) -> str:
        """Name in tables and files."""
        return f"{self.family}, space" if self.space else self.family

    @property
    def title(self) -> str:
        """Name in legends."""
        return f"{TITLES[self.family]} in a space" if self.space else TITLES[self.family]

    def command(self, program: Path, arguments: list[str]) -> list[str]:
        """What the launcher starts for each rank."""
        alone = [str(program), *arguments]
        return [str(paths.program("urakata-exec")), "--space", "--", *alone] if self.space else alone


def both_of(families: Iterable[str]) -> list[Side]:
    """Alone and in a space, for each family."""
    return [Side(family, space) for family in families for space in (False, True)]


def installed() -> list[Mpi]:
    """The hosts that are found here, of all families."""
    found = []
    for family in launcher.FAMILIES:
        try:
            found.append(launcher.find_mpi(family))
        except paths.NotFoundError:
            continue
    return found
