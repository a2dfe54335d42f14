# SPDX-License-Identifier: BSD-3-Clause
"""One version, in python/urakata/__init__.py: what is built from it says the same, and so do the texts that name it."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

import urakata
from urakata import paths

NAMED = re.compile(r"\burakata[ @](\d+\.\d+\.\d+)")


@pytest.fixture(scope="module")
def tree() -> Path:
    return paths.source_tree() or pytest.skip("this is no source tree")


def test_texts_name_the_version_of_the_package(tree: Path) -> None:
    changes = re.search(r"^## (\S+), ", (tree / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert changes and changes[1] == urakata.__version__
    pages = [tree / "README.md", *sorted((tree / "docs").rglob("*.md"))]
    named = {(page.name, version) for page in pages for version in NAMED.findall(page.read_text())}
    assert {version for _, version in named} <= {urakata.__version__}, named


def test_no_build_file_has_a_version_of_its_own(tree: Path) -> None:
    for name in ("CMakeLists.txt", "pyproject.toml"):
        text = (tree / name).read_text()
        assert "python/urakata/__init__.py" in text and urakata.__version__ not in text, name


def test_what_is_built_says_it() -> None:
    try:
        program = paths.program("urakata-exec")
    except paths.NotFoundError as reason:
        pytest.skip(str(reason))
    said = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    assert said == f"urakata-exec {urakata.__version__}\n"
    for page in (paths.prefix() / "share" / "man" / "man1").glob("*.1"):
        assert f'"Urakata {urakata.__version__}"' in page.read_text().partition("\n")[0], page.name
