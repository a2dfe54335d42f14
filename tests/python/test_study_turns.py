# SPDX-License-Identifier: BSD-3-Clause
"""Jobs of a study in turn, and what becomes of one that fails."""

from __future__ import annotations

from functools import partial

from urakata.measure.rounds import Turn, in_turns
from urakata.measure.running import JobError
from urakata.measure.session import Refused


def test_every_other_round_goes_backwards_and_what_fails_is_not_tried_again() -> None:
    ran: list[str] = []
    shown: list[tuple[str, int]] = []

    def run(name: str) -> None:
        ran.append(name)
        if name == "b" and ran.count("b") == 2:
            raise JobError("it hangs")

    turns = [Turn(name, partial(run, name)) for name in "abc"]
    failed = in_turns(turns, 3, lambda label, done: shown.append((label, done)))
    assert ran == ["a", "b", "c", "c", "b", "a", "a", "c"]
    assert failed == [Refused("b", "it hangs")]
    assert sum(done for _, done in shown) == 9 and shown[-1] == ("round 3: c", 1)
