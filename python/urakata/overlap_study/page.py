# SPDX-License-Identifier: BSD-3-Clause
"""The study as one HTML file that needs nothing else: figures inside, no script, no address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from urakata.measure.page import gallery, write_page
from urakata.measure.plots import Drawing
from urakata.overlap_study import measures
from urakata.overlap_study.configuration import ENGINES
from urakata.overlap_study.results import Results
from urakata.overlap_study.tables import all_details, choice, summary

_MEASURES = {
    "hidden": measures.HIDDEN_TEXT,
    "theft": measures.THEFT_TEXT,
    "limit": measures.LIMIT_TEXT,
    "Tcpu": measures.TCPU_TEXT,
    "OSU": measures.OSU_TEXT,
    "IMB": measures.IMB_TEXT,
}


def write_study(
    document: dict[str, Any],
    results: Results,
    figures: dict[tuple[str, str], list[Drawing]],
    path: Path,
) -> None:
    """`document` is what goes to overlap.json, with its machine, settings, warnings, refused and failed."""
    parts = [
        {
            "title": f"MPI_{operation.capitalize()}, computation: {kind}",
            "summary": summary(results, operation, kind),
            "figures": gallery(figures[operation, kind]),
            "details": all_details(results, operation, kind),
        }
        for operation, kind in results.panels()
    ]
    used = list(dict.fromkeys(one.engine for one in results.configurations()))
    write_page(
        path,
        "urakata.overlap_study",
        "overlap.html.j2",
        document=document,
        choice=choice(results),
        parts=parts,
        measures=_MEASURES,
        engines={name: ENGINES[name] for name in used},
    )
