"""Scheduling, disk and memory policy of a task in a space are those of its own stand-in, not those of the first one."""

from __future__ import annotations

import subprocess
from pathlib import Path

from spaces import QUIET_SPACE, compiled_text, nothing_stays

__all__ = ["nothing_stays"]  # around every test here

# Says its policies and waits for the end of its input; or first takes others and becomes the program that it is given.
SOURCE = r"""
#include <sched.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char** words) {
  unsigned long nodes[16] = {1};
  if (count > 1) {
    const struct sched_param none = {0};
    sched_setscheduler(0, SCHED_BATCH, &none);
    syscall(SYS_ioprio_set, 1, 0, 3 << 13);
    syscall(SYS_set_mempolicy, 2, nodes, 1024);
    return execv(words[1], words + 1);
  }
  int memory = 0;
  syscall(SYS_get_mempolicy, &memory, nodes, 1024, 0, 0);
  printf("scheduler %d disk %ld memory %d on %lx\n", sched_getscheduler(0), syscall(SYS_ioprio_get, 1, 0), memory,
         nodes[0]);
  fflush(stdout);
  return getchar() != EOF;
}
"""


def test_two_ranks_of_a_space_with_different_policies(tmp_path: Path) -> None:
    program = compiled_text(tmp_path, "policies", SOURCE, "-D_GNU_SOURCE")
    outside = {
        preferring: subprocess.run([*preferring, program], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        for preferring in ((), (program,))
    }
    for first, second in (((), (program,)), ((program,), ())):
        # Both have this process as their parent, and so one space; the first one's keeper makes both tasks.
        founder = subprocess.Popen(
            [*first, *QUIET_SPACE, program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert founder.stdin and founder.stdout
        said = founder.stdout.readline()
        other = subprocess.run(
            [*second, *QUIET_SPACE, program], stdin=subprocess.DEVNULL, capture_output=True, text=True
        )
        founder.stdin.close()
        founder.stdout.close()
        assert founder.wait(20) == 0
        assert (said, other.stdout) == (outside[first].stdout, outside[second].stdout)
    assert outside[()].stdout != outside[(program,)].stdout
