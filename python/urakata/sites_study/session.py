# SPDX-License-Identifier: BSD-3-Clause
"""Running the jobs: all methods of an operation in turn, round after round, every other round backwards."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from urakata.launcher import Mpi
from urakata.measure.jobs import Record, records, run_on_hosts, with_urakata
from urakata.measure.rounds import Progress, Turn, in_turns
from urakata.measure.running import JobError
from urakata.measure.session import Session
from urakata.sites_study.beds import Leg
from urakata.sites_study.methods import Method
from urakata.sites_study.results import Results

if TYPE_CHECKING:
    from urakata.hosts import Hosts

Take = Callable[[Record, Record], None]
"""Takes a record of bench/sites and rank 0's report, {} where there is none."""


@dataclass(frozen=True)
class Amounts:
    """What bench/sites is told besides the operation."""

    sizes: Sequence[int]
    repetitions: int


@dataclass(frozen=True)
class Where:
    """With what jobs are started. `home`: ranks at the root's site."""

    program: Path
    mpi: Mpi
    hosts: Hosts
    home: int
    timeout: float


def rank_command(operation: str, method: Method, program: Path, amounts: Amounts, home: int, report: str) -> list[str]:
    """What the launcher starts for each rank."""
    sizes = ",".join(map(str, amounts.sizes))
    own = [str(program), operation, sizes, str(amounts.repetitions), str(home)]
    return with_urakata(None if method.options is None else [*method.options, "--report", report], own)


def _report(folder: Path) -> Record:
    """Rank 0's."""
    file = folder / "rank-0.json"
    return dict(json.loads(file.read_text(encoding="utf-8"))) if file.exists() else {}


def _measure(operation: str, method: Method, where: Where, amounts: Amounts, take: Take) -> None:
    with tempfile.TemporaryDirectory(prefix="sites-") as folder:
        report = Path(folder) / "report"
        command = rank_command(operation, method, where.program, amounts, where.home, str(report))
        done = run_on_hosts(where.hosts, 1, command, where.mpi, method.environment, where.timeout).checked()
        found = records(done.said, '{"operation"')
        if len(found) != len(amounts.sizes):
            raise JobError("the program wrote no result")
        told = _report(report)
        for record in found:
            take(record, told)


def run_leg(
    leg: Leg,
    operations: Sequence[str],
    where: Where,
    amounts: Amounts,
    rounds: int,
    session: Session[Results],
    progress: Progress,
) -> None:
    """Runs every method of each operation `rounds` times across the links that the hosts have. One that fails is not
    tried again."""
    results, bed = session.results, leg.bed.name

    def turn(operation: str, method: Method, take: Take) -> Turn:
        run = partial(_measure, operation, method, where, amounts, take)
        return Turn(f"{operation}, {bed}, {method.title}", run)

    for operation, methods in leg.jobs(operations):
        turns = [turn(operation, one, partial(results.take, bed, one.name, where.home)) for one in methods]
        session.failed += in_turns(turns, rounds, progress)
    turns = [
        turn(operation, one, partial(_take_relayed, results, bed, one.name))
        for one in leg.leaders
        for operation in one.operations
    ]
    session.failed += in_turns(turns, rounds, progress)


def _take_relayed(results: Results, bed: str, engine: str, record: Record, _: Record) -> None:
    results.take_relayed(bed, engine, record)
