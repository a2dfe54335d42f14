# SPDX-License-Identifier: BSD-3-Clause
"""What was hidden, from instances made up as the formula's cases: times in us."""

from __future__ import annotations

import random

import pytest

from urakata.report.hidden import Clocks, Hidden, Sample, Seen, examine, mean_late, measure

CLOCK = {0: "a", 1: "a"}


def part(begin: int, wait: int, end: int, done: int | None = None, computing: int = 0, start: int = 2) -> Sample:
    """One rank's part; the starting call takes 2 us, the work is 100."""
    times = [1000 * t for t in (begin, begin + start, wait, end, end if done is None else done)]
    return Sample(0, 1, 0, 2, *times, tests=0, work=100, computing=computing)


def seen(*parts: Sample, operation: str = "Iallreduce", size: int = 8) -> list[Seen]:
    return examine(dict(enumerate(parts)), operation, size, CLOCK, Clocks())


def at_once(length: int, times: int = 3) -> list[Seen]:
    return [one for _ in range(times) for one in seen(part(0, 2, length), part(0, 2, length))]


def test_a_late_partner_is_neither_communication_nor_hidden() -> None:
    """1 ms of computation behind each, the operation takes 300; in one of twenty rank 1 begins 50 ms late."""
    usual = seen(part(0, 1002, 1302), part(0, 1002, 1302)) * 19
    late = seen(part(0, 1002, 51302), part(50000, 51002, 51302))
    said = measure(usual + late, helped=False)
    assert said.share is None  # nobody knows how long it takes
    assert "at once" in said.why
    # The same with three instances that all waited for at once: nothing was hidden.
    told = measure(usual + late + at_once(302), helped=False)
    assert told.own_ns == pytest.approx(302_000)
    assert told.share == pytest.approx(0.0, abs=0.01)


def test_little_gap_and_long_waiting_is_little_hidden() -> None:
    """14 us between start and wait, 878 us of waiting for a rank that is late."""
    said = measure(seen(part(0, 16, 894), part(870, 886, 894)) * 10, helped=True)
    assert said.share == pytest.approx(0.0)  # the schedule's work was done in the wait


def test_a_progress_thread_that_did_all_in_the_gap_hid_it() -> None:
    """300 us of operation, 1 ms of gap, 6 us of start, 2 of wait."""
    one = part(0, 1000, 1002, done=300, computing=98)
    said = measure(seen(one, one) * 5, helped=True)
    assert said.share == pytest.approx(0.98)
    assert said.own_ns is None


def test_a_progress_thread_that_did_nothing_hid_nothing_however_long_the_gap() -> None:
    one = part(0, 1000, 1300, computing=0)
    assert measure(seen(one, one) * 5, helped=True).share == 0.0
    assert measure(seen(one, one) * 5, helped=False).share is None


def test_lateness_is_that_of_all_instances_although_few_of_the_late_ones_are_kept() -> None:
    """Of 400 instances every twentieth is 50 ms late, and waits for 1 to 1.2 ms besides; 64 are kept."""
    draw = random.Random(7)
    late = [k % 20 == 7 for k in range(400)]
    own = [draw.randrange(1000, 1200) for _ in late]
    waits = [50_000 * is_late + its for is_late, its in zip(late, own, strict=True)]
    for _ in range(50):
        kept = draw.sample(range(400), 64)
        of_rank_0 = [
            seen(part(0, 2, waits[k]), part(50_002 * late[k], 50_002 * late[k] + 2, waits[k]))[0] for k in kept
        ]
        said = mean_late(of_rank_0, 1000 * sum(waits) / 400)
        if any(late[k] for k in kept):
            assert said == pytest.approx(50_000_000 * 20 / 400, rel=0.02)
        else:
            assert said is None  # the waits of all cannot be told from those that are kept
    assert mean_late([], 10.0) is None
    alike = seen(part(0, 10, 30), part(0, 10, 30)) * 5
    assert mean_late(alike, 20_000.0) == 0.0


def test_of_three_that_share_the_link_each_counts_by_its_bytes() -> None:
    """Each takes 900 of the link, one after the other; begun at 0, 400 and 800, and waited for in turn from 1200 on."""
    first = part(0, 1200, 1202, done=900, computing=100)
    second = part(400, 1202, 1800, done=1800, computing=33)
    third = part(800, 1800, 2700, done=2700, computing=0)
    said = measure([one for each in (first, second, third) for one in seen(each, each)], helped=True)
    assert said.share == pytest.approx((1200 - 0) / 2700, abs=0.01)


def test_without_a_profile_nobody_knows_what_came_while_the_program_waited() -> None:
    one = part(0, 1000, 1300)._replace(work=0)
    said = measure(seen(one, one) * 5, helped=True)
    assert said.share is None
    assert "profile" in said.why


def test_time_in_other_calls_hides_nothing() -> None:
    """400 us of its own, of which 200 lie between start and wait; all of these in another call."""
    busy = part(0, 202, 400)._replace(calls=200_000)
    said = measure(seen(busy, busy) * 30 + at_once(400), helped=False)
    assert said.share == pytest.approx(0.0, abs=0.01)


def test_half_of_it_hidden_against_instances_waited_for_at_once() -> None:
    """It takes 400; 200 of gap, then 200 - 2 of waiting."""
    half = seen(part(0, 202, 400), part(0, 202, 400)) * 30
    said = measure(half + at_once(400), helped=False)
    assert said.own_ns == 400_000
    assert said.share == pytest.approx(0.5 * 60 / 66, abs=0.01)  # those waited for at once hid nothing


def test_operations_that_do_not_wait_for_all_say_nothing_of_late_ranks() -> None:
    """The root of a broadcast is 800 late."""
    parts = part(0, 10, 900), part(800, 810, 815)
    assert {one.late for one in seen(*parts, operation="Ibcast")} == {None}
    assert seen(*parts, operation="Ibcast")[0].exposed == 892_000
    assert all(one.own is None for one in seen(*parts, operation="Ibcast"))
    assert seen(*parts, operation="Iallreduce_c")[0].late == 790_000
    assert seen(*parts, operation="Iallgather", size=0)[0].late is None


def test_never_more_hidden_than_the_gap_allows() -> None:
    seed = random.randrange(1 << 32)
    print("seed", seed)
    draw = random.Random(seed)
    for _ in range(300):
        all_seen: list[Seen] = []
        for _ in range(draw.randrange(1, 12)):
            begins = [draw.randrange(1000), draw.randrange(1000)]
            waits = [begin + 2 + draw.randrange(draw.choice([1, 500])) for begin in begins]
            end = max(max(waits), max(begins) + draw.randrange(1, 600)) + 1
            work = draw.randrange(101)
            all_seen += seen(*(part(b, w, end, computing=work) for b, w in zip(begins, waits, strict=True)))
        for helped in (False, True):
            said = measure(all_seen, helped)
            if said.share is None:
                continue
            assert 0 <= said.share <= 1
            if said.own_ns:
                gap = sum(one.gap for one in all_seen) / len(all_seen)
                assert said.share * said.own_ns <= gap * (1 + 1e-9) + 1
            else:
                lasting = [one for one in all_seen if one.life]
                most = sum(min(1.0, one.gap / one.life) for one in lasting) / len(lasting)
                assert said.share <= most + 1e-9


def test_clocks_of_two_nodes_are_compared_by_operations_that_wait_for_all() -> None:
    """Node b's clock is 7000 us ahead. Rank 1 of b is 500 late; operations of 20 tell the clocks to 20."""
    clock = {0: "a", 1: "b"}
    clocks = Clocks()
    ahead = 7_000_000
    for k in range(5):
        quick = part(k * 100, k * 100 + 2, k * 100 + 20)
        clocks.learn({0: quick, 1: quick.shifted(ahead)}, clock)
    parts = {0: part(0, 10, 600), 1: part(500, 510, 600).shifted(ahead)}
    one, other = examine(parts, "Iallreduce", 8, clock, clocks)
    assert one.late is not None and other.late is not None
    assert 490_000 - 45_000 <= one.late <= 490_000  # never more than it was
    assert other.late == 0
    assert examine(parts, "Iallreduce", 8, clock, Clocks()) == []  # nothing is known of the clocks


def test_clocks_of_many_nodes_are_as_many_bounds_as_nodes() -> None:
    """300 nodes, each 1000 us ahead of the one before: two of them, neither of which is the first, are told as well."""
    clock = {rank: f"node{rank}" for rank in range(300)}
    clocks = Clocks()
    for k in range(4):
        quick = part(k * 100, k * 100 + 2, k * 100 + 20)
        clocks.learn({rank: quick.shifted(1_000_000 * rank) for rank in clock}, clock)
    assert clocks.size == 299
    for one, other in ((0, 299), (299, 0), (7, 200), (200, 7)):
        shift = clocks.to(clock[one], clock[other], 0)
        assert shift is not None
        assert abs(shift[0] - 1_000_000 * (one - other)) <= shift[1] <= 45_000
    assert clocks.to("node7", "elsewhere", 0) is None


def test_nothing_seen_is_unknown_with_a_reason() -> None:
    assert measure([], helped=True) == Hidden(why="no instance of which every rank's end is in the report")
