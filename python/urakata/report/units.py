# SPDX-License-Identifier: BSD-3-Clause
"""Times and sizes as people read them."""

from __future__ import annotations


def time_text(ns: float) -> str:
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("us", 1e3)):
        if ns >= scale:
            return f"{ns / scale:.3g} {unit}"
    return f"{ns:.0f} ns"


def bytes_text(size: float) -> str:
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if size >= scale:
            return f"{size / scale:.4g} {unit}"
    return f"{size:.0f} B"


def count(number: int, thing: str) -> str:
    """Such as "2 ranks"."""
    return f"{number} {thing}{'' if number == 1 else 's'}"


def known_time(ns: float | None) -> str:
    return "-" if ns is None else time_text(ns)


def percent(share: float) -> str:
    return f"{100 * share:.0f} %" if share >= 0.1 else f"{100 * share:.1f} %"


def ranges(numbers: list[int]) -> str:
    """Such as "0-3, 7", of numbers in order."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and number == parts[-1][-1] + 1:
            parts[-1][1:] = [number]
        else:
            parts.append([number])
    return ", ".join("-".join(map(str, part)) for part in parts)


def of_ranks(numbers: list[int]) -> str:
    """Such as "rank 3" and "ranks 0-3, 7", of numbers in any order."""
    return f"rank{'s' if len(numbers) > 1 else ''} {ranges(sorted(numbers))}"


def short_place(place: str) -> str:
    """The last two parts of a path: the console has little room."""
    return "/".join(place.split("/")[-2:])
