# SPDX-License-Identifier: BSD-3-Clause
"""The words with which each family of MPI starts a job across the test hosts."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from urakata import launcher
from urakata.hosts.agent import FAILURES


@dataclass(frozen=True)
class Job:
    """What to run, where."""

    command: Sequence[str]
    hosts: Sequence[str]
    ranks_per_host: int
    agent: str
    """The program that is called instead of ssh."""
    environment: Mapping[str, str] = field(default_factory=dict)
    """Variables that the ranks must see."""
    failures: str = ""
    """The file that the agents' commands note in if they fail."""
    crowded: bool = False
    """More ranks than CPUs: they give way to each other while they wait."""


def command_line(mpi: launcher.Mpi, job: Job) -> list[str]:
    """The launcher's words. Ranks go to the hosts in blocks: the first `ranks_per_host` to the first host."""
    words = [str(mpi.launcher), "-n", str(len(job.hosts) * job.ranks_per_host)]
    words += _open_mpi(mpi, job) if mpi.family == "openmpi" else _hydra(mpi, job)
    return [*words, *job.command]


def _open_mpi(mpi: launcher.Mpi, job: Job) -> list[str]:
    words = ["--host", ",".join(f"{host}:{job.ranks_per_host}" for host in job.hosts)]
    # Not bound: all hosts see the same cores, and each would bind its ranks to the same first ones.
    words += ["--map-by", f"ppr:{job.ranks_per_host}:node", "--bind-to", "none"]
    newer = int(mpi.version.split(".")[0]) >= 5
    words += ["--prtemca", "plm_ssh_agent", job.agent] if newer else ["--mca", "plm_rsh_agent", job.agent]
    if job.crowded:
        words += ["--mca", "mpi_yield_when_idle", "1"]
    for name in job.environment:
        words += ["-x", name]
    return words


def _hydra(mpi: launcher.Mpi, job: Job) -> list[str]:
    intel = mpi.family == "impi"
    start = ["-bootstrap", "ssh", "-bootstrap-exec"] if intel else ["-launcher", "ssh", "-launcher-exec"]
    words = [*start, job.agent, "-hosts", ",".join(job.hosts), "-ppn", str(job.ranks_per_host)]
    variables = dict(job.environment)
    if intel:
        # Not bound, for the reason above; and the one provider that an ordinary network has.
        variables = {"I_MPI_PIN": "0", "FI_PROVIDER": "tcp", **variables}
    for name, value in variables.items():
        words += ["-genv", name, value]
    return words


def launcher_environment(mpi: launcher.Mpi, job: Job) -> dict[str, str]:
    """The environment of the launcher itself. Who runs in a test host is root there, whoever made it."""
    environment = {**mpi.environment(), **job.environment}
    environment["PATH"] = launcher.with_programs(environment.get("PATH", os.defpath))
    for tool in ("OMPI", "PRTE"):
        environment[f"{tool}_ALLOW_RUN_AS_ROOT"] = "1"
        environment[f"{tool}_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
    environment[FAILURES] = job.failures
    # Session directories of launchers go away with the host, even when it is killed.
    environment["TMPDIR"] = f"{os.path.dirname(job.agent)}/tmp"
    return environment
