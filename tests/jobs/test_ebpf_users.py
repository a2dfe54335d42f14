# SPDX-License-Identifier: BSD-3-Clause
"""eBPF code at the interfaces of test hosts: for whom it is there, and what is left of an `attach` that was killed."""

from __future__ import annotations

import os
import platform
import pwd
import random
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from ebpf_jobs import EBPF, EXEC, KERNEL, attach, run, skip_without_a_ring
from jobs import FULL, compiled, drawn_seed, named

from urakata.hosts import Hosts, available, ebpf

pytestmark = pytest.mark.skipif(not available()[0], reason=f"no test hosts here: {available()[1]}")

NAMED, OTHER = "nobody", "daemon"  # users that every machine has, without a right
PYTHON = "/usr/bin/python3"  # of these users, too

# BPF_OBJ_GET of a file, to read or to read and write; the words of the kernel.
OPEN_PINNED = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
for flags in (1 << 3, 0):
    path = ctypes.create_string_buffer(sys.argv[1].encode())
    wish = (ctypes.c_uint64 * 2)(ctypes.addressof(path), flags << 32)
    found = libc.syscall({number}, 7, wish, ctypes.sizeof(wish))
    print("open" if found >= 0 else os.strerror(ctypes.get_errno()))
"""
BPF = {"x86_64": 321, "aarch64": 280}


def as_user(name: str) -> list[str]:
    """Words that start a program as that user, with no group but its own, and no capability."""
    user = pwd.getpwnam(name)
    # In the hosts' /dev/shm everybody may write; their $TMPDIR is in a folder of root's.
    words = ["env", "TMPDIR=/dev/shm", "HOME=/dev/shm"]
    return [*words, "setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--clear-groups", "--no-new-privs"]


@pytest.fixture(scope="module")
def hosts(folder: Path) -> Iterator[Hosts]:
    """With eBPF code for NAMED and nobody else."""
    with Hosts(count=2) as made:
        attach(made)
        skip_without_a_ring(made, folder)
        for host in range(2):
            done = made.execute(host, [KERNEL, "attach", "eth0", ebpf.file(), "--generic", "--user", NAMED])
            assert done.returncode == 0, done.stderr
        yield made


@pytest.fixture(scope="module")
def program(hosts: Hosts, folder: Path) -> Iterator[str]:
    """Where all users can run it."""
    with tempfile.TemporaryDirectory(prefix="urakata-test-") as public:
        os.chmod(public, 0o755)
        copied = shutil.copy(compiled(named("mpich"), "random_nbc", folder), public)
        for needed in (copied, EXEC, named("mpich").launcher):
            if hosts.execute(0, [*as_user(NAMED), "test", "-x", needed]).returncode != 0:
                pytest.skip(f"user {NAMED} may not run {needed}")
        yield copied


def table(hosts: Hosts) -> str:
    number = pwd.getpwnam(NAMED).pw_uid
    return hosts.execute(0, ["find", "/run/urakata/bpf", "-name", str(number)]).stdout.strip()


def test_a_named_user_has_it(hosts: Hosts, program: str) -> None:
    code, output = run(hosts, [program, "--cases", "100"], name="mpich", before=as_user(NAMED))
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert output.count(EBPF) == 2, output[:3000]


@pytest.mark.parametrize("name", (OTHER, "root"))
def test_others_do_without(hosts: Hosts, program: str, name: str) -> None:
    code, output = run(hosts, [program, "--cases", "50"], name="mpich", before=as_user(name))
    assert code == 0 and " 0 wrong" in output, output[-3000:]
    assert "no eBPF code is attached for this user" in output and EBPF not in output, output[:3000]


@pytest.mark.skipif(platform.machine() not in BPF, reason="the number of bpf(2) is not known here")
def test_results_are_the_named_users_to_read(hosts: Hosts) -> None:
    script = OPEN_PINNED.format(number=BPF[platform.machine()])
    said = {}
    for name in (NAMED, OTHER):
        done = hosts.execute(0, [*as_user(name), PYTHON, "-c", script, table(hosts)])
        assert done.returncode == 0, done.stderr
        said[name] = done.stdout.split("\n")[:2]
    assert said == {NAMED: ["open"] * 2, OTHER: ["Permission denied"] * 2}


@pytest.mark.parametrize("name", (NAMED, OTHER))
def test_only_root_attaches_and_detaches(hosts: Hosts, name: str) -> None:
    before = hosts.execute(0, [KERNEL, "list"]).stdout
    assert before == f"eth0, generic, for {NAMED}\n"
    for words in (["attach", "eth0", ebpf.file(), "--generic"], ["detach", "eth0"]):
        done = hosts.execute(0, [*as_user(name), KERNEL, *words])
        assert done.returncode == 1 and "only root" in done.stderr, done.stderr
    place = table(hosts)
    for words in (
        ["rm", "-f", place],
        ["mv", place, f"{place}0"],
        ["ip", "link", "set", "dev", "eth0", "xdpgeneric", "off"],
    ):
        assert hosts.execute(0, [*as_user(name), *words]).returncode != 0, words
    assert hosts.execute(0, [KERNEL, "list"]).stdout == before and table(hosts) == place


def clean(hosts: Hosts) -> None:
    """Detaching leaves nothing, whatever there was."""
    done = hosts.execute(0, [KERNEL, "detach", "eth0"])
    assert done.returncode == 0, done.stderr
    assert hosts.execute(0, [KERNEL, "list"]).stdout == "at no interface\n"
    assert "xdp" not in hosts.execute(0, ["ip", "link", "show", "eth0"]).stdout
    shown = hosts.execute(0, ["ls", "/run/urakata/bpf"]).stdout.split()
    assert not [name for name in shown if not name.endswith(".debug")], shown  # the file system's own


def test_whenever_attaching_is_killed_it_can_be_listed_and_detached() -> None:
    """Also where it takes the place of what was; and it can be attached anew."""
    chance = random.Random(drawn_seed())
    words = [KERNEL, "attach", "eth0", ebpf.file(), "--generic", "--user", NAMED]
    listed: set[str] = set()
    with Hosts(count=1) as own:
        attach(own)
        begin = time.monotonic()
        assert own.execute(0, words).returncode == 0
        seconds = time.monotonic() - begin
        for number in range(300 if FULL else 24):
            attached = number % 2 == 0
            if not attached:
                clean(own)
            moment = max(chance.uniform(0, 1.1 * seconds), 1e-6)  # 0 would be never
            own.execute(0, ["timeout", "-s", "KILL", f"{moment:.6f}", *words], timeout=20)
            shown = own.execute(0, [KERNEL, "list"])
            listed.add(shown.stdout)
            assert shown.returncode == 0 and not (attached and "eth0" not in shown.stdout), shown
            assert re.fullmatch(r"at no interface\n|eth0, generic, for( \w+)?\n", shown.stdout), shown
            if number % 4 < 2:
                done = own.execute(0, words)
                assert done.returncode == 0, done.stderr
                assert own.execute(0, [KERNEL, "list"]).stdout == f"eth0, generic, for {NAMED}\n"
            else:
                clean(own)
                assert own.execute(0, words).returncode == 0
    print(*listed)
