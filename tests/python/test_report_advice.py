# SPDX-License-Identifier: BSD-3-Clause
"""Advice: who follows it does not get it again."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from itertools import product

import pytest

from urakata.report.advice import ALSO_LATE, BLOCKING, LATE, LEAVE, LITTLE, SHARED_COST, Facts, advise

COMPUTES = Facts("poll", {"ENGINE": "poll"}, waits=10, gap=1e6, wait=5e5, late=0.0, hidden=0.0)
THREAD = {"ENGINE": "thread", "PLACEMENT": "auto"}


# What is followed, and what a run may then be like.
def with_thread(facts: Facts, engine: str) -> Facts:
    return replace(facts, asked={**facts.asked, "ENGINE": "thread"}, engine=engine)


FOLLOWED: list[tuple[str, str, Callable[[Facts], Facts]]] = [
    ("--engine thread", "poll", lambda f: with_thread(f, "poll")),
    ("--engine thread", "thread/shared", lambda f: with_thread(f, "thread/shared")),
    ("--engine thread", "thread/spare", lambda f: with_thread(f, "thread/spare")),
    ("--engine poll", "poll", lambda f: replace(f, asked={"ENGINE": "poll"}, engine="poll")),
    (
        "--placement shared",
        "thread/shared",
        lambda f: replace(f, asked={**f.asked, "PLACEMENT": "shared"}, engine="thread/shared"),
    ),
    ("--placement shared", "poll", lambda f: replace(f, asked={**f.asked, "PLACEMENT": "shared"})),
    ("URAKATA_ALGORITHM", "", lambda f: replace(f, asked={**f.asked, "ALGORITHM": "ring"})),
    ("a core is spare", "thread/spare", lambda f: replace(f, engine="thread/spare")),
]


@pytest.mark.parametrize("engine", ["native", "poll", "thread/shared", "thread/spare"])
@pytest.mark.parametrize(
    "asked", [{"ENGINE": "poll"}, THREAD, {**THREAD, "PLACEMENT": "shared"}, {**THREAD, "PLACEMENT": "spare"}]
)
@pytest.mark.parametrize("gap", [1e3, 1e6])
@pytest.mark.parametrize("hidden", [None, 0.0, 0.9])
@pytest.mark.parametrize("late", [None, 0.0, 2e5, 3e5, 4.9e5])
def test_no_advice_leads_back_to_itself(
    engine: str, asked: dict[str, str], gap: float, hidden: float | None, late: float | None
) -> None:
    first = Facts(engine, asked, waits=10, gap=gap, wait=5e5, late=late, hidden=hidden)
    text = advise(first)
    for words, _, follow in FOLLOWED:
        if words in text:
            assert words not in advise(follow(first)), (text, advise(follow(first)))


def test_every_switch_that_is_named_is_followed_above() -> None:
    named = set()
    for engine in ("native", "poll", "thread/shared", "thread/spare"):
        for asked in ({"ENGINE": "poll"}, THREAD, {**THREAD, "PLACEMENT": "shared"}):
            for gap in (1e3, 1e6):
                text = advise(Facts(engine, asked, waits=10, gap=gap, wait=5e5, late=0.0, hidden=0.0))
                named |= set(re.findall(r"--\w+ \w+|URAKATA_\w+|a core is spare", text))
    assert named == {words for words, _, _ in FOLLOWED}


def test_thread_without_a_progress_thread_is_told_of_placement_shared_and_its_cost() -> None:
    text = advise(replace(COMPUTES, asked=THREAD))
    assert "--placement shared" in text
    assert SHARED_COST in text
    assert "--engine thread" not in text


@pytest.mark.parametrize("engine", ["poll", "thread/shared", "thread/spare"])
def test_late_ranks_are_not_the_engines_matter(engine: str) -> None:
    assert advise(replace(COMPUTES, engine=engine, late=4e5)) == LATE


def test_lateness_is_no_waiting_that_an_engine_could_hide() -> None:
    """1 ms of computation behind each Iallreduce, one rank 50 ms late in every twentieth."""
    facts = replace(COMPUTES, gap=1.6e6, wait=3.2e6, late=1.5e6)
    text = advise(facts)
    assert LITTLE not in text
    assert "yes: run with --engine thread. 1700 us of waiting could be hidden behind 1600 us of computing" in text
    assert text.endswith(f". 1500 us {ALSO_LATE}")
    assert advise(replace(facts, engine="thread/spare", hidden=0.9)) == f"{LEAVE}. 1500 us {ALSO_LATE}"
    assert advise(replace(facts, gap=1e5)) == f"{LITTLE}. 1500 us {ALSO_LATE}"


@pytest.mark.parametrize("engine", ["poll", "thread/shared", "thread/spare"])
def test_a_blocking_call_is_not_told_to_start_earlier(engine: str) -> None:
    blocking = replace(COMPUTES, engine=engine, gap=0.0, hidden=None, blocking=True)
    assert advise(blocking) == BLOCKING
    assert advise(replace(blocking, late=4e5)) == LATE


def test_a_short_wait_is_left_alone() -> None:
    assert advise(replace(COMPUTES, wait=1e3)) == LEAVE


@pytest.mark.parametrize("algorithm", ("messages", "channels"))
def test_what_no_progress_thread_moves_is_not_told_of_an_engine_alone(algorithm: str) -> None:
    text = advise(replace(COMPUTES, algorithm=algorithm))
    assert "--engine thread and --set NEIGHBORHOOD=schedules" in text
    text = advise(replace(COMPUTES, algorithm=algorithm, asked=THREAD))
    assert "--engine" not in text
    assert "--set NEIGHBORHOOD=schedules" in text


def test_advice_is_yes_or_no_first_in_short_sentences() -> None:
    for engine, asked, gap, late, blocking, waits, algorithm in product(
        ("native", "poll", "thread/shared", "thread/spare"),
        ({"ENGINE": "poll"}, {"ENGINE": "native"}, THREAD, {**THREAD, "PLACEMENT": "shared", "SPACE": "1"}),
        (1e3, 1e6),
        (0.0, 3e5, 4e5),
        (False, True),
        (0, 10),
        ("ring", "messages", "channels", "persistent messages"),
    ):
        text = advise(Facts(engine, asked, waits, gap, 5e5, late, hidden=0.0, blocking=blocking, algorithm=algorithm))
        assert text.startswith(("yes: ", "no: ", LEAVE)), text
        for sentence in text.split(". "):
            assert len(sentence.split()) <= 25 and sentence.count(";") <= 1, sentence


def test_a_halo_of_ranks_without_a_space_is_told_of_it() -> None:
    halo = replace(COMPUTES, engine="native", algorithm="persistent messages", asked={"ENGINE": "thread", "SPACE": "0"})
    assert advise(halo).startswith("yes: run with --space")
    assert "--space" not in advise(replace(halo, asked={"SPACE": "1"}))
