# SPDX-License-Identifier: BSD-3-Clause
"""The reference of options and costs, from what `urakata-exec --info --json` says of its tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import rst

_HEAD = """
An option is set in the environment (``URAKATA_ENGINE=poll``), by ``--set ENGINE=poll`` of ``urakata run`` and
``urakata-exec``, by ``--engine poll`` of ``urakata-exec``, or in a TOML file (``engine = "poll"``). The command line
comes before the environment, the environment before the file. ``urakata check --options`` shows the values in force.
Those for experts are shown with ``--expert`` only, by ``urakata check --options`` and by ``urakata-exec --help``.
"""

_LEVELS = {"basic": "Basic", "advanced": "Advanced", "test": "For tests", "expert": "For experts"}

_COSTS = """
Numbers by which Urakata chooses algorithms. Option ``COSTS`` sets them: a TOML file, or ``name=value,...``.
``urakata check --options --expert`` shows those in force.
"""


def _option(option: dict[str, Any]) -> str:
    unit = f" {option['unit']}" if option["unit"] else ""
    default = f"``{option['default']}``{unit}" if option["default"] else "empty"
    return rst.described(
        "envvar",
        [option["variable"]],
        f"{rst.escaped(option['sentence'])}.\n\nValues: {rst.escaped(option['valid'])}. Default: {default}.",
    )


def _cost(cost: dict[str, Any]) -> str:
    cells = (f"``{cost['name']}``", f"{cost['default']:.15g} {cost['unit']}", cost["sentence"], cost["measured"])
    plain = [cells[0], *map(rst.escaped, cells[1:])]
    return "   * - " + "\n     - ".join(plain)


def reference(options: list[dict[str, Any]]) -> Iterator[str]:
    yield rst.title("Options")
    yield _HEAD.strip()
    for level, name in _LEVELS.items():
        yield rst.title(name, "-")
        yield from (_option(option) for option in options if option["level"] == level)
    costs = [cost for option in options for cost in option.get("costs", [])]
    yield rst.title("Costs", "~")
    yield _COSTS.strip()
    head = ".. list-table::\n   :header-rows: 1\n   :widths: 20 15 40 25\n"
    columns = "   * - Name\n     - Default\n     - Meaning\n     - Measured by"
    yield "\n".join([head, columns, *map(_cost, costs)])
