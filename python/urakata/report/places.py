# SPDX-License-Identifier: BSD-3-Clause
"""Turns addresses of code into file:line, or a symbol, or module+offset, whichever is the best known."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

Place = tuple[str, int]  # module, offset of the return address


def _lines(module: str, offsets: list[int]) -> list[str]:
    """addr2line's answers, empty where it knows none."""
    tool = shutil.which("addr2line")
    if tool is None or not Path(module).is_file():
        return [""] * len(offsets)
    # A return address may belong to the next line already: the byte before it is the call's.
    asked = [hex(offset - 1) for offset in offsets]
    try:
        done = subprocess.run(
            [tool, "-e", module, *asked], capture_output=True, text=True, check=False, timeout=60, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired):
        return [""] * len(offsets)
    answers = [line.split(" (discriminator", 1)[0] for line in done.stdout.splitlines()]
    if done.returncode != 0 or len(answers) != len(offsets):
        return [""] * len(offsets)
    return ["" if line.startswith("??") or line.endswith((":?", ":0")) else line for line in answers]


def _fallback(site: Mapping[str, Any]) -> str:
    if site["symbol"]:
        return f"{site['symbol']}+0x{site['symbol_offset']:x}"
    if site["module"]:
        return f"{Path(site['module']).name}+0x{site['offset']:x}"
    return "(unknown place)"


def place_of(site: Mapping[str, Any], names: Mapping[Place, str]) -> str:
    """The line of the Python program, or what resolve() found."""
    if python := site.get("python"):
        return f"{python['file']}:{python['line']} in {python['function']}"
    return names[site["module"], site["offset"]]


def resolve(sites: Iterable[Mapping[str, Any]]) -> dict[Place, str]:
    """The name of every site's place in compiled code; each module is asked once."""
    by_module: dict[str, dict[int, Mapping[str, Any]]] = {}
    for site in sites:
        if "python" in site:
            continue
        by_module.setdefault(site["module"], {})[site["offset"]] = site
    names: dict[Place, str] = {}
    for module, places in by_module.items():
        offsets = sorted(places)
        for offset, line in zip(offsets, _lines(module, offsets), strict=True):
            names[module, offset] = line or _fallback(places[offset])
    return names
