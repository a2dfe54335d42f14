# SPDX-License-Identifier: BSD-3-Clause
"""What was hidden, and what it cost. All functions are pure; times are in one unit, whichever.

`tw` is the computation alone, `tc` the communication alone, `t` both together with the communication started first,
`tcpu` the CPU time that communication alone uses on the computing core. docs/design/how-we-measure.md defines the
measures.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable

OSU_TEXT = "max(0, 100 (1 - (overall - compute) / pure)), compute being the compute part of the overlapped turn"
IMB_TEXT = (
    "100 max(0, min(1, (pure + cpu - overlapped) / max(pure, cpu))), cpu being the computation alone; "
    "so in IMB's code, while its manual divides by min(pure, cpu), which is `hidden`"
)
HIDDEN_TEXT = "(Tw + Tc - T) / min(Tw, Tc), clipped to 0..1"
THEFT_TEXT = "(time of the compute part inside T - Tw) / Tw"
LIMIT_TEXT = "max(Tc, Tw + Tcpu): the best possible T, as bytes that a core must copy cannot be hidden on that core"
TCPU_TEXT = (
    "the caller's CPU time from start to completion when it tests and sleeps in turn, less what as many tests cost "
    "that find nothing; plus the progress thread's CPU time where it shares the computing cores; at most Tc"
)


def hidden(tw: float, tc: float, t: float) -> float:
    """The share of the shorter part that disappeared behind the other: 0 for one after the other, 1 for all of it."""
    shorter = min(tw, tc)
    return min(1.0, max(0.0, (tw + tc - t) / shorter)) if shorter > 0 else 0.0


def theft(tw: float, compute_inside: float) -> float:
    """By how much the computation took longer for the communication beside it; negative where it was faster."""
    return (compute_inside - tw) / tw if tw > 0 else 0.0


def limit(tw: float, tc: float, tcpu: float) -> float:
    """The shortest T that is possible: see LIMIT_TEXT."""
    return max(tc, tw + min(tcpu, tc))


def osu_overlap(pure: float, compute_inside: float, overall: float) -> float:
    """OSU's overlap in per cent: see OSU_TEXT. A computation that was slowed down does not show in it."""
    return max(0.0, 100.0 * (1.0 - (overall - compute_inside) / pure)) if pure > 0 else 0.0


def imb_overlap(pure: float, cpu: float, overlapped: float) -> float:
    """IMB's overlap in per cent: see IMB_TEXT."""
    longer = max(pure, cpu)
    return 100.0 * max(0.0, min(1.0, (pure + cpu - overlapped) / longer)) if longer > 0 else 0.0


def geometric_mean(ratios: Iterable[float]) -> float:
    """NaN where there is none or one is not positive."""
    values = list(ratios)
    if not values or min(values) <= 0:
        return math.nan
    return statistics.geometric_mean(values)
