# SPDX-License-Identifier: BSD-3-Clause
"""The sides that are compared: an MPI library alone, under Urakata, and with its ranks in a space."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from urakata import paths
from urakata.space_study.side import TITLES

MODES = ("alone", "urakata", "space")
_OPTIONS = {"urakata": [], "space": ["--space"]}
_WORDS = {"alone": "", "urakata": " under Urakata", "space": " in a space"}


@dataclass(frozen=True)
class Side:
    """An MPI library, by its family, in one of MODES."""

    family: str
    mode: str

    @property
    def title(self) -> str:
        """Name in tables and legends."""
        return f"{TITLES[self.family]}{_WORDS[self.mode]}"

    def command(self, program: Path, arguments: list[str]) -> list[str]:
        """What the launcher starts for each rank."""
        alone = [str(program), *arguments]
        if self.mode == "alone":
            return alone
        return [str(paths.program("urakata-exec")), *_OPTIONS[self.mode], "--", *alone]
