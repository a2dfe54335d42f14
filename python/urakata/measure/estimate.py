# SPDX-License-Identifier: BSD-3-Clause
"""A value and between what it lies: both by one estimator, so the value is never outside."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Sequence
from dataclasses import dataclass

_DRAWS = 100
_SEED = 1  # the same samples have the same spread each time that they are shown


@dataclass(frozen=True)
class Estimate:
    """low <= value <= high."""

    value: float
    low: float
    high: float

    def text(self, form: Callable[[float], str], within: Callable[[float], str] | None = None) -> str:
        """Such as "85 % (81 to 88)": the value by `form`, the others by `within`, or by `form`, too."""
        within = within or form
        return f"{form(self.value)} ({within(self.low)} to {within(self.high)})"


def median(values: Sequence[float] | None) -> float | None:
    """Of one value a round; None where nothing was measured."""
    return statistics.median(values) if values else None


def median_and_range(values: Sequence[float]) -> Estimate:
    """Of one value a round. Raises statistics.StatisticsError without any."""
    return Estimate(statistics.median(values), min(values), max(values))


@dataclass(frozen=True)
class Spread:
    """Median and quartiles of samples."""

    median: float
    low: float
    high: float
    count: int


def spread(samples: Sequence[float]) -> Spread:
    """Quartiles by linear interpolation. Raises ValueError without samples."""
    if not samples:
        raise ValueError("no samples")
    if len(samples) == 1:
        return Spread(samples[0], samples[0], samples[0], 1)
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return Spread(middle, low, high, len(samples))


def drawn_again(figure: Callable[[Sequence[int]], float | None], rounds: int) -> Estimate | None:
    """A figure of several rounds, and from the least to the most of what it would be if other rounds had come: of as
    many, drawn from these with repetition (the bootstrap: Efron and Tibshirani, An Introduction to the Bootstrap, 6).

    `figure` gets the rounds' numbers, and gives None where these have no such figure. None where all have none. Of
    the draws the outermost twentieths count as luck, at each side; the figure itself does not.
    """
    value = figure(range(rounds))
    if value is None:
        return None
    draw = random.Random(_SEED)
    others = (figure([draw.randrange(rounds) for _ in range(rounds)]) for _ in range(_DRAWS if rounds > 1 else 0))
    known = sorted(one for one in others if one is not None)
    outer = len(known) // 20
    inner = known[outer : len(known) - outer]
    return Estimate(value, min([value, *inner]), max([value, *inner]))


def _student_coverage(angle: float, freedom: int) -> float:
    """The probability of |t| below tan(angle) sqrt(freedom) (Abramowitz and Stegun, 26.7.3 and 26.7.4)."""
    cosine = math.cos(angle)
    odd = freedom % 2
    term, total = (cosine if odd else 1.0), 0.0
    for k in range(1 + odd, freedom, 2):
        total += term
        term *= k / (k + 1) * cosine * cosine
    total *= math.sin(angle)
    return 2 / math.pi * (angle + total) if odd else total


def student_quantile(coverage: float, freedom: int) -> float:
    """The t that |t| stays below with this probability, for so many degrees of freedom, at least one."""
    low, high = 0.0, math.pi / 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if _student_coverage(middle, freedom) < coverage else (low, middle)
    return math.tan(low) * math.sqrt(freedom)


def mean_of_few(values: Sequence[float], chosen_among: int = 1) -> Estimate | None:
    """The mean, and its interval by Student's t: the true one is above the upper end with 5 % at most, and so below
    the lower end, for all of the `chosen_among` configurations of which this one was chosen (Bonferroni). None with
    fewer than two values."""
    if len(values) < 2:
        return None
    mean = statistics.fmean(values)
    error = statistics.stdev(values) / math.sqrt(len(values))
    apart = error * student_quantile(1 - 2 * 0.05 / max(1, chosen_among), len(values) - 1)
    return Estimate(mean, mean - apart, mean + apart)


def mean_ratio(ratios: Sequence[float], chosen_among: int = 1) -> Estimate | None:
    """The geometric mean of the rounds' ratios, and its interval: that of their logarithms' mean. None with fewer than
    two rounds, or a ratio that is not positive."""
    if len(ratios) < 2 or min(ratios) <= 0:
        return None
    known = mean_of_few([math.log(one) for one in ratios], chosen_among)
    return known and Estimate(math.exp(known.value), math.exp(known.low), math.exp(known.high))
