# SPDX-License-Identifier: BSD-3-Clause
"""Spaces under Debian's Slurm: a cluster of this one node, started for the test, with MPICH's ranks started by srun."""

from __future__ import annotations

import contextlib
import os
import random
import shutil
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from jobs import compiled, named
from spaces import SPACE, nobody_lives, nothing_stays, parent, pids, running, until

__all__ = ["nothing_stays"]  # around every test here

CONFIGURATION = """\
ClusterName=trial
SlurmctldHost={name}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/linear
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=pmi2
FirstJobId={first}
NodeName={name} NodeAddr=127.0.0.1 CPUs={cpus} State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
"""


def free_ports() -> list[int]:
    """Two at random from below those that the kernel gives to connections, so that nobody takes them meanwhile."""
    found: list[int] = []
    while len(found) < 2:
        port = random.randrange(20_000, 30_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            found.extend({port} - {*found})
    return found


def idle(environment: dict[str, str]) -> bool:
    return "idle" in subprocess.run(["sinfo"], env=environment, capture_output=True, text=True).stdout


@pytest.fixture(scope="module")
def slurm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment in which srun finds the cluster."""
    programs = ("munged", "slurmctld", "slurmd", "srun", "sinfo")
    if os.geteuid() != 0 or not all(map(shutil.which, programs)):
        pytest.skip("needs root and Slurm (Debian's slurmctld, slurmd, slurm-client, munge)")
    folder = tmp_path_factory.mktemp("slurm")
    folder.chmod(0o755)
    for one in ("state", "spool"):
        (folder / one).mkdir()
    name = socket.gethostname().partition(".")[0]
    (folder / "slurm.conf").write_text(
        # MPICH names its shared memory after the job, and hangs over what a killed job of that number left behind.
        CONFIGURATION.format(
            name=name, folder=folder, ports=free_ports(), cpus=os.cpu_count(), first=random.randrange(1000, 1_000_000)
        )
    )
    key = folder / "munge.key"
    key.write_bytes(os.urandom(1024))
    key.chmod(0o600)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SLURM", "URAKATA_"))}
    environment["SLURM_CONF"] = str(folder / "slurm.conf")
    munge = [f"--key-file={key}", f"--socket={folder}/munge.socket", f"--pid-file={folder}/munged.pid"]
    munge += [f"--seed-file={folder}/seed", f"--log-file={folder}/munged.log"]
    commands = (["munged", "--force", "--foreground", *munge], ["slurmctld", "-D", "-c"], ["slurmd", "-D", "-N", name])
    daemons = []
    try:
        for command in commands:
            log = (folder / f"{command[0]}.out").open("w")
            daemons.append(subprocess.Popen(command, env=environment, stdout=log, stderr=log, stdin=subprocess.DEVNULL))
            if command[0] == "munged":
                until(lambda: (folder / "munge.socket").exists() or daemons[0].poll() is not None, "no munged")
        with contextlib.suppress(AssertionError):
            until(lambda: idle(environment) or any(one.poll() is not None for one in daemons), "no node is idle", 30)
        if not idle(environment):
            said = "".join(log.read_text() for log in folder.glob("*.out"))
            pytest.skip(f"Slurm does not start here: {said[-500:]}")
        yield environment
    finally:
        for daemon in reversed(daemons):
            daemon.terminate()
            daemon.wait(30)


def test_two_jobs_of_one_interactive_step_have_a_space_each(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As in `srun --pty bash`: the step is in the environment of both launchers and of their ranks."""
    mpich = named("mpich")
    for variable, value in (("SLURM_JOB_ID", "7"), ("SLURM_STEP_ID", "2")):
        monkeypatch.setenv(variable, value)
    with running(mpich, folder, "wait", 2) as (_, first), running(mpich, folder, "wait", 2) as (_, second):
        spaces = [{parent(pid) for pid in tasks} for tasks in (first, second)]
        assert [len(one) for one in spaces] == [1, 1] and spaces[0] != spaces[1]


def srun(slurm: dict[str, str], program: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["srun", "--overcommit", "-n", "3", *SPACE[:-1], "--set", "VERBOSE=3", "--", *program],
        env=slurm,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_ranks_of_srun_share_a_space(tmp_path: Path, slurm: dict[str, str]) -> None:
    """The exit code is the program's, and all three ranks find each other."""
    done = srun(slurm, [str(compiled(named("mpich"), "space_end", tmp_path)), "code", "3"])
    assert done.returncode == 3 and done.stderr.count("3 of 3 ranks share this rank's space") == 3, done.stderr
    nobody_lives(pids(done.stdout))


def test_a_crash_ends_the_step(tmp_path: Path, slurm: dict[str, str]) -> None:
    done = srun(slurm, [str(compiled(named("mpich"), "space_end", tmp_path)), "mpi_abort"])
    assert done.returncode != 0 and len(pids(done.stdout)) == 3, done.stdout + done.stderr
    nobody_lives(pids(done.stdout))
