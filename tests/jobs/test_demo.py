# SPDX-License-Identifier: BSD-3-Clause
"""What ./dev demo shows, the first command of a newcomer, comes to its end."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
from jobs import named

from urakata import paths


def test_the_demo_trains_reports_and_measures() -> None:
    pytest.importorskip("matplotlib")
    named("openmpi")
    tree = paths.source_tree()
    if tree is None:
        pytest.skip("this is no source tree")
    environment = {**os.environ, "PYTHONPATH": str(tree / "python")}
    line = [sys.executable, str(tree / "examples" / "demo.py")]
    shown = subprocess.run(line, env=environment, capture_output=True, text=True, check=False, timeout=600)
    assert shown.returncode == 0, shown.stdout[-2000:] + shown.stderr[-4000:]
    assert "under Urakata" in shown.stdout and "The overlap benchmark" in shown.stdout and "Plots:" in shown.stdout
