# SPDX-License-Identifier: BSD-3-Clause
"""CPU numbers as the kernel writes them: lists such as 0-3,8, and masks such as ff,00000001."""

from __future__ import annotations

from collections.abc import Iterable

_WORD = 32
"""Bits of a mask between two commas."""


def list_text(cpus: Iterable[int]) -> str:
    """0-3,8: ranges in rising order; empty for none."""
    runs: list[list[int]] = []
    for cpu in sorted(set(cpus)):
        if runs and cpu == runs[-1][1] + 1:
            runs[-1][1] = cpu
        else:
            runs.append([cpu, cpu])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def mask_text(cpus: Iterable[int]) -> str:
    """A mask in hexadecimal, with a comma between words of 32 bits; 0 for none."""
    bits = sum(1 << cpu for cpu in set(cpus))
    words: list[int] = []
    while bits or not words:
        words.append(bits % (1 << _WORD))
        bits >>= _WORD
    return ",".join([f"{words[-1]:x}", *(f"{word:08x}" for word in reversed(words[:-1]))])


def of_mask(text: str) -> list[int]:
    """The CPUs of a mask, as /sys has it. Raises ValueError."""
    bits = 0
    for word in text.strip().split(","):
        bits = bits << _WORD | int(word, 16)
    return [cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1]
