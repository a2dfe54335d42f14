# SPDX-License-Identifier: BSD-3-Clause
"""The command under a Python that lacks what it needs: one line that names it, and how to get it."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import urakata

PACKAGES = str(Path(urakata.__file__).parents[1])


def told(folder: Path, missing: str, *arguments: str) -> str:
    """What the command says where importing `missing` fails as for a module that is not installed."""
    (folder / "sitecustomize.py").write_text(
        "import sys\n"
        "class Absent:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {missing!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Absent())\n"
    )
    asked = subprocess.run(
        [sys.executable, "-m", "urakata", *arguments],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{folder}:{PACKAGES}"},
        check=False,
    )
    assert asked.returncode == 2, asked
    return asked.stderr


@pytest.mark.parametrize("missing", ["typer", "rich"])
def test_what_is_not_installed_is_named_with_what_to_do(tmp_path: Path, missing: str) -> None:
    said = told(tmp_path, missing, "--version")
    assert len(said.splitlines()) == 1
    assert said.startswith(f"urakata: {sys.executable} has no {missing}. Install it: ")
    assert f"pip install '{missing}>=" in said and "URA_PYTHON" in said


def test_any_other_module_that_is_missing_is_a_fault_of_ours(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['urakata.paths'] = None\n")
    asked = subprocess.run(
        [sys.executable, "-m", "urakata", "--version"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": f"{tmp_path}:{PACKAGES}"},
        check=False,
    )
    assert asked.returncode == 1 and "Traceback" in asked.stderr and "has no" not in asked.stderr


def test_a_command_that_draws_nothing_does_not_load_what_draws() -> None:
    asked = subprocess.run(
        [sys.executable, "-c", "import sys, urakata.cli as cli; cli.build_app(); print('matplotlib' in sys.modules)"],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": PACKAGES},
        check=True,
    )
    assert asked.stdout == "False\n"
