# SPDX-License-Identifier: BSD-3-Clause
"""The decisions in docs/design: the four headings, and an index that has them all."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TREE = Path(__file__).resolve().parents[2]
DESIGN = TREE / "docs" / "design"
DECISIONS = sorted((DESIGN / "decisions").glob("0*.md"))
HEADINGS = ["Context", "Decision", "Consequences", "Status"]


def name(page: Path) -> str:
    return str(page.relative_to(DESIGN))


def test_decisions_are_numbered_without_a_gap() -> None:
    assert [int(page.name[:4]) for page in DECISIONS] == list(range(1, len(DECISIONS) + 1))


@pytest.mark.parametrize("page", DECISIONS, ids=name)
def test_a_decision_has_its_headings(page: Path) -> None:
    lines = page.read_text().splitlines()
    assert lines[0].startswith(f"# {int(page.name[:4])}. ")
    assert [line[3:] for line in lines if line.startswith("## ")] == HEADINGS


def test_the_index_has_each_decision_with_its_title() -> None:
    listed = re.findall(r"^\| (\d+) \| \[(.+)\]\((.+)\) \|", (DESIGN / "decisions" / "README.md").read_text(), re.M)
    titles = [page.read_text().splitlines()[0].split(". ", 1)[1] for page in DECISIONS]
    assert listed == [
        (str(number), title, page.name) for number, (page, title) in enumerate(zip(DECISIONS, titles, strict=True), 1)
    ]
