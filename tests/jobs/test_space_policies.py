# SPDX-License-Identifier: BSD-3-Clause
"""Scheduling, disk and memory policy of a task in a space are those of its own proxy, not those of the first one."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from spaces import QUIET_SPACE, compiled_text, nothing_stays, space_daemons

__all__ = ["nothing_stays"]  # around every test here

SECONDS = 60  # for each program
# Says its parent and its policies and waits for the end of its input; or first takes another policy and becomes the
# program that it is given. Exit code 77 and the reason on stderr: it may not take that policy here.
SOURCE = r"""
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
static long take(const char* policy) {
  const struct sched_param none = {0};
  const unsigned long nodes[16] = {1};
  if (strcmp(policy, "scheduler") == 0) return sched_setscheduler(0, SCHED_BATCH, &none);
  if (strcmp(policy, "disk") == 0) return syscall(SYS_ioprio_set, 1, 0, 3 << 13);
  return syscall(SYS_set_mempolicy, 2, nodes, 1024);
}
int main(int count, char** words) {
  if (count > 2) {
    if (take(words[1]) == 0) return execv(words[2], words + 2);
    perror(words[1]);
    return 77;
  }
  int memory = 0;
  unsigned long nodes[16] = {0};
  syscall(SYS_get_mempolicy, &memory, nodes, 1024, 0, 0);
  printf("%d scheduler %d disk %ld memory %d on %lx\n", getppid(), sched_getscheduler(0), syscall(SYS_ioprio_get, 1, 0),
         memory, nodes[0]);
  fflush(stdout);
  return getchar() != EOF;
}
"""


def said(command: list[str]) -> tuple[int, str]:
    """The parent and the policies that the command tells of, without any complaint."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    if done.returncode == 77:
        pytest.skip(f"a program may not take another policy here: {done.stderr}")
    assert (done.returncode, done.stderr) == (0, "")
    return split(done.stdout)


def split(line: str) -> tuple[int, str]:
    parent, _, policies = line.partition(" ")
    return int(parent), policies


@pytest.mark.parametrize("policy", ("scheduler", "disk", "memory"))
def test_two_ranks_of_a_space_with_different_policies(tmp_path: Path, policy: str) -> None:
    program = compiled_text(tmp_path, "policies", SOURCE, "-D_GNU_SOURCE")
    usual: list[str] = []
    preferring = [program, policy]
    outside = [said([*before, program])[1] for before in (usual, preferring)]
    assert outside[0] != outside[1]
    for first, second in ((usual, preferring), (preferring, usual)):
        # Both have this process as their parent, and so one space; the first one's daemon makes both tasks.
        with subprocess.Popen(
            [*first, *QUIET_SPACE, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as founder:
            assert founder.stdin and founder.stdout
            tasks = [split(founder.stdout.readline()), said([*second, *QUIET_SPACE, program])]
            parents = {parent for parent, _ in tasks}
            assert len(parents) == 1 and parents <= space_daemons()
            founder.stdin.close()
            assert founder.wait(SECONDS) == 0
        assert [policies for _, policies in tasks] == (outside if first == usual else outside[::-1])
