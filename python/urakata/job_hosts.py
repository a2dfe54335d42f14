# SPDX-License-Identifier: BSD-3-Clause
"""The hosts of a job that is still to be started, where option SITES lists them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from urakata import launcher, paths

_MARK = "urakata-host "
_TIME_LIMIT = 60  # seconds


# By these a batch system, or a user, tells a launcher of other hosts.
_HOST_LISTS = (
    *("PBS_NODEFILE", "LSB_HOSTS", "LSB_DJOB_HOSTFILE", "PE_HOSTFILE", "COBALT_NODEFILE"),
    *("HYDRA_HOST_FILE", "I_MPI_HYDRA_HOST_FILE"),
)
_NODES_OF_SLURM = ("SLURM_JOB_NUM_NODES", "SLURM_NNODES")


def on_this_node_alone(arguments: Sequence[str] | None) -> bool:
    """Whether a launcher with these arguments of the user's starts all ranks here. False where they may name hosts."""
    listed = any(os.environ.get(name) for name in _HOST_LISTS) or any("hostfile" in name for name in os.environ)
    several = any(os.environ.get(name, "1") != "1" for name in _NODES_OF_SLURM)
    return not arguments and not listed and not several


def refuse_missing_program(program: str, arguments: Sequence[str] | None) -> None:
    """Raises NotFoundError where all ranks are started on this node, and it has no such program."""
    if shutil.which(program) or not on_this_node_alone(arguments):
        return
    path = Path(program)
    if os.sep in program:
        why = "it is a folder" if path.is_dir() else "it is not executable" if path.exists() else ""
        raise paths.NotFoundError(f"{program} cannot be run: {why}" if why else f"{program}: there is no such program")
    beside = f"; the one in this folder is ./{program}" if path.is_file() else ""
    raise paths.NotFoundError(f"{program}: there is no such program on PATH{beside}")


def _names(mpi: launcher.Mpi, ranks: int, arguments: Sequence[str] | None) -> list[str]:
    """As each calls itself, which need not be what the launcher's words call it: it starts a command on all of them.
    Empty where it does not, as the job itself will tell."""
    try:
        done = mpi.run(ranks, ["sh", "-c", f'echo "{_MARK}$(uname -n)"'], list(arguments or []), _TIME_LIMIT)
    except paths.NotFoundError:
        return []
    found = [line.partition(_MARK)[2].strip() for line in done.stdout.splitlines() if _MARK in line]
    return sorted(set(found)) if len(found) == ranks else []


def _listed(options: Sequence[str]) -> bool:
    """Does SITES, from wherever it comes, list hosts?"""
    asked = [str(paths.program("urakata-exec")), "--info", "--json", *options]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    values = {row["name"]: row["value"] for row in json.loads(done.stdout)} if done.returncode == 0 else {}
    return values.get("SITES", "auto") not in ("", "auto", "one")


def fit_sites(mpi: launcher.Mpi, ranks: int, arguments: Sequence[str] | None, options: Sequence[str]) -> bool:
    """Whether SITES has each host of the job at one site, and no others; else the reason goes to the standard error.
    Starts nothing where SITES lists no hosts."""
    names = _names(mpi, ranks, arguments) if _listed(options) else []
    if not names:
        return True
    asked = [str(paths.program("urakata-exec")), "--check-hosts", *options, "--", *names]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    sys.stderr.write(done.stderr)
    return done.returncode == 0
