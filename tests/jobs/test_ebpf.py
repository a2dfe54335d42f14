# SPDX-License-Identifier: BSD-3-Clause
"""Small collectives by eBPF code at the interfaces of test hosts, under engine kernel."""

from __future__ import annotations

import json
import random
import re
import shutil
import subprocess
import sysconfig
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from broken_links import wait_until_it_works
from ebpf_jobs import CASES, EBPF, KERNEL, attach, run, skip_without_a_ring
from jobs import FULL, compiled, drawn_seed, named, source_of
from killing import STAGES, KilledJobs
from typer.testing import CliRunner

from urakata import paths
from urakata.cli import build_app
from urakata.hosts import Hosts, available, ebpf
from urakata.report.summary import summarise

pytestmark = pytest.mark.skipif(not available()[0], reason=f"no test hosts here: {available()[1]}")

TREE = Path(__file__).resolve().parents[2]
OPERATIONS = (TREE / "examples" / "affine.bpf.c", source_of("max_and_place.bpf.c"))


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with Hosts(count=3) as made:
        attach(made)
        yield made


def operation(source: Path, folder: Path) -> str:
    """An operation of a program's own, compiled as urakata_op.bpf.h says; its name is the file's."""
    compilers = (shutil.which(f"clang{version}") for version in ("", *(f"-{number}" for number in range(21, 13, -1))))
    clang = next(filter(None, compilers), None)
    if clang is None:
        pytest.skip("no clang here that compiles eBPF code")
    name = source.name.removesuffix(".bpf.c")
    target = folder / f"{name}.bpf.o"
    include = [f"-I{TREE / 'include'}", f"-I/usr/include/{sysconfig.get_config_var('MULTIARCH')}"]
    words = [clang, "-target", "bpf", "-mcpu=v3", "-O2", "-g", "-Wall", "-Werror", *include, "-c", str(source)]
    made = subprocess.run([*words, "-o", str(target)], capture_output=True, text=True, check=False)
    assert made.returncode == 0, made.stderr
    return f"{name}={target}"


def no_op_lines(output: str) -> list[str]:
    """Of which operations it is said that they are not attached."""
    return sorted(re.findall(r"not eBPF code for operation (\w+): it is not attached", output))


@pytest.fixture(scope="module", autouse=True)
def needs_a_ring(hosts: Hosts, folder: Path) -> None:
    skip_without_a_ring(hosts, folder)


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_collectives_are_right(hosts: Hosts, folder: Path, name: str) -> None:
    """Those that eBPF code has and all others, mixed, on many communicators."""
    seed = str(time.time_ns() % 1_000_000)
    program = [str(compiled(named(name), "random_nbc", folder)), "--cases", CASES, "--seed", seed]
    code, output = run(hosts, program, name=name)
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert output.count(EBPF) == 3, output[:3000]


def test_sums_are_the_processors(hosts: Hosts, tmp_path: Path) -> None:
    """Bit for bit, of numbers that are hard to add, between three hosts; and it was eBPF code that added them."""
    report = tmp_path / "report"
    program = str(paths.program("bench/openmpi/kernel"))
    words = ["--part", "small", "--sizes", "8,1408", "--repetitions", "300"]
    code, output = run(hosts, [program, *words], "--report", str(report))
    assert code == 0, output[-3000:]
    records = [json.loads(line) for line in output.splitlines() if line.startswith('{"part"')]
    assert len(records) == 4 and all(record["wrong"] == 0 for record in records), output[-3000:]
    said = CliRunner().invoke(build_app(), ["report", str(report), "--json"])
    assert "eBPF code" in said.output, said.output


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_operations_of_programs_own(folder: Path, name: str) -> None:
    """eBPF code computes where the last data come from another node; the function where they are the rank's own. Where
    only one of them is attached the other one goes the way it went."""
    program = str(compiled(named(name), "own_operations", folder))
    words = [program, "right", "3000" if FULL else "300", str(time.time_ns() % 1_000_000)]
    own = [operation(source, folder) for source in OPERATIONS]
    calls = []
    for attached, lacking in (((), ["affine", "max_and_place"]), (own[:1], ["max_and_place"]), (own, [])):
        with Hosts(count=3) as made:
            attach(made, attached)
            code, output = run(made, words, name=name)
        assert code == 0 and output.count(EBPF) == 3, output[-3000:]
        assert no_op_lines(output) == lacking, output[:3000]
        found = re.search(r": 0 wrong, ([0-9.]+) calls an element", output)
        assert found, output[-3000:]
        calls.append(float(found[1]))
    assert calls[0] > calls[1] > calls[2] and calls[2] < 0.8, calls


def test_ebpf_computes_blocking_collectives(hosts: Hosts, folder: Path, tmp_path: Path) -> None:
    """Where option BLOCKING gives them to Urakata at all."""
    program = [str(compiled(named("openmpi"), "blocking_collectives", folder)), "1000" if FULL else "100"]
    code, output = run(hosts, program, "--blocking", "always", "--report", str(tmp_path))
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    small = {row.operation for row in summarise(tmp_path).rows if row.algorithm == "eBPF"}
    assert small == {"Allreduce", "Reduce", "Bcast", "Barrier", "Iallreduce"}, small


def test_what_a_name_of_an_operation_cannot_be(hosts: Hosts, folder: Path) -> None:
    code, output = run(hosts, [str(compiled(named("openmpi"), "own_operations", folder)), "refused"])
    assert code == 0 and "0 wrong" in output, output[-3000:]
    assert "says max_and_place, and this one other" in output or "says other, and this one max_and_place" in output, (
        output[-3000:]
    )


def test_where_nodes_have_other_operations_none_is_used(folder: Path) -> None:
    own = [operation(source, folder) for source in OPERATIONS]
    with Hosts(count=3) as made:
        attach(made, own)
        again = made.execute(2, [KERNEL, "attach", "eth0", ebpf.file(), "--generic", "--op", own[0]])
        assert again.returncode == 0, again.stderr
        shown = made.execute(2, [KERNEL, "list"]).stdout
        assert shown == "eth0, generic, for root; operations affine of 16 B\n", shown
        code, output = run(made, [str(compiled(named("openmpi"), "own_operations", folder)), "right", "50", "1"])
    assert code == 0 and "0 wrong" in output, output[-3000:]
    assert output.count("not the same ones are attached on all nodes") == 1, output[:3000]


REFUSED = """#include <urakata_op.bpf.h>
URA_OP(long) { for (long i = 0; i < *left; ++i) *result += right[i]; }
"""


def test_operations_that_cannot_be_attached_are_told(hosts: Hosts, folder: Path, tmp_path: Path) -> None:
    """By name, with the verifier's reason; and what was attached before stays."""
    endless = tmp_path / "endless.bpf.c"
    endless.write_text(REFUSED)
    good = operation(OPERATIONS[0], folder)
    before = hosts.execute(0, [KERNEL, "list"]).stdout
    for wish, reason in (
        (operation(endless, tmp_path), "the kernel refuses it"),
        (f"affine={ebpf.file()}", "no URA_OP"),
        (f"affine={tmp_path}/nowhere.o", "No such file"),
        (good.replace("affine=", "="), "an operation's name is 1 to 27 visible characters"),
    ):
        done = hosts.execute(0, [KERNEL, "attach", "eth0", ebpf.file(), "--generic", "--op", wish])
        assert done.returncode == 1 and reason in done.stderr, done.stderr
    done = hosts.execute(0, [KERNEL, "attach", "eth0", ebpf.file(), "--op", good, "--op", good])
    assert done.returncode == 1 and "two operations have the name affine" in done.stderr, done.stderr
    assert hosts.execute(0, [KERNEL, "list"]).stdout == before


def test_a_rank_that_ends_early_ends_the_job(hosts: Hosts, folder: Path, tmp_path: Path) -> None:
    """And leaves its slots to the next job."""
    program = [str(compiled(named("openmpi"), "early_exit", folder)), "kill", str(tmp_path)]
    code, output = run(hosts, program)
    assert code != 0 and output.count(EBPF) == 3, output[-3000:]
    code, output = run(hosts, [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", "50"])
    assert code == 0 and output.count(EBPF) == 3, output[-3000:]


def test_ranks_that_are_killed_leave_their_slots(hosts: Hosts, folder: Path) -> None:
    """At random moments of their stages; each job has some of a user's 32 slots on a node."""
    chance = random.Random(drawn_seed())
    mpi = named("openmpi")
    jobs = KilledJobs(hosts, mpi, compiled(mpi, "killed_at_stage", folder))
    for stage in STAGES[1:] * (20 if FULL else 1):
        jobs.kill(stage, chance)
    code, output = run(hosts, [str(compiled(mpi, "random_nbc", folder)), "--cases", "50"])
    assert code == 0 and output.count(EBPF) == 3, output[-3000:]


def test_where_it_is_detached_under_a_job_operations_end(folder: Path, tmp_path: Path) -> None:
    program = [str(compiled(named("openmpi"), "allreduce_until_error", folder)), str(tmp_path)]
    with Hosts(count=2) as own, ThreadPoolExecutor(1) as pool:
        attach(own)
        job = pool.submit(run, own, program, "--set", "PEER_TIMEOUT=4")
        wait_until_it_works(job, tmp_path, 2)
        assert own.execute(1, [KERNEL, "detach", "eth0"]).returncode == 0
        code, output = job.result()
        assert own.execute(1, [KERNEL, "list"]).stdout == "at no interface\n"
    assert code == 0 and output.count("ended with an error") == 2, output[-3000:]


def test_what_is_not_urakatas_passes(hosts: Hosts) -> None:
    listen = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', 7777)); s.settimeout(20)"
    receiver = hosts.start(1, ["python3", "-c", f"{listen}; print(flush=True); print(s.recv(99))"])
    receiver.wait_for_line()
    # As a frame of Urakata's begins, for a communicator that there is not.
    send = "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
    send += f"s.sendto(bytes.fromhex('7572 6b34') + bytes(60), ('{hosts.addresses[1]}', 7777))"
    assert hosts.execute(0, ["python3", "-c", send]).returncode == 0
    assert "urk4" in receiver.finish(20).stdout


def test_others_can_neither_attach_nor_read(hosts: Hosts) -> None:
    nobody = ["setpriv", "--reuid", "65534", "--clear-groups"]
    done = hosts.execute(0, [*nobody, KERNEL, "attach", "eth0", ebpf.file()])
    assert done.returncode == 1 and "only root" in done.stderr, done.stderr
    table = hosts.execute(0, ["find", "/run/urakata/bpf", "-name", "0"]).stdout.strip()
    assert table
    done = hosts.execute(0, [*nobody, "test", "-r", table])
    assert done.returncode == 1


def test_what_the_kernel_refuses_is_told(hosts: Hosts, tmp_path: Path) -> None:
    done = hosts.execute(0, [KERNEL, "attach", "eth7", ebpf.file()])
    assert done.returncode == 1 and "there is no interface eth7" in done.stderr, done.stderr
    broken = tmp_path / "broken.o"
    broken.write_bytes(Path(ebpf.file()).read_bytes()[:500])
    done = hosts.execute(0, [KERNEL, "attach", "lo", str(broken)])
    assert done.returncode == 1 and "reading" in done.stderr, done.stderr


NATIVE_OVER_GENERIC = "eth0 has it in the kernel's own part (--generic), and the kernel allows it in one part only"


def test_what_cannot_be_attached_leaves_what_was(folder: Path, tmp_path: Path) -> None:
    """A file that is cut off, the driver's part in place of the kernel's own, an interface whose driver runs none:
    a job then finds all as it was. What can be attached takes the place of what was."""
    good = ebpf.file()
    broken = tmp_path / "broken.o"
    broken.write_bytes(Path(good).read_bytes()[:500])
    with Hosts(count=2) as own:
        attach(own)
        assert own.execute(0, [KERNEL, "attach", "lo", good, "--generic"]).returncode == 0
        before = own.execute(0, [KERNEL, "list"]).stdout
        assert before == "lo, generic, for root\neth0, generic, for root\n", before
        for words, reason in (
            (["eth0", str(broken), "--generic"], "reading it"),
            (["eth0", good], NATIVE_OVER_GENERIC),
            (["lo", good], NATIVE_OVER_GENERIC.replace("eth0", "lo")),
        ):
            done = own.execute(0, [KERNEL, "attach", *words])
            assert done.returncode == 1 and reason in done.stderr, done.stderr
            assert own.execute(0, [KERNEL, "list"]).stdout == before
        assert own.execute(0, [KERNEL, "detach", "lo"]).returncode == 0
        done = own.execute(0, [KERNEL, "attach", "lo", good])
        assert done.returncode == 1 and "attaching to lo" in done.stderr, done.stderr
        assert "xdp" not in own.execute(0, ["ip", "link", "show", "lo"]).stdout
        assert own.execute(0, [KERNEL, "list"]).stdout == "eth0, generic, for root\n"
        for _ in range(2):
            code, output = run(own, [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", "50"])
            assert code == 0 and output.count(EBPF) == 2, output[-3000:]
            assert own.execute(0, [KERNEL, "attach", "eth0", good, "--generic"]).returncode == 0
        shown = own.execute(0, ["ls", "/run/urakata/bpf"]).stdout.split()
        left = [name for name in shown if not name.endswith(".debug")]  # the file system's own
        assert len(left) == 1 and left[0][-1].isdigit(), left


def test_where_one_node_lacks_it_all_are_told(folder: Path) -> None:
    """Somebody wanted it, so it is a warning: no option is needed to see it."""
    with Hosts(count=2) as own:
        attach(own)
        assert own.execute(1, [KERNEL, "detach", "eth0"]).returncode == 0
        program = [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", "50"]
        code, output = run(own, program, "--verbose", "1")
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    line = "engine kernel: small collectives not by eBPF code: rank 1: no eBPF code is attached for this user"
    assert output.count(line) == 1, output[:3000]


def test_where_it_is_not_attached_it_is_the_engines(folder: Path) -> None:
    with Hosts(count=2) as own:
        code, output = run(own, [str(compiled(named("openmpi"), "random_nbc", folder)), "--cases", "50"])
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert "small collectives not by eBPF code: rank 0: " in output and EBPF not in output, output[:3000]
