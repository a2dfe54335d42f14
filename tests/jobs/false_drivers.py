# SPDX-License-Identifier: BSD-3-Clause
"""Drivers of false devices (false_driver.c), for the tests in this folder."""

from __future__ import annotations

import subprocess
from pathlib import Path

from jobs import source_of

LIBRARIES = {"CUDA": "libcuda.so.1", "HIP": "libamdhip64.so.6", "LEVEL_ZERO": "libze_loader.so.1"}


def driver(folder: Path, face: str, *more: str) -> str:
    """The path of the driver of that kind; `more`: what else is defined when it is compiled."""
    target = folder.joinpath(*more) / LIBRARIES[face]
    if not target.exists():
        target.parent.mkdir(exist_ok=True)
        flags = ["-shared", "-fPIC", "-O1", "-g", "-fvisibility=hidden", "-pthread", f"-DFACE={face}"]
        flags += [f"-D{word}" for word in more]
        subprocess.run(["cc", *flags, str(source_of("false_driver.c")), "-o", str(target)], check=True)
    return str(target)
