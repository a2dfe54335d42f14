# SPDX-License-Identifier: BSD-3-Clause
"""The protocol of a neighbourhood channel in the model checker spin: every interleaving of three exchanges."""

from __future__ import annotations

from pathlib import Path

import pytest
from spin import NEEDS_SPIN, errors_of

MODEL = Path(__file__).with_name("halo.pml")

pytestmark = NEEDS_SPIN

# Channels as pairs of sender and receiver.
PAIR = [(0, 1), (1, 0)]
ONE_WAY = [(0, 1)]
TWICE_ONE_WAY = [(0, 1), (0, 1)]
CHAIN = [(0, 1), (1, 0), (1, 2), (2, 1)]
ONE_WAY_CHAIN = [(0, 1), (1, 2)]
ONE_WAY_RING = [(0, 1), (1, 2), (2, 0)]
MIXED = [(0, 1), (1, 0), (1, 2)]


KINDS = ("IN_SLOT", "BOUNCE", "RENDEZVOUS")


def check(
    folder: Path, channels: list[tuple[int, int]], buffers: int = 2, credits: bool = True, kind: str | None = None
) -> tuple[int, str]:
    """The errors that spin finds, and its output. Without `credits`, one-way channels count as symmetric. With `kind`,
    all payloads take that way."""
    one_way = [int(credits and (to, of) not in channels) for of, to in channels]
    return errors_of(
        folder,
        f"#define RANKS {1 + max(max(channel) for channel in channels)}\n"
        f"#define CHANNELS {len(channels)}\n"
        f"#define BUFFERS {buffers}\n"
        f"#define FROM(e) {nested([of for of, _ in channels])}\n"
        f"#define TO(e) {nested([to for _, to in channels])}\n"
        f"#define CREDIT(e) {nested(one_way)}\n" + (f"#define KIND {kind}\n" if kind else "") + MODEL.read_text(),
    )


def nested(values: list[int]) -> str:
    """The value at place e, as an expression of Promela's."""
    expression = str(values[-1])
    for place in range(len(values) - 2, -1, -1):
        expression = f"((e) == {place} -> {values[place]} : {expression})"
    return expression


@pytest.mark.parametrize(
    "channels",
    [PAIR, ONE_WAY, TWICE_ONE_WAY, CHAIN, ONE_WAY_CHAIN, ONE_WAY_RING, MIXED],
    ids=["pair", "one_way", "twice_one_way", "chain", "one_way_chain", "one_way_ring", "mixed"],
)
def test_two_buffers_are_enough(tmp_path: Path, channels: list[tuple[int, int]]) -> None:
    errors, _ = check(tmp_path, channels)
    assert errors == 0


def is_caught(errors: int, said: str) -> None:
    """spin found a wrong step, or ranks that wait for ever."""
    assert errors == 1
    assert "assertion violated" in said or "invalid end state" in said.splitlines()[0]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "channels", [PAIR, ONE_WAY, CHAIN, ONE_WAY_RING], ids=["pair", "one_way", "chain", "one_way_ring"]
)
def test_one_buffer_is_caught(tmp_path: Path, channels: list[tuple[int, int]], kind: str) -> None:
    is_caught(*check(tmp_path, channels, buffers=1, kind=kind))


@pytest.mark.parametrize("kind", ("IN_SLOT", "BOUNCE"))
def test_a_one_way_channel_without_credit_is_caught(tmp_path: Path, kind: str) -> None:
    is_caught(*check(tmp_path, ONE_WAY, credits=False, kind=kind))


def test_a_rendezvous_needs_no_credit(tmp_path: Path) -> None:
    """The sender completes an exchange only after the receiver has begun it, too."""
    errors, _ = check(tmp_path, ONE_WAY, credits=False, kind="RENDEZVOUS")
    assert errors == 0
