# SPDX-License-Identifier: BSD-3-Clause
"""Runs of Debian's spin over a model."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

NEEDS_SPIN = pytest.mark.skipif(
    shutil.which("spin") is None or shutil.which("cc") is None,
    reason="needs the model checker spin (Debian's package spin) and a C compiler",
)


def errors_of(folder: Path, text: str, kind: str = "-DSAFETY", timeout: float = 200) -> tuple[int, str]:
    """The errors that spin finds in the model, and what it says. `kind`: of pan.c's; -DNP looks for runs that go round
    and round."""
    (folder / "model.pml").write_text(text)
    subprocess.run(["spin", "-a", "model.pml"], cwd=folder, check=True, capture_output=True, text=True)
    subprocess.run(["cc", "-O2", "-w", kind, "-DCOLLAPSE", "-o", "pan", "pan.c"], cwd=folder, check=True)
    words = ["./pan", "-m100000", *(["-l"] if kind == "-DNP" else [])]
    said = subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True, timeout=timeout).stdout
    print(said)
    assert "max search depth too small" not in said
    errors = re.search(r"errors: (\d+)", said)
    assert errors is not None
    return int(errors[1]), said
