"""The few statistics that goals use."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from statistics import median

__all__ = ["geometric_mean", "median", "spread"]


def geometric_mean(values: Iterable[float]) -> float:
    """Geometric mean of positive values."""
    logs = [math.log(value) for value in values]
    return math.exp(sum(logs) / len(logs))


def spread(values: Sequence[float]) -> tuple[float, float]:
    """Smallest and largest: what the rounds differed by."""
    return min(values), max(values)
