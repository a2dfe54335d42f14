# SPDX-License-Identifier: BSD-3-Clause
"""What Urakata says where it does not do what was asked for, so that another thing would be measured."""

from __future__ import annotations

_SAYS = ("instead of kernel", "not engine kernel", "instead of thread", "not eBPF code", "not by eBPF code")


def stepped_back(said: str) -> str | None:
    """The first line of a job's complaints that tells so."""
    return next((line.strip() for line in said.splitlines() if any(words in line for words in _SAYS)), None)
