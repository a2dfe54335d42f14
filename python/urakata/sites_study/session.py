"""Running the jobs: all methods of an operation in turn, round after round, every other round backwards."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from urakata import paths
from urakata.launcher import Host
from urakata.sites_study.methods import Bed, Method
from urakata.sites_study.results import Results
from urakata.study.plan import Refused
from urakata.study.running import JobError, run_on_hosts
from urakata.study.turns import Progress, in_turns

if TYPE_CHECKING:
    from urakata.hosts import Hosts


@dataclass(frozen=True)
class Amounts:
    """What bench/sites is told besides the operation. `home`: ranks at the root's site."""

    sizes: Sequence[int]
    repetitions: int
    home: int


@dataclass
class Session:
    """What was measured, and which jobs failed."""

    results: Results = field(default_factory=Results)
    failed: list[Refused] = field(default_factory=list)


def rank_command(operation: str, method: Method, program: Path, amounts: Amounts, report: str) -> list[str]:
    """What the launcher starts for each rank."""
    sizes = ",".join(map(str, amounts.sizes))
    own = [str(program), operation, sizes, str(amounts.repetitions), str(amounts.home)]
    if method.options is None:
        return own
    return [str(paths.program("urakata-exec")), *method.options, "--report", report, "--", *own]


def _call_sites(report: Path) -> list[dict[str, Any]]:
    """Of rank 0, where there is a report."""
    file = report / "rank-0.json"
    return list(json.loads(file.read_text(encoding="utf-8"))["call_sites"]) if file.exists() else []


def _measure(
    bed: Bed,
    operation: str,
    method: Method,
    program: Path,
    host: Host,
    hosts: Hosts,
    amounts: Amounts,
    timeout: float,
    results: Results,
) -> None:
    with tempfile.TemporaryDirectory(prefix="sites-") as folder:
        report = Path(folder) / "report"
        command = rank_command(operation, method, program, amounts, str(report))
        done = run_on_hosts(hosts, 1, command, host, method.environment, timeout)
        records = [json.loads(line) for line in done.said.splitlines() if line.startswith('{"operation"')]
        if len(records) != len(amounts.sizes):
            raise JobError("the program wrote no result")
        sites = _call_sites(report)
        for record in records:
            results.take(bed.name, method.name, record, sites)


def run_operation(
    bed: Bed,
    operation: str,
    methods: Sequence[Method],
    program: Path,
    host: Host,
    hosts: Hosts,
    amounts: Amounts,
    rounds: int,
    timeout: float,
    session: Session,
    progress: Progress,
) -> None:
    """Runs every method `rounds` times across the link that `hosts` has. One that fails is not tried again."""
    jobs = []
    for method in methods:
        run = partial(_measure, bed, operation, method, program, host, hosts, amounts, timeout, session.results)
        jobs.append((f"{operation}, {bed.name}, {method.title}", run))
    session.failed += in_turns(jobs, rounds, progress)
