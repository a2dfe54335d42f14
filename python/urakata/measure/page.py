# SPDX-License-Identifier: BSD-3-Clause
"""Pages that need nothing else: images inside, no script, no address."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

from jinja2 import ChoiceLoader, Environment, PackageLoader, select_autoescape


def data_uri(path: Path) -> str:
    """A PNG or SVG file as an address that holds it."""
    kind = "svg+xml" if path.suffix == ".svg" else "png"
    return f"data:image/{kind};base64," + base64.b64encode(path.read_bytes()).decode("ascii")


def render(package: str, template: str, **values: Any) -> str:
    """A template of the package's folder `templates`, with the macros and style of this package's."""
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(package), PackageLoader("urakata.measure")]),
        autoescape=select_autoescape(["j2"]),
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template(template).render(**values)
