# SPDX-License-Identifier: BSD-3-Clause
"""What a number was measured on; it stands beside every result, since numbers of two machines are never compared."""

from __future__ import annotations

import subprocess

from urakata import paths
from urakata.measure.machine import Machine


def _from_cache(key: str) -> str:
    cache = paths.prefix() / "CMakeCache.txt"
    if cache.is_file():
        for line in cache.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(f"{key}:"):
                return line.partition("=")[2].strip()
    return ""


def _commit() -> str:
    """Of the source tree that was built; empty where there is none, or no git."""
    source = _from_cache("CMAKE_HOME_DIRECTORY")
    command = ["git", "-C", source, "describe", "--always", "--dirty", "--abbrev=8"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, timeout=10, check=False)
    except OSError:
        return ""
    return asked.stdout.strip() if source and asked.returncode == 0 else ""


def describe_build() -> dict[str, str]:
    """What was built, and how."""
    return {
        "commit": _commit(),
        "build_type": _from_cache("CMAKE_BUILD_TYPE"),
        "flags": _from_cache("CMAKE_CXX_FLAGS"),
    }


def warnings(machine: Machine, build: dict[str, str]) -> list[str]:
    """What about the machine or the build makes the numbers doubtful."""
    found = machine.warnings()
    if build["build_type"] == "Debug" or "sanitize" in build["flags"]:
        found.append("Urakata was built for debugging or with sanitizers: these numbers say nothing about its speed")
    return found
