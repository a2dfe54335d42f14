# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of a matched persistent pair in the model checker spin: every interleaving of messages of all kinds."""

from __future__ import annotations

from pathlib import Path

import pytest
from spin import NEEDS_SPIN, errors_of

MODEL = Path(__file__).with_name("pair.pml")

pytestmark = NEEDS_SPIN


def check(folder: Path, sends: int, receives: int, empty_inbox: int = 1, older_first: int = 1) -> tuple[int, str]:
    """The errors that spin finds, and what it says."""
    return errors_of(
        folder,
        f"#define SENDS {sends}\n"
        f"#define RECEIVES {receives}\n"
        f"#define EMPTY_INBOX {empty_inbox}\n"
        f"#define OLDER_FIRST {older_first}\n" + MODEL.read_text(),
    )


@pytest.mark.parametrize(("sends", "receives"), [(4, 4), (5, 3)])
def test_messages_match_in_order(tmp_path: Path, sends: int, receives: int) -> None:
    errors, _ = check(tmp_path, sends, receives)
    assert errors == 0


@pytest.mark.parametrize("without", ["empty_inbox", "older_first"])
def test_puts_out_of_their_place_are_caught(tmp_path: Path, without: str) -> None:
    errors, said = check(tmp_path, 5, 4, **{without: 0})
    assert errors == 1
    assert "assertion violated" in said
