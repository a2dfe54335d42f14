# SPDX-License-Identifier: BSD-3-Clause
"""A job: what its launcher starts for each rank, where it runs, and the records that its program prints."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from urakata import paths
from urakata.launcher import Mpi
from urakata.measure.running import Done, JobError, JobTimeoutError, run

if TYPE_CHECKING:
    from urakata.hosts import Hosts

Record = dict[str, Any]


def with_urakata(options: Sequence[str] | None, program: Sequence[str]) -> list[str]:
    """The command of each rank: the program, under urakata-exec with these options unless they are None."""
    return list(program) if options is None else [str(paths.program("urakata-exec")), *options, "--", *program]


@dataclass(frozen=True)
class Amounts:
    """How much a program does: its fields are options of the program, values of a list separated by commas."""

    def arguments(self) -> list[str]:
        """Its part of the program's command line."""
        texts = ((k, ",".join(map(str, v)) if isinstance(v, list) else str(v)) for k, v in vars(self).items())
        return [word for name, text in texts for word in (f"--{name.replace('_', '-')}", text)]


def bound_command(mpi: Mpi, ranks: int, command: list[str]) -> list[str]:
    """The launcher's command line. As many ranks as cores are bound to one each; more are left to the scheduler."""
    return mpi.command(ranks, command, mpi.binding(ranks))


def run_bound(mpi: Mpi, ranks: int, command: list[str], timeout_s: float) -> Done:
    """Runs a job on this machine to its good end. Raises JobError where it fails or takes too long."""
    return run(bound_command(mpi, ranks, command), mpi.environment(), timeout_s).checked()


def run_on_hosts(
    hosts: Hosts,
    ranks_per_host: int,
    command: Sequence[str],
    mpi: Mpi | str,
    environment: Mapping[str, str],
    timeout_s: float,
) -> Done:
    """Runs a job on the test hosts to its end. `environment`: added to the ranks'. Raises JobTimeoutError."""
    begin = time.monotonic()
    try:
        done = hosts.run(command, ranks_per_host=ranks_per_host, mpi_name=mpi, env=environment, timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        raise JobTimeoutError(timeout_s) from error
    return Done(done.returncode, done.stdout, done.stderr, time.monotonic() - begin)


def records(said: str, begin: str = "{") -> list[Record]:
    """The JSON lines of a program; others, such as a launcher's warnings, are passed over."""
    return [json.loads(line) for line in said.splitlines() if line.startswith(begin)]


def is_loaded(record: Record) -> bool:
    """Whether Urakata is loaded, by a record with the path of the MPI library."""
    return "liburakata" in record["mpi"]


def measured(said: str, urakata: bool, space: bool) -> list[Record]:
    """The records but that of the MPI library. Raises JobError where Urakata is loaded and must not be, or the ranks
    are in a space and must not be, or the other way round."""
    found = records(said)
    for record in found:
        if "mpi" in record and is_loaded(record) != urakata:
            raise JobError(f"Urakata is {'not ' if urakata else ''}loaded: MPI is {record['mpi']}")
        if record.get("space", space) != space:
            raise JobError(f"the ranks are {'not ' if space else ''}in a space")
    return [record for record in found if "mpi" not in record]
