# SPDX-License-Identifier: BSD-3-Clause
"""Engine kernel: jobs over several test hosts, a rank on each, whose collectives the Linux kernel carries on."""

from __future__ import annotations

import json
import os
import random
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from broken_links import cut, wait_until_it_works
from jobs import FULL, compiled, drawn_seed, named
from killing import STAGES, KilledJobs, output_where_the_library_sees_no_end
from typer.testing import CliRunner

from urakata import paths
from urakata.cli import build_app
from urakata.hosts import Hosts, available
from urakata.kernel_study.methods import PARTS
from urakata.report.summary import summarise

pytestmark = pytest.mark.skipif(not available()[0], reason=f"no test hosts here: {available()[1]}")

EXEC = str(paths.program("urakata-exec"))
CHANNEL_SET = "engine kernel: MPI_COMM_WORLD has a channel set"
CASES = "50000" if FULL else "500"
SECONDS = 1500.0 if FULL else 120.0


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with Hosts(count=3) as made:
        yield made


def run(hosts: Hosts, program: list[str], *options: str, name: str = "openmpi", per_host: int = 1) -> tuple[int, str]:
    mpi = named(name)
    words = ["--engine", "kernel", "--verbose", "2", *options]
    done = hosts.run(
        [EXEC, *words, "--", *program],
        ranks_per_host=per_host,
        mpi_name=mpi.launcher,
        env=mpi.environment,
        timeout=SECONDS,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.fixture(scope="module", autouse=True)
def needs_a_ring(hosts: Hosts, folder: Path) -> None:
    """Skips all where this kernel or this build has none; what is missing, the line says."""
    program = [str(compiled(named("openmpi"), "requests_exhausted", folder))]
    _, output = run(hosts, program)
    if CHANNEL_SET not in output and (
        said := re.search(r"engine \w+ instead of kernel: .*(uring|URAKATA_KERNEL).*", output)
    ):
        pytest.skip(said.group())


@pytest.mark.parametrize("extra", ([], ["--mostly-moving"], ["--mostly-moving", "--mixed-engines"]))
def test_collectives_are_right(hosts: Hosts, folder: Path, extra: list[str]) -> None:
    """With all that engine thread has beside them, on the same communicators and on others."""
    seed = str(time.time_ns() % 1_000_000)
    program = [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", CASES, "--seed", seed, *extra]
    code, output = run(hosts, program)
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert output.count(CHANNEL_SET) == 3, output[:3000]


def test_mpich(hosts: Hosts, folder: Path) -> None:
    program = [str(compiled(named("mpich"), "threads_nbc", folder)), "3", "30"]
    code, output = run(hosts, program, name="mpich")
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert output.count(CHANNEL_SET) == 3, output[:3000]


def test_what_other_threads_start_goes_on_too(hosts: Hosts, folder: Path) -> None:
    program = [str(compiled(named("openmpi"), "threads_nbc", folder)), "3", "30"]
    code, output = run(hosts, program)
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert output.count(CHANNEL_SET) == 3, output[:3000]


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_several_operations_go_on_while_a_rank_computes(hosts: Hosts, folder: Path, tmp_path: Path, name: str) -> None:
    """Two to twelve of one communicator; each rank in turn makes no call until the others have completed them."""
    program = [
        str(compiled(named(name), "collectives_while_one_computes", folder)),
        str(tmp_path),
        "330" if FULL else "33",
    ]
    code, output = run(hosts, program, name=name)
    assert code == 0 and "0 wrong or late" in output, output[-3000:]
    assert output.count(CHANNEL_SET) == 3, output[:3000]


def test_forks_while_collectives_are_in_progress(hosts: Hosts, folder: Path) -> None:
    program = [str(compiled(named("openmpi"), "forks", folder)), "12"]
    code, output = run(hosts, program)
    assert code == 0, output[-3000:]
    assert output.count(CHANNEL_SET) == 3, output[:3000]


def test_blocking_calls_of_the_main_thread_may_be_interrupted_and_of_no_other(hosts: Hosts, folder: Path) -> None:
    """Each kind of call is, on each rank, at least once; how often is the kernel's affair, and is printed only. What is
    waited for is lost by nobody."""
    program = [str(compiled(named("openmpi"), "interrupted_calls", folder)), "480" if FULL else "24", "960"]
    code, output = run(hosts, program)
    rows = re.findall(r"rank \d: 0 wrong in .* [1-9]\d* calls 0 wrong", output)
    print(*rows, sep="\n")
    assert code == 0 and len(rows) == 3, output[-3000:]
    assert output.count(CHANNEL_SET) == 3, output[:3000]


def test_the_study_measures_all_methods(tmp_path: Path) -> None:
    file = tmp_path / "kernel.json"
    words = ["bench", "kernel", "--quick", "--part", "fine,group", "--sizes", "1K", "--json", str(file)]
    said = CliRunner().invoke(build_app(), words)
    assert said.exit_code == 0, said.output
    rows = json.loads(file.read_text())["rows"]
    assert {row["method"] for row in rows if row["part"] == "fine"} == set(PARTS["fine"].methods)
    of_group = [row for row in rows if row["part"] == "group"]
    assert {row["method"] for row in of_group} == set(PARTS["group"].methods)
    assert {row["operation"] for row in of_group} == {"ibcast", "iallgather", "ialltoall"}
    assert all(row["values"]["workers"] == [0] for row in of_group)
    assert all(row["values"]["late"] == [1.0] for row in of_group if row["method"] == "poll"), of_group


def _study(file: Path, *words: str) -> dict[str, Any]:
    said = CliRunner().invoke(build_app(), ["bench", "kernel", "--quick", *words, "--json", str(file)])
    assert said.exit_code == 0, said.output
    document: dict[str, Any] = json.loads(file.read_text())
    return document


def test_the_study_counts_interrupts_with_and_without_steering(tmp_path: Path) -> None:
    """Engine poll moves nothing before the relay's call. Which core takes what is the machine's affair."""
    words = ("--part", "hop", "--methods", "host,poll,thread,kernel", "--sizes", "64", "--steering", "none,rps")
    document = _study(tmp_path / "hop.json", *words)
    rows = {(row["method"], row["steering"]): row for row in document["rows"]}
    both = [("thread", "rps"), ("kernel", "rps")] if "rps" in document["settings"]["steering"] else []
    assert set(rows) == {*((one, "none") for one in ("host", "poll", "thread", "kernel")), *both}, document["refused"]
    assert rows["poll", "none"]["values"]["late"] == [1.0]
    for row in rows.values():
        (counts,) = row["interrupts"]
        assert set(counts) == {"net_rx", "function_call", "reschedule"}
        assert sum(counts["net_rx"].values()) > 0
    assert len(document["places"]["hop"]) == 3


@pytest.mark.skipif(not FULL, reason="takes long: URAKATA_TEST_FULL=1")
def test_the_study_over_more_hosts(tmp_path: Path) -> None:
    words = ("--part", "fine", "--methods", "explicit,host,thread,kernel", "--sizes", "1K", "--steering", "none")
    rows = _study(tmp_path / "fine.json", "--hosts", "4", *words)["rows"]
    of_engines = {(one, shape) for one in ("host", "thread", "kernel") for shape in ("chain", "binomial")}
    assert {(row["method"], row["algorithm"]) for row in rows} == {("explicit", "chain"), *of_engines}
    for row in rows:
        (elapsed,), (us,) = row["values"]["lost_us"], row["values"]["us"]
        assert us > 0 and elapsed > 0, row
        assert set(row["values"]) >= {"lost_thread_us", "lost_process_us"}


@pytest.mark.parametrize("how", ("exit", "kill"))
def test_a_rank_that_ends_early_ends_the_job(hosts: Hosts, folder: Path, tmp_path: Path, how: str) -> None:
    program = [str(compiled(named("openmpi"), "early_exit", folder)), how, str(tmp_path)]
    code, output = run(hosts, program)
    assert code != 0, output[-3000:]
    assert {path.name for path in tmp_path.iterdir()} == {"0", "1", "2"}, output[-3000:]
    assert output.count(CHANNEL_SET) == 3, output[:3000]


def test_whoever_is_in_an_operation_with_a_killed_rank_gets_an_error(
    hosts: Hosts, folder: Path, tmp_path: Path
) -> None:
    """The connections tell."""
    mpi = named("openmpi")
    program = compiled(mpi, "killed_in_exchange", folder)
    options = ["--engine", "kernel", "--verbose", "2"]
    words = ["collectives", str(tmp_path)]
    output = output_where_the_library_sees_no_end(hosts, mpi, program, words, options, SECONDS)
    assert sorted(re.findall(r"rank (\d): the exchange ended with class [1-9]", output)) == ["0", "1"], output[-3000:]
    assert output.count("lost the connection to rank 2") >= 1, output[-3000:]
    assert output.count(CHANNEL_SET) == 3, output[:3000]


@pytest.fixture(scope="module", params=("openmpi", "mpich"))
def killed_jobs(request: pytest.FixtureRequest, hosts: Hosts, folder: Path) -> KilledJobs:
    mpi = named(request.param)
    return KilledJobs(hosts, mpi, compiled(mpi, "killed_at_stage", folder))


@pytest.mark.parametrize("stage", STAGES)
def test_a_rank_that_is_killed_at_any_stage_leaves_nothing(killed_jobs: KilledJobs, stage: str) -> None:
    """At random moments: no process, no socket, no io_uring."""
    chance = random.Random(drawn_seed())
    for _ in range(40 if FULL else 2):
        killed_jobs.kill(stage, chance)


def test_where_one_link_breaks_every_rank_gets_an_error(folder: Path, tmp_path: Path) -> None:
    """Host 0 has no part in the link between 1 and 2."""
    program = [str(compiled(named("openmpi"), "lost_link", folder)), str(tmp_path)]
    with Hosts(count=3) as own, ThreadPoolExecutor(1) as pool:
        job = pool.submit(run, own, program, "--set", "PEER_TIMEOUT=4")
        wait_until_it_works(job, tmp_path, 3)
        cut(own, 1, 2)
        _, output = job.result()
    assert len(list(tmp_path.glob("failed.*"))) == 3, output[-3000:]
    assert output.count(CHANNEL_SET) == 3, output[:3000]


def test_blocking_collectives_are_the_kernels_too(hosts: Hosts, folder: Path, tmp_path: Path) -> None:
    """Where option BLOCKING gives them to Urakata at all."""
    program = [str(compiled(named("openmpi"), "blocking_collectives", folder)), "1000" if FULL else "100"]
    code, output = run(hosts, program, "--blocking", "always", "--report", str(tmp_path))
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    engines = {(row.operation, row.engine) for row in summarise(tmp_path).rows}
    assert {("Bcast", "kernel"), ("Allgather", "kernel")} <= engines, engines
    assert not any(operation == "Bcast" and engine != "kernel" for operation, engine in engines), engines


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores: each rank of a host has one")
def test_where_ranks_share_a_node_it_is_said_once(folder: Path) -> None:
    """They have a core each, so the job has engine kernel; most of its communicators have ranks that share a node."""
    program = [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", "50"]
    with Hosts(count=2, split_cpus=False) as own:
        code, output = run(own, program, per_host=2)
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert "not engine kernel for a communicator of 4 ranks, and others" in output, output[:3000]
    assert output.count("several of its ranks are on one node") == 1 and CHANNEL_SET not in output, output[:3000]


def _instead(output: str, why: str) -> None:
    said = re.findall("(?:engine thread instead of|not engine) kernel: (.*)", output)
    assert len(said) == 1 and re.search(why, said[0]), output[:3000]
    assert CHANNEL_SET not in output


def test_without_io_uring_it_is_engine_thread(hosts: Hosts, folder: Path) -> None:
    """On one host only: all go by what the worst off has."""
    mpi = named("openmpi")
    without = compiled(mpi, "without_uring", folder)
    program = f"{compiled(mpi, 'random_nbc', folder)} --cases 50"
    start = f"{EXEC} --engine kernel --verbose 2 -- {program}"
    done = hosts.run(
        ["sh", "-c", f'[ "$(hostname)" != host2 ] || exec {without} {start}; exec {start}'],
        mpi_name=mpi.launcher,
        env=mpi.environment,
        timeout=SECONDS,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0 and " 0 wrong" in output, output[-3000:]
    _instead(output, "rank 2: the kernel gives no io_uring .*kernel.io_uring_disabled")


def test_where_not_all_ranks_have_it_it_is_engine_thread(hosts: Hosts, folder: Path) -> None:
    mpi = named("openmpi")
    program = f"{compiled(mpi, 'random_nbc', folder)} --cases 50"
    choice = 'engine=kernel; [ "$(hostname)" != host2 ] || engine=thread'
    done = hosts.run(
        ["sh", "-c", f"{choice}; exec {EXEC} --engine $engine --verbose 2 -- {program}"],
        mpi_name=mpi.launcher,
        env=mpi.environment,
        timeout=SECONDS,
    )
    output = done.stdout + done.stderr
    assert done.returncode == 0 and " 0 wrong" in output, output[-3000:]
    _instead(output, "ENGINE is kernel on 2 of 3 ranks only, this one the first")


def test_without_the_wire_it_is_engine_thread(hosts: Hosts, folder: Path) -> None:
    program = [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", "50"]
    code, output = run(hosts, program, "--transport", "native")
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    _instead(output, "no transport wire")


def test_several_ranks_of_a_node_have_engine_thread(hosts: Hosts, folder: Path) -> None:
    """They share a core here, too, which is what is said."""
    program = [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", "100"]
    code, output = run(hosts, program, per_host=2)
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    _instead(output, "ranks share cores here")
