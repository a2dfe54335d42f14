# SPDX-License-Identifier: BSD-3-Clause
"""The study as one HTML file that needs nothing else: figures inside, no script, no address."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from urakata.measure.page import data_uri, render
from urakata.overlap_study import measures
from urakata.overlap_study.configuration import ENGINES
from urakata.overlap_study.plots import Figure
from urakata.overlap_study.results import Results
from urakata.overlap_study.tables import choice, details, summary

_MEASURES = {
    "hidden": measures.HIDDEN_TEXT,
    "theft": measures.THEFT_TEXT,
    "limit": measures.LIMIT_TEXT,
    "Tcpu": measures.TCPU_TEXT,
    "OSU": measures.OSU_TEXT,
    "IMB": measures.IMB_TEXT,
}


def write_page(
    document: dict[str, Any],
    results: Results,
    figures: dict[tuple[str, str], list[tuple[Figure, Path]]],
    path: Path,
) -> None:
    """`document` is what goes to overlap.json, with its machine, settings, warnings, refused and failed."""
    parts = [
        {
            "title": f"MPI_{operation.capitalize()}, computation: {kind}",
            "summary": summary(results, operation, kind),
            "figures": [(figure.title, data_uri(image)) for figure, image in figures[operation, kind]],
            "details": [
                details(results, operation, kind, ranks)
                for ranks in sorted(
                    {
                        one.ranks_per_node
                        for one in results.configurations()
                        if (one.operation, one.kind) == (operation, kind)
                    }
                )
            ],
        }
        for operation, kind in results.panels()
    ]
    used = list(dict.fromkeys(one.engine for one in results.configurations()))
    text = render(
        "urakata.overlap_study",
        "overlap.html.j2",
        document=document,
        choice=choice(results),
        parts=parts,
        measures=_MEASURES,
        engines={name: ENGINES[name] for name in used},
    )
    path.write_text(text, encoding="utf-8")
