# SPDX-License-Identifier: BSD-3-Clause
"""Pages that need nothing else: images inside, no script, no address."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, select_autoescape

from urakata.measure.plots import Drawing


def data_uri(path: Path) -> str:
    """A PNG or SVG file as an address that holds it."""
    kind = "svg+xml" if path.suffix == ".svg" else "png"
    return f"data:image/{kind};base64," + base64.b64encode(path.read_bytes()).decode("ascii")


def gallery(drawings: Iterable[Drawing]) -> list[tuple[str, str]]:
    """Titles with images, for the macro of that name."""
    return [(drawing.title, data_uri(drawing.path)) for drawing in drawings]


def write_page(path: Path, package: str, template: str, **values: Any) -> None:
    """Writes a template of the package's folder `templates`, which extends this package's page.html.j2."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("urakata.measure")]),
        autoescape=select_autoescape(["j2"]),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    path.write_text(environment.get_template(template).render(**values), encoding="utf-8")
