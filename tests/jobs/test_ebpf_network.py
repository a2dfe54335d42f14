# SPDX-License-Identifier: BSD-3-Clause
"""eBPF code on test hosts whose network loses, doubles and reorders frames, or has traffic of others."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import sys
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
from bad_network import CannotError, spoiled
from ebpf_jobs import EBPF, attach, run, skip_without_a_ring
from foreign_traffic import SIZES
from jobs import FULL, compiled, drawn_seed, named

from urakata.hosts import Hosts, HostsError, LinkSettings, Sites, available
from urakata.hosts.command import Command

pytestmark = pytest.mark.skipif(not available()[0], reason=f"no test hosts here: {available()[1]}")

TRAFFIC = [sys.executable, str(Path(__file__).with_name("foreign_traffic.py"))]
CASES = "20000" if FULL else "300"
FAR_CASES = "2000" if FULL else "30"  # TCP takes 200 ms for each segment that it loses


@pytest.fixture(scope="module")
def hosts(folder: Path) -> Iterator[Hosts]:
    with Hosts(count=3) as made:
        attach(made)
        skip_without_a_ring(made, folder)
        yield made


def random_nbc(folder: Path, cases: str = CASES) -> tuple[list[str], int]:
    """The program with its words, and the seed in them."""
    seed = drawn_seed()
    return [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", cases, "--seed", seed], int(seed)


def all_right(code: int, output: str) -> None:
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert output.count(EBPF) == 3, output[:3000]


def test_frames_are_lost_doubled_and_reordered(hosts: Hosts, folder: Path) -> None:
    """Each twentieth is lost, each twentieth comes twice, each fifth late and behind others."""
    program, seed = random_nbc(folder)
    try:
        with spoiled(hosts, seed) as told:
            all_right(*run(hosts, program))
    except CannotError as error:
        pytest.skip(f"no bad network here: {error}")
    print(dict(told))
    assert told["lost"] > 0 and told["doubled"] > 0 and told["delayed"] > 0, told


@pytest.mark.skipif(not available(sites=True)[0], reason=f"no sites here: {available(sites=True)[1]}")
def test_long_links_lose_packets(folder: Path) -> None:
    """Those of TCP, too, by which other collectives go and the end of a rank is seen."""
    program, seed = random_nbc(folder, FAR_CASES)
    with Hosts(sites=Sites([1, 1, 1], LinkSettings(delay_us=200, loss=0.02), seed=seed)) as own:
        attach(own)
        all_right(*run(own, program))


def ports(hosts: Hosts, host: int) -> set[int]:
    """That are taken on a host, by TCP or UDP."""
    shown = hosts.execute(host, ["ss", "-H", "-tuan"]).stdout
    return {int(port) for port in re.findall(r":(\d+)\s+\S+:[\d*]+\s", shown)}


def ebpf_port(hosts: Hosts, host: int, job: Future[tuple[int, str]]) -> int:
    """A UDP port that a job has on a host."""
    address = hosts.addresses[host]
    while not job.done():
        if found := re.search(rf"{re.escape(address)}:(\d+)", hosts.execute(host, ["ss", "-H", "-uan"]).stdout):
            return int(found[1])
    raise AssertionError(job.result()[1][-3000:])


def start_answering(hosts: Hosts, port: int) -> tuple[Command, list[int]]:
    """On host 1; with its ports: one of TCP, and those of UDP that are the next free ones beside the given one."""
    for _ in range(5):
        taken = ports(hosts, 1)
        bulk = next(one for one in range(7000, 8000) if one not in taken)
        beside = [next(one for one in range(port + way, port + 100 * way, way) if one not in taken) for way in (-1, 1)]
        answering = hosts.start(1, [*TRAFFIC, "answer", *map(str, [bulk, *beside])])
        with contextlib.suppress(HostsError):  # the job has taken one meanwhile
            answering.wait_for_line()
            return answering, [bulk, *beside]
    raise AssertionError(answering.finish().stderr)


def test_traffic_of_others_passes_while_a_job_reduces(hosts: Hosts, folder: Path) -> None:
    """TCP in bulk, and datagrams of several sizes, to ports beside the job's own and to that one; all is right."""
    program, _ = random_nbc(folder)
    with ThreadPoolExecutor(1) as pool:
        job = pool.submit(run, hosts, program)
        port = ebpf_port(hosts, 1, job)
        answering, (bulk, *beside) = start_answering(hosts, port)
        goes_on, over = os.pipe()
        try:
            words = [*TRAFFIC, "ask", hosts.addresses[1], *map(str, [bulk, port, *beside])]
            asking = hosts.start(0, words, stdin=goes_on)
            code, output = job.result()
        finally:
            os.close(over)
            os.close(goes_on)
        asked = asking.finish(120)
        answering.signal(signal.SIGKILL)
        answering.finish(20)
    assert asked.returncode == 0, asked.stderr
    compared = json.loads(asked.stdout)
    print(compared)
    assert compared["wrong"] == 0 and compared["datagrams"] == compared["rounds"] * 4 * len(SIZES), compared
    all_right(code, output)
