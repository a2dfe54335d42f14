# SPDX-License-Identifier: BSD-3-Clause
"""The time from MPI_Init to MPI_Finalize: a small library takes it, preloaded into the ranks of all sides alike."""

from __future__ import annotations

import os
import re

from urakata import paths

_LIBRARY = "libcompare-clock.so"
_BROKEN = "urakata compare: the program calls "  # the same, where the library cannot find what is behind it
_LINE = re.compile(r"urakata-clock: (\d+)\n?")  # ns; exec/compare_clock.c writes one a rank to standard error


def with_clock(command: list[str]) -> list[str]:
    """A rank's command with the clock preloaded; as it is where the linker cannot preload the library."""
    library = paths.preload_libraries() / _LIBRARY
    if not library.is_file() or any(one in str(library) for one in " :"):
        return command
    preloads = ":".join(filter(None, (str(library), os.environ.get("LD_PRELOAD"))))
    return ["env", f"LD_PRELOAD={preloads}", *command]


def broken_by_clock(failure: str) -> bool:
    """Whether a job failed because the clock found no MPI library behind it."""
    return _BROKEN in failure


def read_clock(complaints: str) -> tuple[float | None, str]:
    """The slowest rank's seconds from MPI_Init to MPI_Finalize, None where no rank told; and the text without that."""
    told = [int(ns) for ns in _LINE.findall(complaints)]
    return (max(told) / 1e9 if told else None), _LINE.sub("", complaints)
