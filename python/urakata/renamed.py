# SPDX-License-Identifier: BSD-3-Clause
"""Commands by their names of earlier releases: for one release they do as before, and one line says the new name."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any


def renamed(command: Callable[..., None], old: str, new: str) -> Callable[..., None]:
    """The command as `urakata OLD`, whose new name is `urakata NEW`; with the same options."""

    @functools.wraps(command)
    def called(*arguments: Any, **options: Any) -> None:
        print(f"urakata: `urakata {old}` is now `urakata {new}`", file=sys.stderr)
        command(*arguments, **options)

    return called


def shown(command: Any) -> list[tuple[str, Any]]:
    """The commands of a group by name, without those by an earlier name; of what is no group none."""
    return sorted((name, below) for name, below in getattr(command, "commands", {}).items() if not below.hidden)
