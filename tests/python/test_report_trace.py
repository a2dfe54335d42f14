# SPDX-License-Identifier: BSD-3-Clause
"""The time line: calls of all ranks on one clock, arrows from sends to receives, what ranks wait for late ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from calls_file import RECEIVE, RUNNING, SEND, CallsFile, EventsFile

from urakata.report.errors import ReportError
from urakata.report.events import Message, Wait, read_events
from urakata.report.files import Faults
from urakata.report.trace import trace_events

CALLER, LATE = 1_000_001, 1_070_000  # tracks
OPERATIONS = ("Send", "Recv", "Allreduce", "Bcast", "Iallreduce")


def job(folder: Path, ranks: int = 2, **each: Any) -> list[EventsFile]:
    """All ranks' calls, and events to be filled. `each`: clocks, walls and states by rank."""
    made = []
    for rank in range(ranks):
        calls = CallsFile(rank, ranks, f"node{rank}", each.get("clocks", ("one",) * ranks)[rank])
        for operation in OPERATIONS:
            calls.call(operation, 1, 100)
        calls.write(folder, state=each.get("states", (1,) * ranks)[rank], ns=10_000)
        made.append(EventsFile(rank, ranks, wall=each.get("walls", (0,) * ranks)[rank]))
    return made


def written(folder: Path, events: list[EventsFile]) -> None:
    for one in events:
        one.write(folder)


def test_a_message_is_an_arrow_from_its_send_to_the_call_that_found_it(tmp_path: Path) -> None:
    events = job(tmp_path)
    events[0].call(0, 1000, 1200)
    events[0].message(SEND, 1000, 64, 1, peer=1)
    events[1].call(1, 1100, 1500)
    events[1].message(RECEIVE, 1500, 64, 1, peer=0)
    written(tmp_path, events)
    line = read_events(tmp_path)
    assert line is not None and list(line.messages) == [Message(0, 1, 1000, 1500, 64, 3, (0, 0))]
    made = list(trace_events(line, []))
    arrow = {event["ph"]: (event["pid"], event["tid"], event["ts"]) for event in made if event["ph"] in "sf"}
    spans = {event["pid"]: event for event in made if event["ph"] == "X" and event["tid"] == CALLER}
    assert arrow == {"s": (0, CALLER, 1.0), "f": (1, CALLER, 1.1)}
    for pid, tid, time in arrow.values():  # within the slices that they are to bind to
        assert tid == CALLER and spans[pid]["ts"] <= time < spans[pid]["ts"] + spans[pid]["dur"]


def test_arrows_lead_to_slices_that_began_later(tmp_path: Path) -> None:
    """Perfetto would turn them about otherwise."""
    events = job(tmp_path, 4)
    for sender, sent in ((1, 1600), (2, 1200), (3, 800)):
        events[sender].call(0, sent, sent + 100)
        events[sender].message(SEND, sent, 64, 1, peer=0)
        events[0].message(RECEIVE, 2000, 64, 1, peer=sender)
    events[0].call(1, 1000, 2000)
    written(tmp_path, events)
    line = read_events(tmp_path)
    assert line is not None
    made = list(trace_events(line, []))
    spans = [event for event in made if event["ph"] == "X" and (event["pid"], event["tid"]) == (0, CALLER)]
    parts = [(event["name"], event["ts"], event["ts"] + event["dur"]) for event in spans]
    assert parts[1:] == [("from rank 2: 64 B", 1.2, 1.6), ("from rank 1: 64 B", 1.6, 2.0)]
    ends = [(event["id"], event["pid"], event["ts"]) for event in made if event["ph"] == "f"]
    assert ends == [(0, 0, 1.0), (1, 0, 1.2), (2, 0, 1.6)]
    begins = {event["id"]: (event["pid"], event["ts"]) for event in made if event["ph"] == "s"}
    assert begins == {0: (3, 0.8), 1: (2, 1.2), 2: (1, 1.6)}


def test_what_was_sent_at_once_has_one_part(tmp_path: Path) -> None:
    """And a call that sends to itself has no arrow."""
    events = job(tmp_path, 3)
    for sender in (1, 2):
        events[sender].call(0, 1500, 1600)
        events[sender].message(SEND, 1500, 64, 1, peer=0)
        events[0].message(RECEIVE, 2000, 64, 1, peer=sender)
    events[0].call(1, 1000, 2000)
    events[0].message(SEND, 1000, 64, 1, peer=0)
    events[0].message(RECEIVE, 2000, 64, 1, peer=0)
    written(tmp_path, events)
    line = read_events(tmp_path)
    assert line is not None and len(list(line.messages)) == 3
    made = list(trace_events(line, []))
    parts = [event["name"] for event in made if event["name"].startswith("from")]
    assert parts == ["from ranks 1, 2: 128 B"]
    assert [(event["pid"], event["ts"]) for event in made if event["ph"] == "f"] == [(0, 1.5), (0, 1.5)]


def test_a_message_of_an_overwritten_call_is_no_arrow(tmp_path: Path) -> None:
    events = job(tmp_path)
    events[0].message(SEND, 1000, 64, 1, peer=1)
    events[1].call(1, 1100, 1500)
    events[1].message(RECEIVE, 1500, 64, 1, peer=0)
    written(tmp_path, events)
    line = read_events(tmp_path)
    assert line is not None and len(list(line.messages)) == 1
    assert not [event for event in list(trace_events(line, [])) if event["ph"] in "sf"]


@pytest.mark.parametrize("wrong", ({"number": 2}, {"tag": 4}, {"size": 65}, {"peer": 1}))
def test_what_does_not_meet_is_no_arrow(tmp_path: Path, wrong: dict[str, int]) -> None:
    events = job(tmp_path)
    events[0].message(SEND, 1000, 64, 1, peer=1)
    events[1].message(RECEIVE, 1500, **{"size": 64, "number": 1, "peer": 0, **wrong})
    written(tmp_path, events)
    line = read_events(tmp_path)
    assert line is not None and list(line.messages) == []


def test_ranks_that_wait_in_a_collective_name_the_late_one(tmp_path: Path) -> None:
    events = job(tmp_path, 3)
    for rank, (begin, end) in enumerate(((1000, 3100), (2900, 3150), (2000, 3120))):
        events[rank].collective(2, begin, end, number=1)
        events[rank].collective(3, 4000 + 100 * rank, 5000, number=2)  # a broadcast: who is late is not told
        events[rank].collective(4, 6000 + 100 * rank, 6050 + 100 * rank, number=3)  # a start waits for nobody
    events[0].collective(2, 8000, 8100, number=4)  # the others were killed before
    written(tmp_path, events)
    line = read_events(tmp_path)
    assert line is not None
    assert list(line.waits) == [Wait(0, 1000, 2900, 1, "Allreduce"), Wait(2, 2000, 2900, 1, "Allreduce")]
    made = list(trace_events(line, []))
    shown = {
        (event["pid"], event["name"], event["ts"]) for event in made if event.get("tid") == LATE and event["ph"] == "X"
    }
    assert shown == {(0, "waits for rank 1", 1.0), (2, "waits for rank 1", 2.0)}


def test_clocks_of_nodes_are_brought_together_by_what_comes_before_what(tmp_path: Path) -> None:
    """Rank 1's clock is 1 s ahead and the wall clocks do not say so; messages take 100 ns each way."""
    ahead = 1_000_000_000
    events = job(tmp_path, clocks=("one", "other"))
    events[0].message(SEND, 1000, 8, 1, peer=1)
    events[1].message(RECEIVE, ahead + 1100, 8, 1, peer=0)
    events[1].message(SEND, ahead + 2000, 8, 1, peer=0)
    events[0].message(RECEIVE, 2100, 8, 1, peer=1)
    written(tmp_path, events)
    line = read_events(tmp_path)
    assert line is not None
    assert [message.received - message.sent for message in line.messages] == [100, 100]


def test_clocks_that_meet_only_by_a_third_are_brought_together_too(tmp_path: Path) -> None:
    """A chain of three, each 1 s ahead of the one before."""
    ahead = 1_000_000_000
    events = job(tmp_path, 3, clocks=("one", "other", "third"))
    for left in (0, 1):
        events[left].message(SEND, left * ahead + 1000, 8, 1, peer=left + 1)
        events[left + 1].message(RECEIVE, (left + 1) * ahead + 1100, 8, 1, peer=left)
        events[left + 1].message(SEND, (left + 1) * ahead + 2000, 8, 1, peer=left)
        events[left].message(RECEIVE, left * ahead + 2100, 8, 1, peer=left + 1)
    written(tmp_path, events)
    line = read_events(tmp_path)
    assert line is not None
    assert [message.received - message.sent for message in line.messages] == [100] * 4


def test_where_only_one_side_is_bounded_wall_clocks_are_kept_as_near_as_can_be(tmp_path: Path) -> None:
    events = job(tmp_path, clocks=("one", "other"), walls=(0, -700))
    events[0].message(SEND, 1000, 8, 1, peer=1)
    events[1].message(RECEIVE, 1500, 8, 1, peer=0)  # by the wall clocks 200 ns before it was sent
    written(tmp_path, events)
    line = read_events(tmp_path)
    assert line is not None
    (message,) = line.messages
    assert message.received == message.sent


def test_a_job_that_was_killed_has_its_time_line(tmp_path: Path) -> None:
    events = job(tmp_path, states=(RUNNING, RUNNING))
    for one in events:
        one.call(0, 100, 200)
    written(tmp_path, events)
    line = read_events(tmp_path)
    assert line is not None and [len(list(rank.calls)) for rank in line.ranks] == [1, 1]


def test_computation_is_what_lies_between_calls_and_is_not_known_before_the_oldest(tmp_path: Path) -> None:
    kept, lost = job(tmp_path)
    kept.call(0, 1000, 2000)
    kept.call(1, 5000, 9000, thread=1)  # another thread's
    for i in range(20):
        lost.call(0, 100 * i, 100 * i + 50)
    written(tmp_path, [kept, lost])
    line = read_events(tmp_path)
    assert line is not None
    made = list(trace_events(line, []))
    compute = {(event["pid"], event["ts"], event["dur"]) for event in made if event["name"] == "compute"}
    assert {one[1:] for one in compute if one[0] == 0} == {(0.0, 1.0), (2.0, 8.0)}
    assert min(one[1] for one in compute if one[0] == 1) == 0.45  # four of twenty are overwritten
    names = [event["args"]["name"] for event in made if event["name"] == "thread_name" and event["pid"] == 0]
    assert names == ["compute", "MPI, thread 0", "MPI, thread 1"]


def test_ranks_are_in_their_order_by_name(tmp_path: Path) -> None:
    """Which is what Perfetto goes by."""
    written(tmp_path, job(tmp_path, 11))
    line = read_events(tmp_path)
    assert line is not None
    names = [each["args"]["name"] for each in list(trace_events(line, [])) if each["name"] == "process_name"]
    assert len(names) == 11 and names == sorted(names) and names[3] == "rank 03 on node3"


def test_operations_and_progress_threads_are_shown_with_the_calls(tmp_path: Path) -> None:
    """Times of both files are by the rank's own clock."""
    (one, other) = job(tmp_path)
    one.call(4, 1000, 1100)
    written(tmp_path, [one, other])
    line = read_events(tmp_path)
    assert line is not None
    sample = [0, 1, 1, 2, 6000, 6100, 8000, 8100, 7900, 0, 0, 0]
    site = {"number": 0, "operation": "Iallreduce", "bytes": 8, "samples": [sample]}
    tracks = [{"name": "progress thread 0", "spans": [[7000, 7900]]}]
    made = list(trace_events(line, [{"rank": 0, "call_sites": [site], "tracks": tracks}]))
    operations = [(one["ph"], one["ts"], one["id2"]) for one in made if one.get("cat") == "operation"]
    assert operations == [("b", 1.0, {"local": "0.0"}), ("e", 2.9, {"local": "0.0"})]
    assert [(one["ts"], one["dur"]) for one in made if one["name"] == "progress"] == [(2.0, 0.9)]
    assert [(one["ts"], one["dur"]) for one in made if one["name"] == "Iallreduce" and one["ph"] == "X"] == [(1.0, 0.1)]


def test_files_that_are_no_time_line_are_told(tmp_path: Path) -> None:
    assert read_events(tmp_path) is None
    (one, other) = job(tmp_path)
    other.write(tmp_path)
    path = one.write(tmp_path)
    whole = path.read_bytes()
    for data, what in ((b"", "cut off"), (whole[:100], "cut off")):
        path.write_bytes(data)
        with pytest.raises(ReportError, match=what):
            read_events(tmp_path)
        faults: Faults = []
        line = read_events(tmp_path, faults)  # the other rank's is there
        assert line is not None and [rank.rank for rank in line.ranks] == [1]
        assert what in faults[0].why and faults[0].rank == 0
    path.write_bytes(b"URACALLS" + whole[8:])  # of that name, but none of ours
    line = read_events(tmp_path)
    assert line is not None and [rank.rank for rank in line.ranks] == [1]
    path.write_bytes(whole[:8] + b"\x09" + whole[9:])
    with pytest.raises(ReportError, match="has form 9"):
        read_events(tmp_path)
