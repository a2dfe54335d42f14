# SPDX-License-Identifier: BSD-3-Clause
"""Test hosts on several sites: long links with the set delay, rates, losses and cuts, and jobs across them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGES = Path(__file__).resolve().parents[2] / "python"
sys.path.insert(0, str(PACKAGES))

from spaces import until  # noqa: E402

from urakata import launcher, paths  # noqa: E402
from urakata.hosts import Hosts, HostsError, LinkSettings, Sites, available, gateway, long_links, sites  # noqa: E402
from urakata.hosts.long_links import LinkError, all_links  # noqa: E402

needs_sites = pytest.mark.skipif(not available(sites=True)[0], reason=f"no sites here: {available(sites=True)[1]}")

# Rank 0 scatters 64 KiB of the number r to each rank r.
SCATTER = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { BYTES = 65536 };
int main(int argc, char** argv) {
  int rank, size;
  char host[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gethostname(host, sizeof host);
  char* all = malloc((size_t)size * BYTES);
  char* own = malloc(BYTES);
  for (int r = 0; r < size; ++r) memset(all + (size_t)r * BYTES, r, BYTES);
  MPI_Scatter(all, BYTES, MPI_BYTE, own, BYTES, MPI_BYTE, 0, MPI_COMM_WORLD);
  printf("rank %d of %d on %s got %d\\n", rank, size, host, own[BYTES - 1]);
  free(all);
  free(own);
  MPI_Finalize();
  return 0;
}
"""


@pytest.mark.parametrize(("text", "sizes"), [("2x4", [4, 4]), ("4+2+3", [4, 2, 3]), ("1x3", [3])])
def test_sites_are_read(text: str, sizes: list[int]) -> None:
    assert sites.parse_sites(text) == sizes


@pytest.mark.parametrize("text", ["", "2x", "x4", "0x4", "2x0", "9x1", "2x101", "4+0", "-2x4"])
def test_wrong_sites_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match="sites"):
        sites.parse_sites(text)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("delay=11s", "the longest that is possible"),
        ("delay=8", "with us, ms or s"),
        ("rate=0mbit", "at least 64kbit"),
        ("rate=200gbit", "more than 100gbit"),
        ("delay=10s,rate=10gbit", "at most 1 GiB is possible"),
        ("loss=100%", "below 1"),
        ("loss=-1", "below 1"),
        ("queue=1000", "from 128K"),
        ("speed=1", "delay, rate, flow-rate, queue, loss"),
        ("delay", "NAME=VALUE"),
    ],
)
def test_settings_that_cannot_be_are_told_with_what_can(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=re.escape(words)):
        sites.parse_settings(text, LinkSettings())


@pytest.mark.parametrize("text", ["0-2:delay=1ms", "0-0:delay=1ms", "0-1", "a-b:delay=1ms", "0-1:delay=x"])
def test_links_that_there_are_not_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"the (link|delay)"):
        Sites([1, 1]).set_link(text)


@pytest.mark.parametrize("text", ["host0-host1=1mbit", "host0-host9=1mbit", "host0=1mbit", "host0-host2=fast"])
def test_flows_within_a_site_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"host|rate"):
        Sites([2, 1]).set_flow(text)


def test_directions_have_their_own_settings_and_seeds() -> None:
    asked = Sites([2, 1], LinkSettings(delay_us=1000, rate=10**8))
    asked.set_link("0>1:delay=2ms,loss=1%")
    asked.set_flow("host1-host2=5mbit")
    onward, flow, back, flow_back = asked.commands(0, 1)
    assert "delay=2000000 loss=0.01 rate=100000000 queue=131072" in onward
    assert "delay=1000000 loss=0.0" in back
    assert onward.split()[2] != back.split()[2]
    assert flow == "flow-rate 0 10.87.0.2 10.87.1.1 5000000"
    assert flow_back == "flow-rate 1 10.87.1.1 10.87.0.2 5000000"


def test_congestion_control_that_the_kernel_lacks_is_told() -> None:
    with pytest.raises(ValueError, match=r"there are .*reno"):
        Hosts(sites=Sites([1, 1]), congestion="snail")
    with pytest.raises(ValueError, match="long links only"):
        Hosts(count=2, congestion="reno")


def test_missing_device_is_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "_DEVICE", "/dev/no-such-device")
    with pytest.raises(HostsError, match="there is no /dev/no-such-device"), Hosts(sites=Sites([1, 1])):
        pass


@needs_sites
def test_job_runs_over_two_sites(tmp_path: Path) -> None:
    try:
        mpi = launcher.find_mpi("openmpi")
    except paths.NotFoundError as error:
        pytest.skip(str(error))
    source, program = tmp_path / "scatter.c", tmp_path / "scatter"
    source.write_text(SCATTER)
    subprocess.run([str(mpi.launcher.parent / "mpicc"), source, "-o", program], check=True, env=mpi.environment())
    with Hosts(sites=Sites([2, 2], LinkSettings(delay_us=1000, flow_rate=100_000_000))) as hosts:
        before = hosts.control(0, 1, "stats")["directions"][0]["segments"]["delivered_bytes"]
        done = hosts.run([str(program)], mpi_name=mpi, timeout=60)
        after = hosts.control(0, 1, "stats")["directions"][0]["segments"]["delivered_bytes"]
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split("\n"))[1:] == [f"rank {r} of 4 on host{r} got {r}" for r in range(4)]
    assert after - before > 2 * 65536


@pytest.fixture(scope="module")
def three() -> Iterator[Hosts]:
    """Sites of two, one and one hosts: host0 and host1, host2, host3."""
    asked = Sites([2, 1, 1], LinkSettings(delay_us=2000), seed=5)
    asked.set_link("0-2:rate=20mbit")
    with Hosts(sites=asked, congestion=["reno", "reno", "reno", "cubic"], settings={"net.ipv4.tcp_sack": "0"}) as made:
        yield made


def datagrams(hosts: Hosts, source: int, destination: int, number: int, port: int) -> dict[str, int | dict[str, int]]:
    """Sends numbered datagrams from host to host; what the receiver says (flows.py)."""
    listening = hosts.start_module(destination, "flows", ["count", str(port)])
    listening.wait_for_line()
    words = ["datagrams", hosts.addresses[destination], str(port), str(number), "2000"]
    sent = hosts.start_module(source, "flows", words).finish(60)
    assert sent.returncode == 0, sent.stderr
    said: dict[str, int | dict[str, int]] = json.loads(str(listening.finish(60).stdout).splitlines()[-1])
    return said


def hosts_command(*words: str) -> str:
    """Of `urakata hosts WORDS` for the instance of this process: what it prints, or why it fails."""
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES)}
    line = [sys.executable, "-m", "urakata", "hosts", *words, "--instance", str(os.getpid())]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)
    return done.stdout if done.returncode == 0 else done.stderr


@needs_sites
def test_each_site_is_a_network_and_the_way_out_is_its_gateway(three: Hosts) -> None:
    routes = [three.execute(i, ["ip", "route"]).stdout for i in range(4)]
    assert "10.87.0.0/16 via 10.87.0.254 dev eth0 mtu lock 1500 congctl reno" in routes[1]
    assert "10.87.0.0/16 via 10.87.2.254 dev eth0 mtu lock 1500 congctl cubic" in routes[3]
    assert three.execute(2, ["cat", "/proc/sys/net/ipv4/tcp_sack"]).stdout == "0\n"
    assert "10.87.2.1 host3" in three.execute(0, ["cat", "/etc/hosts"]).stdout
    assert all_links(three._folder) == [(0, 1), (0, 2), (1, 2)]


@needs_sites
def test_no_way_is_shorter_than_its_delays(three: Hosts) -> None:
    """2 ms there and 2 ms back, between all sites."""
    for port, (source, destination) in enumerate([(1, 2), (2, 3), (3, 0)], start=6000):
        answering = three.start_module(destination, "flows", ["answer", str(port)])
        answering.wait_for_line()
        words = ["ask", three.addresses[destination], str(port), "5"]
        said = three.start_module(source, "flows", words).finish(60)
        assert float(str(said.stdout)) >= 4000
        assert answering.finish(60).returncode == 0


@needs_sites
def test_link_and_flow_carry_no_more_than_their_rate(three: Hosts) -> None:
    """Two flows go on until the slow one, had it half of the link, would be beyond its rate."""
    three.control(0, 2, f"flow-rate 0 {three.addresses[0]} {three.addresses[3]} 8000000")
    slack = 2 * sites.LEAST_QUEUE
    said = [three.control(0, 2, "stats")]
    receivers, senders = [], []
    for source, port in [(0, 6100), (1, 6101)]:
        receivers.append(three.start_module(3, "flows", ["receive", str(port), "1", "0", "600"]))
        receivers[-1].wait_for_line()
        senders.append(three.start_module(source, "flows", ["send", three.addresses[3], str(port), "1", "600"]))

    def slow_bytes() -> int:
        said.append(three.control(0, 2, "stats"))
        flows = [flow for flow in said[-1]["directions"][0]["flows"] if flow["to"] == f"{three.addresses[3]}:6100"]
        return sum(flow["delivered_bytes"] for flow in flows)

    until(lambda: slow_bytes() > 8 * slack, "the slow flow carries nothing", seconds=60)
    slow = slow_bytes()
    seconds = (said[-1]["time_ns"] - said[0]["time_ns"]) / 1e9
    then, now = (said[i]["directions"][0]["segments"]["delivered_bytes"] for i in (0, -1))
    assert slow <= 8e6 / 8 * seconds + slack
    assert slow < now - then <= 20e6 / 8 * seconds + slack
    for receiver in receivers:
        receiver.signal(signal.SIGKILL)
    for command in senders:  # which have nobody to send to
        assert command.finish(60).returncode == 0
    for receiver in receivers:
        assert receiver.finish(60).returncode != 0


@needs_sites
def test_bytes_survive_losses_out_of_large_packets(three: Hosts) -> None:
    """1 MiB through 3 % loss: single segments are lost, and what arrives is what was sent."""
    data = bytes(i * 31 % 251 for i in range(1 << 20))
    source = (
        "import socket, sys; c = socket.create_connection((sys.argv[1], 6200));"
        "c.sendall(bytes(i * 31 % 251 for i in range(1 << 20)))"
    )
    sink = (
        "import hashlib, socket; s = socket.create_server(('', 6200)); print('ready', flush=True); c, _ = s.accept()\n"
        "h = hashlib.sha256()\nwhile d := c.recv(65536): h.update(d)\nprint(h.hexdigest())"
    )
    three.control(0, 1, "set 0 loss=0.03")
    before = three.control(0, 1, "stats")["directions"][0]["segments"]
    receiver = three.start(2, [sys.executable, "-S", "-c", sink])
    receiver.wait_for_line()
    assert three.execute(0, [sys.executable, "-S", "-c", source, three.addresses[2]], timeout=60).returncode == 0
    assert str(receiver.finish(60).stdout).split()[-1] == hashlib.sha256(data).hexdigest()
    three.control(0, 1, "set 0 loss=0")
    after = three.control(0, 1, "stats")["directions"][0]["segments"]
    assert 5 <= after["lost"] - before["lost"] < after["offered"] - before["offered"]
    assert after["loss_runs"][0] > sum(after["loss_runs"][1:])


@needs_sites
def test_lost_datagrams_are_those_that_the_link_counts(three: Hosts) -> None:
    three.control(1, 2, "set 1 loss=0.2")
    before = three.control(1, 2, "stats")["directions"][1]["segments"]["lost"]
    seen = datagrams(three, 3, 2, 500, 6300)
    lost = three.control(1, 2, "stats")["directions"][1]["segments"]["lost"] - before
    three.control(1, 2, "set 1 loss=0")
    runs, came, overrun = seen["runs"], seen["came"], seen["overrun"]
    assert isinstance(runs, dict) and isinstance(came, int) and isinstance(overrun, int)
    missing = sum(int(length) * count for length, count in runs.items())
    assert seen["until"] == came + missing
    assert 0 < missing - overrun <= lost  # after the last that came more may be lost


@needs_sites
def test_cut_flow_and_cut_link_let_nothing_through_until_restored(three: Hosts) -> None:
    def connects(source: int, destination: int, port: int, limit: float = 30) -> bool:
        answering = three.start_module(destination, "flows", ["answer", str(port)])
        answering.wait_for_line()
        attempt = f"import socket; socket.create_connection(('{three.addresses[destination]}', {port}), {limit})"
        code = three.execute(source, [sys.executable, "-S", "-c", attempt], timeout=60).returncode
        if code:
            answering.signal(signal.SIGKILL)
        answering.finish(60)
        return code == 0

    folder = three._folder
    long_links.command_all(folder, "host0-host2", "cut", one_way=False)
    assert not connects(0, 2, 6400, limit=0.5)
    assert connects(1, 2, 6401)
    long_links.command_all(folder, "host0-host2", "restore", one_way=False)
    assert connects(0, 2, 6402)
    long_links.command_all(folder, "1-0", "cut", one_way=True)
    assert not connects(0, 2, 6403, limit=0.5)  # the answer is cut off
    shown = three.control(0, 1, "stats")["directions"]
    assert [direction["settings"]["cut"] for direction in shown] == [False, True]
    assert shown[1]["segments"]["cut"] > 0
    long_links.command_all(folder, "0-1", "restore", one_way=False)
    assert connects(2, 0, 6404)


@needs_sites
def test_links_are_set_anew_while_they_run(three: Hosts) -> None:
    long_links.change(three._folder, "1-2", "delay=3ms,loss=0.5", one_way=False)
    settings = three.control(1, 2, "stats")["directions"][1]["settings"]
    assert (settings["delay_ns"], settings["loss"]) == (3_000_000, 0.5)
    long_links.change(three._folder, "1-2", "delay=2ms,loss=0", one_way=False)
    for what, words in [
        ("0-7", "between the sites 0 and 7"),
        ("host0-host9", "no host 'host9'"),
        ("2", "neither a link"),
    ]:
        with pytest.raises(LinkError, match=words):
            long_links.command_all(three._folder, what, "cut", one_way=False)
    with pytest.raises(LinkError, match="is not possible"):
        three.control(0, 1, "set 0 delay=soon")


@needs_sites
def test_commands_find_the_instance(three: Hosts) -> None:
    pytest.importorskip("typer")
    assert hosts_command("links", "cut", "0-2") == ""
    shown = json.loads(hosts_command("links", "--json"))["0-2"]["directions"]
    assert [direction["settings"]["cut"] for direction in shown] == [True, True]
    assert hosts_command("links", "restore", "0-2") == ""
    assert three.control(0, 2, "stats")["directions"][0]["settings"]["cut"] is False


def command_of(process: Path) -> bytes:
    try:
        return (process / "cmdline").read_bytes()
    except OSError:
        return b""


@needs_sites
def test_links_end_with_a_killed_owner() -> None:
    owner = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import sys; sys.path.insert(0, sys.argv[1])\n"
            "from urakata.hosts import Hosts, Sites\n"
            "with Hosts(sites=Sites([1, 1, 1])) as hosts:\n"
            "    print(hosts._folder, flush=True)\n"
            "    hosts.execute(0, ['sleep', '1000'])\n",
            str(PACKAGES),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert owner.stdout
    folder = owner.stdout.readline().strip()
    processes = [process for process in Path("/proc").iterdir() if process.name.isdigit()]
    links = [int(process.name) for process in processes if f"{folder}/link-".encode() in command_of(process)]
    assert len(links) == 3
    watched = [os.pidfd_open(link) for link in links]
    owner.kill()
    owner.wait(60)
    owner.stdout.close()
    for link in watched:
        assert select.select([link], [], [], 60)[0]
        os.close(link)


@needs_sites
def test_check_measures_what_the_links_give() -> None:
    pytest.importorskip("typer")
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES)}
    words = ["--sites", "1+1", "--delay", "3ms", "--link-rate", "40mbit", "--flow-rate", "20mbit", "--loss", "3%"]
    # A flow whose first packet is lost begins after a second.
    line = [sys.executable, "-m", "urakata", "hosts", "check", *words, "--seconds", "1.5", "--json"]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=120, check=False)
    onward, back = json.loads(done.stdout)
    assert (onward["first"], onward["second"], back["first"], back["second"]) == (0, 1, 1, 0)
    for link in (onward, back):
        assert link["round_trip_us"] >= 6000
        assert link["flows"] == 2
        assert link["one_flow"] > 0
        assert 0 < link["lost"] < link["datagrams"]
    assert done.returncode == (1 if any(link["faults"] or link["too_slow"] for link in (onward, back)) else 0)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--sites", "2x0"], "the sites '2x0'"),
        (["--sites", "2x1", "-n", "2"], "leave -n out"),
        (["--link-rate", "1gbit"], "need --sites"),
        (["--sites", "2x1", "--loss", "2"], "below 1"),
        (["--sites", "2x1", "--sysctl", "kernel.hostname=x"], "not one of a host's network"),
    ],
)
def test_command_line_refuses_what_cannot_be(words: list[str], said: str) -> None:
    pytest.importorskip("typer")
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES)}
    line = [sys.executable, "-m", "urakata", "hosts", "check", *words]
    done = subprocess.run(line, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert said in done.stderr
