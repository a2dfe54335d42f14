# SPDX-License-Identifier: BSD-3-Clause
"""The study as one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from urakata.measure.page import gallery, write_page
from urakata.measure.plots import Drawing
from urakata.space_study.part import Part
from urakata.space_study.results import Results


def write_study(
    document: dict[str, Any],
    results: Results,
    drawings: Mapping[str, Sequence[Drawing]],
    parts: Sequence[Part],
    path: Path,
) -> None:
    """`document` is what goes to space.json; `drawings` are those of each part by its name."""
    shown = []
    for part in parts:
        tables = part.tables(results)
        if tables:
            figures = gallery(drawings[part.name])
            shown.append({"part": part, "summary": tables[0], "details": tables[1:], "figures": figures})
    write_page(path, "urakata.space_study", "space.html.j2", document=document, parts=shown)
