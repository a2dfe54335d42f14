# SPDX-License-Identifier: BSD-3-Clause
"""A proxy process that is slow, or stopped, harms only its own rank: the space daemon waits for nobody."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from pathlib import Path

from spaces import QUIET_SPACE, SPACE, compiled_text, nothing_stays, until

__all__ = ["nothing_stays"]  # around every test here

# Preloaded into urakata-exec: it stops itself between the datagrams of a handover.
STOPS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <sys/socket.h>

ssize_t sendmsg(int socket, const struct msghdr* message, int flags) {
  static int datagrams;
  if (datagrams++ == 1) raise(SIGSTOP);
  return ((ssize_t(*)(int, const struct msghdr*, int))dlsym(RTLD_NEXT, "sendmsg"))(socket, message, flags);
}
"""


def state(pid: int) -> str:
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


def shares(pid: int) -> bool:
    """Whether the next program of this job runs, and ends, in a space."""
    done = subprocess.run([*SPACE, "true"], capture_output=True, text=True, timeout=60, check=False)
    return done.returncode == 0 and "ordinary process" not in done.stderr and state(pid) in "ST"


def test_a_rank_that_is_stopped_while_it_hands_over_holds_up_nobody(tmp_path: Path) -> None:
    """It has more descriptors than go into one datagram, and is in the space when it goes on."""
    library = compiled_text(tmp_path, "stops.so", STOPS, "-shared", "-fPIC", "-ldl")
    descriptors = [os.open(os.devnull, os.O_RDONLY) for _ in range(300)]
    command = ["/bin/sh", "-c", f"LD_PRELOAD={library} exec {' '.join(SPACE)} printenv URAKATA_SPACE_AT"]
    try:
        slow = subprocess.Popen(
            command, pass_fds=descriptors, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
    finally:
        for one in descriptors:
            os.close(one)
    with slow:
        try:
            until(lambda: state(slow.pid) == "T", "it does not come to the second datagram")
            assert shares(slow.pid)
            slow.send_signal(signal.SIGCONT)
            said, _ = slow.communicate(timeout=60)
            assert slow.returncode == 0 and re.search("^[0-9a-f]+:[0-9a-f]+$", said, re.MULTILINE), said
        finally:
            slow.kill()


def test_a_proxy_that_reads_nothing_holds_up_nobody(tmp_path: Path) -> None:
    """It is stopped while its task is stopped and goes on, again and again; it still tells how the task ended."""
    main = "#include <stdio.h>\n#include <unistd.h>\n"
    main += 'int main(void) { printf("%d\\n", getpid()); fflush(stdout); for (;;) pause(); }\n'
    program = compiled_text(tmp_path, "main", main)
    with subprocess.Popen([*QUIET_SPACE, program], stdout=subprocess.PIPE, text=True) as job:
        try:
            assert job.stdout
            task = int(job.stdout.readline())
            assert task != job.pid
            (daemon,) = {int(re.findall(r"^PPid:\s*(\d+)", Path(f"/proc/{task}/status").read_text(), re.MULTILINE)[0])}
            job.send_signal(signal.SIGSTOP)
            until(lambda: state(job.pid) == "T", "the proxy does not stop")
            for _ in range(500):  # each is a note, of which the socket has room for 300 at most
                os.kill(task, signal.SIGSTOP)
                until(lambda: state(task) == "T", "the task does not stop")
                until(lambda: state(daemon) == "S", "the daemon is at work")
                os.kill(task, signal.SIGCONT)
                until(lambda: state(task) == "S", "the task does not go on")
            assert shares(job.pid)
            os.kill(task, signal.SIGTERM)
            until(lambda: not Path(f"/proc/{task}").exists(), "the task does not end")
            # It stops with every note that it reads.
            until(lambda: (job.send_signal(signal.SIGCONT), job.poll())[1] is not None, "the proxy does not end")
            assert job.returncode == -signal.SIGTERM
        finally:
            job.kill()
