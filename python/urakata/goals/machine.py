"""What a number was measured on; it stands beside every result, since numbers of two machines are never compared."""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any

from urakata import launcher, paths


def _cpu() -> str:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def _from_cache(key: str) -> str:
    cache = paths.prefix() / "CMakeCache.txt"
    if cache.is_file():
        for line in cache.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(f"{key}:"):
                return line.partition("=")[2].strip()
    return ""


def describe() -> dict[str, Any]:
    """Processor, cores, load, kernel and how Urakata was built."""
    return {
        "cpu": _cpu(),
        "cores": launcher.usable_cores(),
        "load": round(os.getloadavg()[0], 2),
        "kernel": platform.release(),
        "build_type": _from_cache("CMAKE_BUILD_TYPE"),
        "flags": _from_cache("CMAKE_CXX_FLAGS"),
    }


def warnings(machine: dict[str, Any]) -> list[str]:
    """What about the machine or the build makes the numbers doubtful."""
    found = []
    if machine["build_type"] == "Debug" or "sanitize" in machine["flags"]:
        found.append("Urakata was built for debugging or with sanitizers: these numbers say nothing about its speed")
    if machine["load"] > 0.5 * machine["cores"]:
        found.append(f"the machine is busy with something else (load {machine['load']:g}): expect noise")
    return found
