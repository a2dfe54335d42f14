# SPDX-License-Identifier: BSD-3-Clause
"""Messages over several lanes and their relay, by the model checker spin: every interleaving, with lanes lost."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from spin import NEEDS_SPIN, errors_of

MODEL = Path(__file__).with_name("relay.pml")
FULL = os.environ.get("URAKATA_TEST_FULL") == "1"

pytestmark = NEEDS_SPIN

# Two messages of two pieces through room for one; the second piece of each waits for lane_go.
SETTINGS = {"LANES": 2, "LOSSES": 2, "MESSAGES": 2, "PIECES": 2, "PUSH": 1, "KEPT": 1, "INBOX": 1}
GUARDS = ("TELL_AGAIN", "DIVERT", "KEEP", "WAIT_FOR_ROOM", "ANSWER")


def check(folder: Path, kind: str = "-DSAFETY", without: str = "", **settings: int) -> tuple[int, str]:
    """The errors that spin finds, and what it says; `without` one of the guards. `kind`: of pan.c's; -DNP looks for
    runs that go round and round."""
    defined = {**SETTINGS, **settings, **{guard: int(guard != without) for guard in GUARDS}}
    text = "".join(f"#define {name} {value}\n" for name, value in defined.items()) + MODEL.read_text()
    return errors_of(folder, text, kind, timeout=600)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"PIECES": 3, "KEPT": 2, "LOSSES": 1},
        {"MESSAGES": 1, "PIECES": 3, "PUSH": 2, "KEPT": 0, "LOSSES": 3},
        {"LANES": 3, "MESSAGES": 1},
        pytest.param(
            {"MESSAGES": 3, "INBOX": 2, "LOSSES": 1},
            marks=pytest.mark.skipif(not FULL, reason="takes a minute: URAKATA_TEST_FULL=1"),
        ),
    ],
    ids=["relay", "three_pieces", "three_losses", "three_lanes", "three_messages"],
)
def test_messages_come_whole_and_once(tmp_path: Path, settings: dict[str, int]) -> None:
    errors, _ = check(tmp_path, **settings)
    assert errors == 0


def test_nothing_goes_round_and_round(tmp_path: Path) -> None:
    errors, said = check(tmp_path, kind="-DNP", LOSSES=1)
    assert errors == 0
    assert "non-progress cycles" in said


@pytest.mark.parametrize(
    ("guard", "told"),
    [
        ("TELL_AGAIN", "invalid end state"),  # the sender waits for ever
        ("DIVERT", "assertion violated"),
        ("KEEP", "assertion violated"),
        ("WAIT_FOR_ROOM", "assertion violated"),
        ("ANSWER", "invalid end state"),
    ],
)
def test_a_guard_left_out_is_caught(tmp_path: Path, guard: str, told: str) -> None:
    errors, said = check(tmp_path, without=guard)
    assert errors == 1
    assert told in said
