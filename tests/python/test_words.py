# SPDX-License-Identifier: BSD-3-Clause
"""Names that were ours alone and have given way to terms of the field stay away: "a conduit" is "a channel set"."""

from __future__ import annotations

import re
import subprocess

import pytest

from urakata import paths

RETIRED = {
    r"conduits?": "channel set",
    r"byte[ _]codes?": "eBPF code",
    r"circles?": "endpoint communicator",
    r"delegates?": "site leader",
    r"exchange plans?": "channels",
    r"host MPIs?": "MPI library",
    r"intercept(?:s|ed|ing)?": "handle",
    r"landing[ _]places?": "bounce buffer",
    r"promises\.md": "performance-targets.md",
    r"put[ _]lines?": "mailbox slot",
    r"ready[ _]marks?": "ready flag",
    r"stand[-_]ins?": "proxy process",
    r"territor(?:y|ies)": "address range",
    r"urakata[- ]keeper": "urakata-spaced",
}
"""What nobody outside of this tree would understand, and the term to use. CHANGELOG.md may name what has changed."""
TEXT = re.compile(r"\.(?:c|cpp|hpp|h|inc|S|map|pml|f|f90|py|sh|cmake|in|toml|md|txt)$|^dev$")
EXEMPT = ("CHANGELOG.md", "tests/python/test_words.py")


def retired(text: str) -> list[str]:
    """LINE: WORD (say TERM) for each retired word, also inside of an identifier."""
    return [
        f"{number}: {found[0]} (say {term})"
        for number, line in enumerate(text.splitlines(), 1)
        for word, term in RETIRED.items()
        if (found := re.search(rf"(?<![a-z]){word}(?![a-z])", line, re.IGNORECASE))
    ]


def test_retired_words_are_found() -> None:
    assert retired("int x;\nlong conduit_count;  // of Conduits") == ["2: conduit (say channel set)"]
    assert retired("a territorial delegated byte") == []


def test_no_retired_word_comes_back() -> None:
    tree = paths.source_tree()
    if tree is None or not (tree / ".git").exists():
        pytest.skip("this is no clone")
    listed = subprocess.run(["git", "-C", tree, "ls-files"], capture_output=True, text=True, check=True).stdout
    names = [
        name for name in listed.splitlines() if TEXT.search(name) and name not in EXEMPT and (tree / name).is_file()
    ]
    assert len(names) > 1000
    assert [f"{name}:{found}" for name in names for found in retired((tree / name).read_text())] == []
