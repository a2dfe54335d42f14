# SPDX-License-Identifier: BSD-3-Clause
"""Running the jobs: all variants of a part in turn, round after round, every other round backwards."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from urakata.hosts.command import HostsError
from urakata.hosts.steering import steered
from urakata.kernel_study.methods import ALGORITHMS, METHODS, Bed, Part, Variant
from urakata.kernel_study.results import Results
from urakata.kernel_study.steering import away
from urakata.launcher import Mpi
from urakata.measure import jobs
from urakata.measure.jobs import records, run_on_hosts, with_urakata
from urakata.measure.rounds import Progress, Turn, in_turns
from urakata.measure.running import JobError
from urakata.measure.session import Session
from urakata.stepped_back import stepped_back

if TYPE_CHECKING:
    from urakata.hosts import Hosts


@dataclass(frozen=True)
class Amounts(jobs.Amounts):
    """What bench/kernel is told besides part and method."""

    sizes: list[int]
    repetitions: int
    budget_ms: int


@dataclass(frozen=True)
class Job:
    """What is the same of all jobs: bench/kernel, the MPI that starts it, its amounts, and the seconds that it has."""

    program: Path
    mpi: Mpi
    amounts: Amounts
    timeout: float


def rank_command(part: Part, variant: Variant, program: Path, amounts: Amounts) -> list[str]:
    """What the launcher starts for each rank."""
    how = METHODS[variant.method]
    own = [
        *(str(program), *part.arguments, *part.of_method.get(variant.method, ())),
        *("--method", how.how, *amounts.arguments()),
    ]
    algorithm = ["--algorithm", f"bcast:{variant.algorithm}"] if variant.algorithm else []
    return with_urakata(None if how.options is None else [*how.options, *algorithm], own)


def rank_environment(variant: Variant, family: str) -> Mapping[str, str]:
    """With what the MPI library's own broadcast takes the same algorithm, where its family has a word for it."""
    if variant.method != "host" or not variant.algorithm:
        return {}
    return ALGORITHMS[variant.algorithm].of_mpi.get(family, {})


def _measure(part: Part, variant: Variant, job: Job, hosts: Hosts, results: Results) -> None:
    command = rank_command(part, variant, job.program, job.amounts)
    cores = away(hosts.cpus, part.relay_hosts(hosts.count), os.sched_getaffinity(0))
    try:
        with steered(hosts, variant.steering, cores):
            added = rank_environment(variant, job.mpi.family)
            done = run_on_hosts(hosts, 1, command, job.mpi, added, job.timeout).checked()
    except HostsError as error:
        raise JobError(str(error)) from error
    if variant.method == "kernel" and (line := stepped_back(done.complaints)) is not None:
        raise JobError(line)
    measured = [record for record in records(done.said) if "part" in record]
    if not measured:
        raise JobError("the program wrote no result")
    for record in measured:
        results.take(part.name, variant, record)


def run_part(bed: Bed, job: Job, hosts: Hosts, rounds: int, session: Session[Results], progress: Progress) -> None:
    """Runs every variant `rounds` times. One that fails is not tried again."""
    part = bed.part
    session.results.places[part.name] = hosts.cpus
    turns = [
        Turn(f"{part.name}, {variant.title}", partial(_measure, part, variant, job, hosts, session.results))
        for variant in bed.variants
    ]
    session.failed += in_turns(turns, rounds, progress)
