"""Running the jobs: all methods of a part in turn, round after round, every other round backwards."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from urakata import paths
from urakata.kernel_study.methods import METHODS, Part
from urakata.kernel_study.results import Results
from urakata.launcher import Host
from urakata.study.plan import Refused
from urakata.study.running import JobError, run_on_hosts
from urakata.study.turns import Progress, in_turns

if TYPE_CHECKING:
    from urakata.hosts import Hosts


@dataclass(frozen=True)
class Amounts:
    """What bench/kernel is told besides part and method."""

    sizes: Sequence[int]
    repetitions: int
    budget_ms: int

    def arguments(self) -> list[str]:
        """Its part of the program's command line."""
        return [
            *("--sizes", ",".join(map(str, self.sizes))),
            *("--repetitions", str(self.repetitions)),
            *("--budget-ms", str(self.budget_ms)),
        ]


@dataclass
class Session:
    """What was measured, and which jobs failed."""

    results: Results = field(default_factory=Results)
    failed: list[Refused] = field(default_factory=list)


def rank_command(part: Part, method: str, program: Path, amounts: Amounts) -> list[str]:
    """What the launcher starts for each rank."""
    how = METHODS[method]
    own = [str(program), *part.arguments, "--method", how.how, *amounts.arguments()]
    if how.options is None:
        return own
    return [str(paths.program("urakata-exec")), *how.options, *part.options, "--", *own]


def _measure(
    part: Part, method: str, command: list[str], host: Host, hosts: Hosts, timeout: float, results: Results
) -> None:
    done = run_on_hosts(hosts, 1, command, host, {}, timeout)
    if method == "kernel" and "instead of kernel" in done.complaints:
        raise JobError(next(line for line in done.complaints.splitlines() if "instead of kernel" in line))
    records = [json.loads(line) for line in done.said.splitlines() if line.startswith("{")]
    measured = [record for record in records if "part" in record]
    if not measured:
        raise JobError("the program wrote no result")
    for record in measured:
        results.take(part.name, method, record)


def run_part(
    part: Part,
    methods: Sequence[str],
    program: Path,
    host: Host,
    hosts: Hosts,
    amounts: Amounts,
    rounds: int,
    timeout: float,
    session: Session,
    progress: Progress,
) -> None:
    """Runs every method `rounds` times. One that fails is not tried again."""
    jobs = []
    for method in methods:
        command = rank_command(part, method, program, amounts)
        run = partial(_measure, part, method, command, host, hosts, timeout, session.results)
        jobs.append((f"{part.name}, {METHODS[method].title}", run))
    session.failed += in_turns(jobs, rounds, progress)
