# SPDX-License-Identifier: BSD-3-Clause
"""Programs that cannot live in a space run as ordinary processes, after a line that says why."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import FULL, compiled, named, passes, run_job
from spaces import EXEC, SPACE, compiled_text, left_behind, nothing_stays, parent, pids, until

from urakata import paths

__all__ = ["nothing_stays"]  # around every test here


@pytest.mark.parametrize(
    ("options", "reason"),
    [(["-fno-pie", "-no-pie"], "compile with -fPIE"), (["-static"], "statically linked"), (["-fsanitize=address"], "")],
)
def test_others_run_as_ordinary_processes_after_one_line(tmp_path: Path, options: list[str], reason: str) -> None:
    compiler = shutil.which("cc") or pytest.skip("no C compiler")
    (tmp_path / "main.c").write_text("int main(void) { return 9; }\n")
    made = subprocess.run([compiler, *options, "main.c", "-o", "main"], cwd=tmp_path, capture_output=True, check=False)
    if made.returncode != 0:
        pytest.skip(f"{compiler} cannot link with {' '.join(options)}")
    outcome = subprocess.run([*SPACE, "./main"], capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)
    assert outcome.returncode == 9
    assert outcome.stderr.count("\n") == 1 and "ordinary process" in outcome.stderr and reason in outcome.stderr


def test_debuggers_and_limits_say_why(tmp_path: Path) -> None:
    """Scripts and wrappers say nothing: they are followed (test_followed.py)."""
    debugger = tmp_path / "valgrind"
    debugger.symlink_to(shutil.which("true") or pytest.skip("no true"))
    outcome = subprocess.run([*SPACE, str(debugger)], capture_output=True, text=True, timeout=60, check=False)
    assert outcome.returncode == 0
    assert "starts another program" in outcome.stderr and outcome.stderr.count("\n") == 1
    limited = subprocess.run(
        ["/bin/sh", "-c", f"ulimit -v 20000000; {EXEC} --space -- true"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert limited.returncode == 0 and "ulimit -v unlimited" in limited.stderr


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_a_limit_of_addresses_is_one_line_and_no_end(folder: Path, name: str) -> None:
    """Under ulimit -v the ranks run outside of the space, with our collectives as ever."""
    program = str(compiled(named(name), "random_nbc", folder))
    limited = f"ulimit -v 1000000; exec {' '.join(SPACE)} {program} --cases 5"
    outcome = run_job(named(name), 2, ["/bin/sh", "-c", limited])
    passes(outcome)
    assert outcome.output.count("outside the space: the limit of memory (ulimit -v)") == 1


def test_the_reason_of_a_job_around_this_one_is_forgotten() -> None:
    outcome = subprocess.run(
        [*SPACE, "printenv", "URAKATA_SPACE_AT", "URAKATA_SPACE_REFUSED"],
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"URAKATA_SPACE_REFUSED": "of somebody else"},
        check=False,
    )
    assert outcome.stdout.count("\n") == 1 and "of somebody else" not in outcome.stdout, outcome


def test_a_missing_program_is_the_same_error(tmp_path: Path) -> None:
    outcome = subprocess.run([*SPACE, "./no-such"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert outcome.returncode == 127 and "no such file" in outcome.stderr


def test_check_says_whether_a_space_can_be_had(tmp_path: Path) -> None:
    """It tries; under a limit of memory it gives the reason that a run would give."""
    mpi = named("mpich")
    command = f"{sys.executable} -m urakata check --json --host {mpi.launcher}"
    environment = os.environ | {"PYTHONPATH": str(Path(paths.__file__).parents[1])}
    found = []
    for before in ("", "ulimit -v 30000000; "):
        asked = subprocess.run(
            ["/bin/sh", "-c", before + command],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env=environment,
            check=False,
        )
        found.append(json.loads(asked.stdout)["space"])
    assert found[0]["usable"] and not found[1]["usable"]
    assert "ulimit -v unlimited" in found[1]["why"]


def test_too_many_mappings_are_foreseen(tmp_path: Path) -> None:
    """Where the kernel's limit leaves no room for a rank, it runs outside, and says which limit."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("needs root and unshare, to show the space daemon another limit")
    (tmp_path / "limit").write_text("600\n")
    # Four that live until their input ends.
    (tmp_path / "ranks").write_text(f"exec 3<&0; for i in 1 2 3 4; do {' '.join(SPACE)} cat <&3 & done; wait\n")
    within = f"mount --bind {tmp_path}/limit /proc/sys/vm/max_map_count && exec sh {tmp_path}/ranks"
    said = tmp_path / "said"
    with (
        said.open("w") as errors,
        subprocess.Popen(["unshare", "--mount", "sh", "-c", within], stdin=subprocess.PIPE, stderr=errors) as job,
    ):
        assert job.stdin
        with job.stdin:  # closed at the end, whatever happens
            until(lambda: "sysctl vm.max_map_count" in said.read_text(), "no rank is told of the limit")
        assert job.wait(60) == 0


MANY = """
#include <stdio.h>
#include <unistd.h>

int main(void) {
  char byte;
  printf("pid %d\\n", getpid());
  fflush(stdout);
  return read(0, &byte, 1) != 0;
}
"""


@pytest.mark.skipif(not FULL, reason="300 processes: URAKATA_TEST_FULL=1")
def test_300_ranks_share_a_space(tmp_path: Path) -> None:
    """As many as no space had room for once; all live at the same time."""
    if os.geteuid() != 0 or not shutil.which("unshare"):
        pytest.skip("needs root and unshare, to show the space daemon another limit of mappings")
    (tmp_path / "limit").write_text("200000\n")  # the ranks here have few
    many = " ".join([*SPACE, compiled_text(tmp_path, "many", MANY)])
    (tmp_path / "ranks").write_text(f"exec 3<&0; for i in $(seq 300); do {many} <&3 & done; wait\n")
    within = f"mount --bind {tmp_path}/limit /proc/sys/vm/max_map_count && exec sh {tmp_path}/ranks"
    said = tmp_path / "said"
    with (
        said.open("w") as output,
        subprocess.Popen(
            ["unshare", "--mount", "sh", "-c", within], stdin=subprocess.PIPE, stdout=output, stderr=output
        ) as job,
    ):
        assert job.stdin
        with job.stdin:
            until(lambda: len(pids(said.read_text())) == 300, "not all ranks come to life", seconds=120)
            assert len({parent(pid) for pid in pids(said.read_text())}) == 1
        assert job.wait(60) == 0
    assert "ordinary process" not in said.read_text()


def test_a_rank_that_finds_the_daemon_without_descriptors_is_told() -> None:
    """A rank waits in the space. Others connect until the daemon, which may have 24 descriptors, has none left."""
    before = left_behind()
    rank = subprocess.Popen(
        ["/bin/sh", "-c", f"ulimit -n 24; exec {' '.join(SPACE)} cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert rank.stdin and rank.stdout
    rank.stdin.write(b"\n")
    rank.stdin.flush()
    assert rank.stdout.read(1) == b"\n"  # the rank runs
    (name,) = left_behind() - before
    connections = []
    try:
        for _ in range(30):
            one = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
            connections.append(one)
            one.connect(f"\0{name}")
        connections[-1].settimeout(30)
        assert b"ulimit -n" in connections[-1].recv(1000)
    finally:
        for one in connections:
            one.close()
        rank.stdin.close()
        rank.stdout.close()
        assert rank.wait(20) == 0
