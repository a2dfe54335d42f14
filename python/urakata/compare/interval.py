# SPDX-License-Identifier: BSD-3-Clause
"""The median of a few samples, and between which of them that of the whole population lies."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

WANTED = 0.95


@dataclass(frozen=True)
class Interval:
    """`coverage`: the probability with which the true median lies from `low` to `high`."""

    median: float
    low: float
    high: float
    coverage: float

    @property
    def width(self) -> float:
        """Relative to the median, to one side."""
        return (self.high - self.low) / 2 / self.median if self.median else 0.0


def _coverage(count: int, skipped: int) -> float:
    """Of the interval from the sample with `skipped` below it to that with as many above it: whether a sample lies
    below the median is a fair coin (Hettmansperger and McKean, Robust Nonparametric Statistical Methods, 1.5)."""
    outside: int = 2 * sum(math.comb(count, below) for below in range(skipped + 1))
    return 1 - outside / float(2**count)


def interval(samples: Sequence[float], wanted: float = WANTED) -> Interval:
    """The narrowest whose coverage is `wanted` or more; the whole range where there are too few samples."""
    ordered = sorted(samples)
    skipped = 0
    while 2 * (skipped + 1) < len(ordered) and _coverage(len(ordered), skipped + 1) >= wanted:
        skipped += 1
    return Interval(
        statistics.median(ordered), ordered[skipped], ordered[-1 - skipped], max(0.0, _coverage(len(ordered), skipped))
    )


def wanted_of_each(intervals: int) -> float:
    """The coverage of each of several intervals that hold their medians all at once with WANTED (Bonferroni). The
    fastest of several sides is the one that luck favours most, so each is judged more strictly."""
    return 1 - (1 - WANTED) / max(1, intervals)


def rounds_for(wanted: float) -> int:
    """The fewest samples whose range has that coverage."""
    count = 1
    while _coverage(count, 0) < wanted:
        count += 1
    return count
