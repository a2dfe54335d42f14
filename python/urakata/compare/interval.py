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


def interval(samples: Sequence[float]) -> Interval:
    """The narrowest whose coverage is WANTED or more; the whole range where there are too few samples (below six)."""
    ordered = sorted(samples)
    skipped = 0
    while 2 * (skipped + 1) < len(ordered) and _coverage(len(ordered), skipped + 1) >= WANTED:
        skipped += 1
    return Interval(
        statistics.median(ordered), ordered[skipped], ordered[-1 - skipped], max(0.0, _coverage(len(ordered), skipped))
    )
