# SPDX-License-Identifier: BSD-3-Clause
"""Every source file names its licence: in its first two lines, an example in its last, so that line numbers stay."""

from __future__ import annotations

import re
import subprocess

import pytest

from urakata import paths

LINE = re.compile(r"(//|/\*|#|!) SPDX-License-Identifier: BSD-3-Clause( \*/)?")
SOURCE = re.compile(
    r"\.(c|cpp|hpp|h|inc|S|map|pml|f|f90|py|sh|cmake|in|bash|fish)$"
    r"|(^|/)(CMakeLists\.txt|_urakata|postrm|modulefile|commit-msg|dev)$|^\.ci/run$"
)


def test_every_source_file_names_its_licence() -> None:
    tree = paths.source_tree()
    if tree is None or not (tree / ".git").exists():
        pytest.skip("this is no clone")
    assert (tree / "LICENSE").read_text().startswith("BSD 3-Clause License")
    listed = subprocess.run(["git", "-C", tree, "ls-files"], capture_output=True, text=True, check=True).stdout
    sources = [name for name in listed.splitlines() if SOURCE.search(name) and (tree / name).is_file()]
    without = []
    for name in sources:
        lines = (tree / name).read_text().splitlines()
        here = lines[-1:] if name.startswith("examples/") else lines[:2]
        if not any(LINE.fullmatch(line) for line in here):
            without.append(name)
    assert len(sources) > 1000 and without == []
