# SPDX-License-Identifier: BSD-3-Clause
"""Results of the overlap study that nobody measured: 2 x engine, T as given."""

from __future__ import annotations

from typing import Any

from urakata.overlap_study.configuration import Configuration
from urakata.overlap_study.results import Results


def made_up_record(size: int, tw: float, tc: float, t: float, compute: float, **more: Any) -> dict[str, Any]:
    times = {
        "pure": [tc] * 3,
        "pure_init": [1.0] * 3,
        "compute_alone": [tw] * 3,
        "init": [1.0] * 3,
        "compute": [compute] * 3,
        "wait": [max(0.0, t - compute - 1.0)] * 3,
        "overall": [t] * 3,
    }
    progress_thread = {"pure": 0.0, "compute_alone": 0.0, "both": 5.0, "tested": 6.0}
    whole = {
        "bytes": size,
        "work": 1000,
        "wrong_ranks": 0,
        "caller_cpu": 10.0,
        "helper_cpu": progress_thread,
        "samples": times,
    }
    return whole | more


def made_up_results(ranks: tuple[int, ...] = (2,), sizes: tuple[int, ...] = (8, 8192, 65536)) -> Results:
    made = Results()
    for p in ranks:
        for engine, share in (("none", 0.0), ("poll", 0.3), ("spare", 0.95), ("shared", 0.8), ("async", 0.7)):
            one = Configuration("iallgather", "paper", p, max(1, 8 // p - (engine == "spare")), engine)
            for size in sizes:
                tc = (2 + size / 1000) * p * (50 if engine == "async" and size < 8192 else 1)
                tw = 20.0 if size < 8192 else 900.0
                t = tw + tc - share * min(tw, tc)
                made.add(one, made_up_record(size, tw, tc, t, tw * (1 + 0.05 * (engine == "shared")), round=0))
    return made
