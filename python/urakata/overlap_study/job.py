# SPDX-License-Identifier: BSD-3-Clause
"""One job: a configuration as a command line and environment, run, and its JSON lines read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from urakata.launcher import Mpi, taken_along
from urakata.measure.jobs import Record, records, run_on_hosts, with_urakata
from urakata.measure.running import JobError, run
from urakata.overlap_study.configuration import OF_MPI_ASYNC, Configuration
from urakata.overlap_study.plan import ASYNC_VARIABLES

if TYPE_CHECKING:
    from urakata.hosts import Hosts


@dataclass(frozen=True)
class Amounts:
    """What bench/overlap is told besides the configuration.

    `work`: "paper", "match", or the elements for each size.
    """

    sizes: Sequence[int]
    work: str | Sequence[int] = "paper"
    scale: float = 1.0
    turns: int = 200
    budget_ms: float = 300.0

    def arguments(self) -> list[str]:
        """Its part of the program's command line."""
        work = self.work if isinstance(self.work, str) else ",".join(map(str, self.work))
        return [
            f"--sizes={','.join(map(str, self.sizes))}",
            f"--work={work}",
            f"--scale={self.scale:g}",
            f"--turns={self.turns}",
            f"--budget-ms={self.budget_ms:g}",
        ]


@dataclass(frozen=True)
class Place:
    """Where jobs run: `nodes` machines of `cores` cores under one MPI library, or test hosts on this machine."""

    mpi: Mpi
    program: Path
    cores: int
    nodes: int = 1
    test_hosts: Hosts | None = None
    launcher_arguments: Sequence[str] = ()
    timeout_s: float = 600.0


@dataclass
class Outcome:
    """What a job said: its setup, results and skipped sizes."""

    setup: Record = field(default_factory=dict)
    results: list[Record] = field(default_factory=list)
    skips: list[Record] = field(default_factory=list)

    def take(self, said: str) -> None:
        """Takes what bench/overlap printed."""
        for record in records(said, '{"type":'):
            kind = record.pop("type")
            if kind == "setup":
                self.setup = record
            else:
                (self.results if kind == "result" else self.skips).append(record)


def rank_command(configuration: Configuration, place: Place, amounts: Amounts) -> list[str]:
    """What the launcher starts for each rank."""
    program = [
        str(place.program),
        f"--operation={configuration.operation}",
        f"--kind={configuration.kind}",
        f"--cores={place.cores}",
        f"--per-node={configuration.ranks_per_node}",
        *amounts.arguments(),
    ]
    return with_urakata(configuration.options() or None, program)


def variables(configuration: Configuration, place: Place) -> dict[str, str]:
    """Environment of the ranks. Idle OpenMP threads sleep, unless the user wants otherwise: spinning ones would take
    from progress threads what no computation needs."""
    added = {
        "OMP_NUM_THREADS": str(configuration.threads),
        "OMP_WAIT_POLICY": os.environ.get("OMP_WAIT_POLICY", "passive"),
    }
    if configuration.engine in OF_MPI_ASYNC:
        added |= ASYNC_VARIABLES[place.mpi.family]
    if place.mpi.family == "impi":
        own = place.cores // configuration.ranks_per_node
        added |= {"I_MPI_PIN_DOMAIN": f"{own}:compact"} if own else {"I_MPI_PIN": "0"}
    return added


def launcher_arguments(configuration: Configuration, place: Place, added: dict[str, str]) -> list[str]:
    """Spreads the ranks over nodes and binds each to its share of the cores, or none where they do not suffice."""
    ranks, own = configuration.ranks_per_node, place.cores // configuration.ranks_per_node
    arguments: list[str] = []
    if place.mpi.family == "openmpi":
        if own:
            arguments += ["--map-by", f"ppr:{ranks}:node:PE={own}", "--bind-to", "core"]
        else:
            arguments += ["--map-by", f"ppr:{ranks}:node:OVERSUBSCRIBE", "--bind-to", "none"]
        arguments += taken_along(added)
    else:
        if place.nodes > 1:
            arguments += ["-ppn", str(ranks)]
        if place.mpi.family == "mpich":
            arguments += ["-bind-to", f"core:{own}" if own else "none"]
    return arguments + list(place.launcher_arguments)


def binding(configuration: Configuration, place: Place) -> str:
    """In words, for the report."""
    own = place.cores // configuration.ranks_per_node
    if place.test_hosts:
        return "not bound (test hosts share this machine's cores)"
    return f"each rank bound to {own} cores" if own else "not bound (more ranks than cores)"


def run_job(configuration: Configuration, place: Place, amounts: Amounts) -> Outcome:
    """Runs the job and waits for it. Raises JobError."""
    added = variables(configuration, place)
    ranks = rank_command(configuration, place, amounts)
    if place.test_hosts:
        per_host = configuration.ranks_per_node
        done = run_on_hosts(place.test_hosts, per_host, ranks, place.mpi, added, place.timeout_s)
    else:
        arguments = launcher_arguments(configuration, place, added)
        count = str(configuration.ranks_per_node * place.nodes)
        command = [str(place.mpi.launcher), "-n", count, *arguments, *ranks]
        done = run(command, {**place.mpi.environment(), **added}, place.timeout_s)
    outcome = Outcome()
    outcome.take(done.checked().said)
    if not outcome.results and not outcome.skips:
        raise JobError("the program wrote no result")
    return outcome
