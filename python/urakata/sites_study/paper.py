# SPDX-License-Identifier: BSD-3-Clause
"""The paper's model of scatter and gather between two sites (Chiba, Endo, Matsuoka), to stand beside ours.

T_L(P) = L + x M / b_L(P) + y M / B + alpha, x = P_max / P + P_max % P, x + y = n_0 + n_1 - 1: with P lanes,
P_max = max(n_0, n_1), delay L, b_L(P) the rate of one lane while P run, B the rate inside a site and M bytes for each
process. There what crosses and what is handed out follow each other; ours (src/lanes/model.hpp) has them go on at the
same time.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

OPERATIONS = ("scatter", "gather")

_MEGABIT = 125e3  # bytes/s
_INSIDE = 125e6  # bytes/s, where it is not known; as in ours
_ALPHA = 200e-6  # s; a hop of ours


def seconds(link: Mapping[str, Any], sizes: tuple[int, int], lanes: int, streams: int, block: float) -> float:
    """T_L(P). `link`: as the report has it; `sizes`: processes of the two sites; `streams`: connections of a lane;
    `block`: M."""
    most = max(sizes)
    crossing = most // lanes + most % lanes
    inside = sum(sizes) - 1 - crossing
    stream, pair, whole = (link[f"{name}_mbit"] * _MEGABIT for name in ("stream", "pair", "link"))
    lane = min(streams * stream, pair, whole / lanes)
    within = link["inside_mbit"] * _MEGABIT or _INSIDE
    return float(link["delay_ms"] * 1e-3 + crossing * block / lane + inside * block / within + _ALPHA)


_CHOSEN = re.compile(r"lanes (\d+), S=(\d+)")


def predicted_us(record: Mapping[str, Any], home: int, chosen: str, links: list[Mapping[str, Any]]) -> float | None:
    """Of a record of bench/sites with `home` ranks at the root's site, by lanes as results.chosen() says. None: it is
    no operation of the paper, no link was measured, or there are several."""
    found = _CHOSEN.fullmatch(chosen)
    if record["operation"] not in OPERATIONS or found is None or len(links) != 1:
        return None
    sizes = (home, record["ranks"] - home)
    block = record["bytes"] / record["ranks"]
    return seconds(links[0], sizes, int(found[1]), int(found[2]), block) * 1e6
