# SPDX-License-Identifier: BSD-3-Clause
"""The study of collectives that the kernel carries on: results on worked examples, commands, and what is shown."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from urakata import paths
from urakata.cli import build_app
from urakata.commands.bench.kernel import _crowded
from urakata.hosts import HostsError, steering
from urakata.kernel_study import session
from urakata.kernel_study.interrupts import interrupts_table
from urakata.kernel_study.methods import METHODS, PARTS, Bed, Variant, variants
from urakata.kernel_study.results import Key, Results, from_json
from urakata.kernel_study.session import Amounts, rank_command, rank_environment
from urakata.kernel_study.steering import away, settable
from urakata.kernel_study.tables import part_table
from urakata.launcher import Mpi
from urakata.measure.running import Done
from urakata.measure.session import Session

THREAD, KERNEL = Variant("thread"), Variant("kernel")


def record(us: float, **more: Any) -> dict[str, Any]:
    return {"part": "hop", "bytes": 64, "us": us, **more}


@pytest.fixture
def measured() -> Results:
    """Two rounds; the kernel takes 8 and 10 us, engine thread 10 and 14."""
    results = Results()
    for thread, kernel in ((10.0, 8.0), (14.0, 10.0)):
        results.take("hop", THREAD, record(thread, stolen_us=6.0, interruptions=2.0, start_ns=500.0))
        results.take("hop", KERNEL, record(kernel, stolen_us=3.0, interruptions=1.0, start_ns=1500.0))
    return results


def test_medians_stand_beside_engine_thread(measured: Results) -> None:
    assert measured.median(Key("hop", "ibcast", 64, "kernel"), "us") == 9.0
    table = part_table(measured, "hop")
    assert table is not None
    assert table.columns[2:] == [
        "from start to last end",
        "taken from the relay",
        "interruptions",
        "starting call",
        "time / thread's",
    ]
    assert table.rows == [
        ["ibcast, 64 B", "engine thread", "12 µs", "6 µs", "2", "0.5 µs", "1.00"],
        ["ibcast, 64 B", "engine kernel", "9 µs", "3 µs", "1", "1.5 µs", "0.75"],
    ]
    assert part_table(measured, "group") is None


def counts(relay: float, other: float) -> dict[str, dict[str, float]]:
    """Of the relay's core, 1, and of core 0."""
    return {"net_rx": {"0": 4.0}, "function_call": {"0": other, "1": relay}, "reschedule": {"1": relay}}


@pytest.fixture
def steered() -> Results:
    """Core 1 is the relay's; steering takes three function calls from it in one round and five in the other."""
    results = Results(places={"hop": [[0], [1], [0]]})
    for more in (0.0, 2.0):
        results.take("hop", Variant("kernel", "chain"), record(10.0, interrupts=counts(6.0 + more, 1.0)))
        results.take("hop", Variant("kernel", "chain", "rps"), record(8.0, interrupts=counts(3.0, 2.0)))
        results.take("hop", Variant("thread", "chain"), record(20.0, interrupts=counts(1.0, 1.0)))
        results.take("hop", Variant("explicit", "chain"), record(100.0, interrupts=counts(1.0, 1.0)))
    return results


def test_results_are_read_as_they_were_written(measured: Results, steered: Results) -> None:
    for results in (measured, steered):
        assert from_json(json.loads(json.dumps(results.as_json()))) == results


def test_results_of_an_earlier_version_are_read(measured: Results) -> None:
    rows = [
        {"part": "hop", "operation": "ibcast", "bytes": 64, "method": key.method, "values": values}
        for key, values in measured.rows.items()
    ]
    assert from_json({"rows": rows}) == measured


def test_who_takes_the_interrupts(steered: Results) -> None:
    table = interrupts_table(steered, "hop")
    assert table is not None
    assert table.columns == [
        *("", "by", "packets"),
        *("packets taken in, core 0", "packets taken in, core 1 (relay's)"),
        *("function calls, core 0", "function calls, core 1 (relay's)"),
        *("rescheduling, core 0", "rescheduling, core 1 (relay's)"),
    ]
    assert table.rows == [
        ["ibcast, 64 B", "engine kernel", "as they come", "4.0", "0.0", "1.0", "7.0", "0.0", "7.0"],
        ["ibcast, 64 B", "engine kernel", "RPS", "4.0", "0.0", "2.0", "3.0", "0.0", "3.0"],
        ["ibcast, 64 B", "engine thread", "as they come", "4.0", "0.0", "1.0", "1.0", "0.0", "1.0"],
    ]


def test_nothing_is_shown_of_interrupts_that_were_not_counted(measured: Results) -> None:
    assert interrupts_table(measured, "hop") is None


def test_many_cores_are_shown_by_their_roles() -> None:
    """Of eight cores the relay has two, its neighbours four, and nobody the others."""
    results = Results(places={"hop": [[0, 1], [2, 3], [4, 5]], "group": [[0, 1, 2], [3, 4, 5]]})
    each = {str(core): 1.0 for core in range(8)}
    for part in ("hop", "group"):
        given = record(1.0, interrupts=dict.fromkeys(("net_rx", "function_call", "reschedule"), each))
        results.take(part, KERNEL, given)
    table = interrupts_table(results, "hop")
    assert table is not None
    assert [name.partition(", ")[2] for name in table.columns[3:6]] == [
        "relays' (2-3)",
        "other ranks' (0-1,4-5)",
        "others",
    ]
    assert table.rows[0][3:6] == ["2.0", "4.0", "2.0"]
    table = interrupts_table(results, "group")
    assert table is not None
    assert [name.partition(", ")[2] for name in table.columns[3:5]] == ["ranks' (0-5)", "others"]


def test_steering_and_algorithm_have_columns_where_they_differ(steered: Results) -> None:
    table = part_table(steered, "hop")
    assert table is not None
    assert table.columns[:3] == ["", "by", "packets"] and "algorithm" not in table.columns
    assert [(row[2], row[-1]) for row in table.rows if row[1] == "engine kernel"] == [
        ("as they come", "0.50"),
        ("RPS", "0.40"),  # engine thread was not measured with it
    ]
    steered.take("fine", Variant("kernel", "chain"), record(10.0))
    steered.take("fine", Variant("kernel", "binomial"), record(5.0))
    table = part_table(steered, "fine")
    assert table is not None
    assert [row[1:3] for row in table.rows] == [["engine kernel", "pipeline"], ["engine kernel", "tree"]]


def test_what_came_only_with_a_call_is_told_apart() -> None:
    results = Results()
    results.take("hop", KERNEL, record(10.0, late=0, repetitions=40))
    table = part_table(results, "hop")
    assert table is not None and "not before a call" not in table.columns
    results.take("hop", Variant("poll"), record(5000.0, late=30, repetitions=40))
    table = part_table(results, "hop")
    assert table is not None
    assert [row[table.columns.index("not before a call")] for row in table.rows] == ["0 %", "75 %"]
    assert "What they took from it is in that call" in table.note


def test_lost_time_is_shown_by_three_clocks() -> None:
    results = Results()
    results.take("fine", THREAD, record(1.0, lost_us=9.0, lost_thread_us=2.0, lost_process_us=8.0))
    table = part_table(results, "fine")
    assert table is not None
    assert table.columns[3:6] == ["CPU time lost", "by its thread's clock", "by its process's clock"]
    assert table.rows[0][3:6] == ["9 µs", "2 µs", "8 µs"]


@pytest.mark.parametrize("part", PARTS.values())
def test_a_method_is_an_engine_or_the_program_alone(part: Any) -> None:
    for variant in variants(part, list(METHODS), ["chain", "binomial"], ["none", "rps"]):
        words = rank_command(part, variant, Path("/bench/kernel"), Amounts([64, 1024], 5, 7))
        engine = METHODS[variant.method].options is not None
        assert ("--engine" in words) == engine
        assert (f"bcast:{variant.algorithm}" in words) == (engine and variant.algorithm != "")
        assert words[words.index("--sizes") + 1] == "64,1024"
        assert words[words.index("--method") + 1] == METHODS[variant.method].how


def test_what_is_run_of_a_part() -> None:
    both = ["chain", "binomial"]
    assert [variant.method for variant in variants(PARTS["hop"], list(METHODS), both, ["none"])] == list(
        PARTS["hop"].methods
    )
    assert {variant.algorithm for variant in variants(PARTS["hop"], list(METHODS), ["binomial"], ["none"])} == {"chain"}
    of_fine = variants(PARTS["fine"], ["explicit", "kernel"], both, ["none", "rfs"])
    assert of_fine == [
        Variant("explicit", "chain"),  # its own messages go along the chain, and are nothing to steer for
        *(Variant("kernel", "chain", how) for how in ("none", "rfs")),
        *(Variant("kernel", "binomial", how) for how in ("none", "rfs")),
    ]
    assert variants(PARTS["group"], list(METHODS), both, ["none"]) == [Variant("host"), Variant("poll"), THREAD, KERNEL]


def test_the_relays_call_ends_the_wait_for_who_does_nothing_before_it() -> None:
    for method in PARTS["hop"].methods:
        words = rank_command(PARTS["hop"], Variant(method, "chain"), Path("/bench/kernel"), Amounts([64], 5, 7))
        assert ("--compute-ms" in words) == (method in ("host", "poll"))


def test_the_host_takes_the_same_algorithm_where_it_can() -> None:
    variable = "OMPI_MCA_coll_libnbc_ibcast_algorithm"
    assert rank_environment(Variant("host", "chain"), "openmpi") == {variable: "3"}
    assert rank_environment(Variant("host", "binomial"), "openmpi") == {variable: "2"}
    for variant, family in (
        (Variant("host", "chain"), "mpich"),
        (Variant("host"), "openmpi"),
        (Variant("kernel", "chain"), "openmpi"),
    ):
        assert rank_environment(variant, family) == {}


def test_the_number_of_hosts() -> None:
    assert [PARTS[name].host_count(None) for name in ("hop", "fine", "group")] == [3, 3, 2]
    assert [PARTS[name].host_count(8) for name in ("hop", "fine", "group")] == [3, 8, 8]
    assert PARTS["fine"].relay_hosts(5) == [1, 2, 3] and PARTS["group"].relay_hosts(5) == []


def test_more_ranks_than_cores_are_said() -> None:
    beds = [Bed(PARTS["hop"], 3, []), Bed(PARTS["fine"], 8, []), Bed(PARTS["group"], 8, [])]
    three, eight = _crowded(beds, 2)
    assert "3 ranks share 2 cores in hop: the relay has one alone" in three
    assert eight.startswith("oversubscribed: 8 ranks share 2 cores in fine, group;")
    assert len(_crowded(beds, 4)) == 1 and _crowded(beds, 8) == []


def test_packets_go_to_other_cores_than_the_relays() -> None:
    """Three hosts on two cores, and on six; four on two, whose relays have both; two that relay nothing."""
    assert away([[0], [1], [0]], [1], [0, 1]) == [[0], [0], [0]]
    assert away([[0, 1], [2, 3], [4, 5]], [1], range(6)) == 3 * [[0, 1, 4, 5]]
    assert away([[0], [1], [0], [1]], [1, 2], [0, 1]) == [[1], [0], [1], [0]]
    assert away([[0], [1]], [], [0, 1]) == [[1], [0]]


def test_what_cannot_be_steered_is_left_out_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    reasons = {"none": "", "rps": "", "rfs": "it is forbidden"}
    monkeypatch.setattr(steering, "obstacle", reasons.get)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    possible, refused = settable(["none", "rps", "rfs"])
    assert possible == ["none", "rps"]
    assert [(one.what, one.reason) for one in refused] == [("steering rfs", "it is forbidden")]
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {5})
    possible, refused = settable(["none", "rps"])
    assert possible == ["none"] and "no second core" in refused[0].reason


def test_a_job_runs_with_its_packets_steered(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the kernel refuses is the reason of that way alone."""
    events: list[Any] = []

    @contextmanager
    def steer(_hosts: Any, how: str, cores: list[list[int]]) -> Iterator[None]:
        if how == "rfs":
            raise HostsError("host0: packets cannot be steered: no")
        events.append((how, cores))
        yield
        events.append("back")

    def run(_hosts: Any, _ranks: int, command: list[str], *_: Any) -> Done:
        events.append(command[0])
        return Done(0, json.dumps(record(9.0, interrupts=counts(1.0, 1.0))), "", 0.1)

    monkeypatch.setattr(session, "steered", steer)
    monkeypatch.setattr(session, "run_on_hosts", run)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(paths, "program", lambda name: Path(name))
    host = Mpi(Path("mpirun"), "openmpi", "5")
    job = session.Job(Path("/bench/kernel"), host, Amounts([64], 5, 7), 1.0)
    bed = Bed(PARTS["hop"], 3, [Variant("kernel", "chain", "rps"), Variant("kernel", "chain", "rfs")])
    done = Session(Results())
    hosts = SimpleNamespace(count=3, cpus=[[0], [1], [0]])
    session.run_part(bed, job, cast(Any, hosts), 2, done, lambda *_: None)
    assert events == 2 * [("rps", [[0], [0], [0]]), "urakata-exec", "back"]
    assert [(one.what, one.reason) for one in done.failed] == [
        ("hop, engine kernel, chain, RFS", "host0: packets cannot be steered: no")
    ]
    assert done.results.places == {"hop": [[0], [1], [0]]}
    (key,) = done.results.rows
    assert key.variant == Variant("kernel", "chain", "rps") and len(done.results.interrupts[key]) == 2


def test_an_earlier_run_is_shown_again(measured: Results, tmp_path: Path) -> None:
    document = {
        "format": "urakata-kernel-1",
        "machine": {"cpu": "a processor"},
        "warnings": ["three hosts share two cores"],
        "failed": [{"what": "hop, engine poll", "reason": "it hangs"}],
        **measured.as_json(),
    }
    file = tmp_path / "kernel.json"
    file.write_text(json.dumps(document))
    said = CliRunner().invoke(build_app(), ["bench", "kernel", "--from", str(file), "-o", str(tmp_path / "shown")])
    assert said.exit_code == 0, said.output
    assert "three hosts share two cores" in said.output and "it hangs" in said.output
    assert {path.name for path in (tmp_path / "shown").iterdir()} == {
        "kernel.csv",
        "hop-ibcast-us.svg",
        "hop-ibcast-stolen.svg",
    }


def test_interrupts_and_algorithms_are_shown_again(steered: Results, tmp_path: Path) -> None:
    for algorithm in ("chain", "binomial"):
        steered.take("fine", Variant("kernel", algorithm), record(10.0))
    document = {
        "format": "urakata-kernel-1",
        "machine": {"cpu": "a processor"},
        "warnings": [],
        "refused": [{"what": "steering rfs", "reason": "it is forbidden"}],
        "failed": [],
        **steered.as_json(),
    }
    file = tmp_path / "kernel.json"
    file.write_text(json.dumps(document))
    folder = tmp_path / "shown"
    words = ["bench", "kernel", "--from", str(file), "-o", str(folder)]
    said = CliRunner().invoke(build_app(), words, env={"COLUMNS": "220"})
    assert said.exit_code == 0, said.output
    assert "Who takes the interrupts: a relay that computes" in said.output
    assert "Not possible here: steering rfs: it is forbidden" in said.output
    assert {path.name for path in folder.iterdir()} == {
        "kernel.csv",
        "interrupts.csv",
        "hop-ibcast-us.svg",
        "fine-ibcast-chain-us.svg",
        "fine-ibcast-binomial-us.svg",
    }
    lines = (folder / "interrupts.csv").read_text().splitlines()
    assert lines[0] == "part,operation,bytes,method,algorithm,steering,kind,core,round,value"
    assert "hop,ibcast,64,kernel,chain,rps,function_call,1,2,3.0" in lines
    assert "hop,ibcast,64,kernel,chain,rps,us,1,8.0" in (folder / "kernel.csv").read_text().splitlines()


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--part", "hip"], "valid are hop, fine, coarse, group"),
        (["--methods", "magic"], "valid are explicit, blocked, host, poll, thread, kernel"),
        (["--sizes", "x"], "is no size"),
        (["--steering", "xps"], "valid are none, rps, rfs"),
        (["--algorithm", "star"], "valid are chain, binomial"),
        (["--hosts", "2"], "Invalid value for '--hosts'"),
    ],
)
def test_bad_values_are_refused(words: list[str], why: str) -> None:
    said = CliRunner().invoke(build_app(), ["bench", "kernel", *words], env={"COLUMNS": "200"})
    assert said.exit_code == 2 and why in said.output.replace("\n", " "), said.output
