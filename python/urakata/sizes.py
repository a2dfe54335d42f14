# SPDX-License-Identifier: BSD-3-Clause
"""Numbers of bytes as people write them."""

from __future__ import annotations


def size_text(size: int) -> str:
    """8 B, 4 KiB, 1 MiB; 1000 B where it is no multiple."""
    for unit, factor in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= factor and size % factor == 0:
            return f"{size // factor} {unit}"
    return f"{size} B"
