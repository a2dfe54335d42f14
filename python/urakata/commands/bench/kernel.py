# SPDX-License-Identifier: BSD-3-Clause
"""urakata bench kernel."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from urakata import launcher, paths
from urakata.commands import job_options
from urakata.commands.bench.document import begin_document, conclude, make_folder, show_again, show_document
from urakata.commands.bench.options import Earlier, LinkRate, TablesFolder, Timeout, listed, listed_sizes
from urakata.commands.bench.progress import with_progress
from urakata.json_output import JsonFile

if TYPE_CHECKING:
    from urakata.kernel_study.methods import Bed
    from urakata.kernel_study.results import Results
    from urakata.kernel_study.session import Job
    from urakata.measure.rounds import Progress
    from urakata.measure.session import Session

MOST_HOSTS = 64
"""Engine kernel has no more ranks."""

EXAMPLES = """
[bold]Examples[/bold]

  urakata bench kernel --quick
      # a first look, in about a minute

  urakata bench kernel
      # relay hop, lost CPU time, collectives of two ranks

  urakata bench kernel --part fine --methods explicit,thread,kernel \\
      --sizes 1K,64K

  urakata bench kernel --part group --steering none,rps,rfs
      # and which cores take the network's interrupts

  urakata bench kernel --part fine --hosts 8 --algorithm chain,binomial

  urakata bench kernel --json kernel.json
      # numbers only: no tables and figures

  urakata bench kernel --from urakata-kernel
      # tables and figures anew from an earlier run

--steering sets RPS and RFS on the test hosts, as root, and sets them back; RFS also needs a setting of the machine's.

Exit code: 0 all was measured; 1 a job failed; 2 it cannot be measured, or a value is not valid.
"""


def _present(document: dict[str, Any], output: Path, console: Console) -> list[str]:
    from urakata.kernel_study.figures import draw_all
    from urakata.kernel_study.results import from_json
    from urakata.kernel_study.sheets import write_sheets
    from urakata.kernel_study.tables import all_tables

    results = from_json(document)
    show_document(document, all_tables(results), console)
    if not results.rows:
        return []
    return [*write_sheets(results, output), *draw_all(results, document["machine"]["cpu"], output)]


def kernel(
    part: Annotated[str, typer.Option(help="hop, fine, coarse, group; a list.")] = "hop,fine,coarse,group",
    methods: Annotated[
        str | None, typer.Option(help="explicit, blocked, host, poll, thread, kernel; a list.  [dim]default: all[/dim]")
    ] = None,
    sizes: Annotated[
        str | None, typer.Option(help="Sizes, with K and M, a list.  [dim]default: 64 to 1M[/dim]")
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(
            "--hosts",
            min=3,
            max=MOST_HOSTS,
            help="Test hosts of all parts but hop, a rank on each.  [dim]default: 3, group 2[/dim]",
        ),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            help="Of the broadcasts of fine and coarse: chain (a pipeline), binomial (a tree); a list.  "
            "[dim]default: chain, with more than 3 hosts both[/dim]"
        ),
    ] = None,
    steering: Annotated[
        str | None,
        typer.Option(
            help="On which core packets are handled: none (as they come), rps (another than the relay's), rfs (that of "
            "who reads them); a list.  [dim]default: none and, where it can be set, rps[/dim]"
        ),
    ] = None,
    mpi: Annotated[str, typer.Option("--mpi", "--host", metavar="MPI", help=job_options.MPIS)] = "openmpi",
    rate: LinkRate = "1gbit",
    repeats: Annotated[int | None, typer.Option(min=1, help="Rounds.  [dim]default: 3, quick 1[/dim]")] = None,
    timeout: Timeout = 120.0,
    output: TablesFolder = Path("urakata-kernel"),
    only_json: JsonFile = None,
    again: Earlier = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer sizes and repetitions, one round.")] = False,
) -> None:
    """Who carries collectives on while ranks compute: the program, the MPI library, a thread or the kernel."""
    from urakata.kernel_study.methods import ALGORITHMS, METHODS, PARTS, STEERING, Bed, variants
    from urakata.kernel_study.results import Results
    from urakata.kernel_study.session import Amounts, Job
    from urakata.kernel_study.steering import settable
    from urakata.measure.machine import describe_machine
    from urakata.measure.program import find_program
    from urakata.measure.session import Session

    if again:
        show_again("kernel", again, output, _present)
        return
    wanted = listed(methods or ",".join(METHODS), "--methods", list(METHODS))
    shapes = listed(algorithm or ("chain,binomial" if (count or 0) > 3 else "chain"), "--algorithm", list(ALGORITHMS))
    steered = listed(steering or "none,rps", "--steering", list(STEERING))
    chosen = [PARTS[name] for name in listed(part, "--part", list(PARTS))]
    of_bytes = listed_sizes(sizes or ("64,64K" if quick else "64,1K,16K,64K,256K,1M"), "--sizes")
    found = launcher.find_mpi_of_benchmarks(mpi)
    program = find_program(found, name="kernel")
    if not only_json:
        make_folder(output)
    machine = describe_machine(found)
    possible, refused = settable(steered)
    if not possible:
        raise paths.NotFoundError("; ".join(f"{one.what}: {one.reason}" for one in refused))
    beds = [Bed(one, one.host_count(count), variants(one, wanted, shapes, possible)) for one in chosen]
    rounds = repeats or (1 if quick else 3)
    amounts = Amounts(of_bytes, repetitions=40 if quick else 200, budget_ms=40 if quick else 100)
    session = Session(Results(), refused)
    with_progress(
        rounds * sum(len(bed.variants) for bed in beds),
        lambda progress: _run_all(beds, Job(program, found, amounts, timeout), rate, rounds, session, progress),
    )
    settings = {"repeats": rounds, "rate": rate, "quick": quick, "sizes": of_bytes, "algorithms": shapes}
    document = {
        **begin_document("kernel"),
        "machine": machine.as_json(),
        "settings": {**settings, "steering": possible, "hosts": {bed.part.name: bed.hosts for bed in beds}},
        "warnings": [*machine.warnings(), *_crowded(beds, machine.cores)],
        "refused": [vars(one) for one in session.refused],
        "failed": [vars(one) for one in session.failed],
        **session.results.as_json(),
    }
    conclude("kernel", document, output, only_json, _present)


def _crowded(beds: Sequence[Bed], cores: int) -> list[str]:
    """What is measured with more ranks than cores."""
    found = []
    for hosts in sorted({bed.hosts for bed in beds if bed.hosts > cores}):
        parts = ", ".join(bed.part.name for bed in beds if bed.hosts == hosts)
        alone = ": the relay has one alone, the others take turns" if hosts == 3 and cores == 2 else ""
        found.append(
            f"oversubscribed: {hosts} ranks share {cores} cores in {parts}{alone}; the scheduler is measured too"
        )
    return found


def _run_all(
    beds: Sequence[Bed], job: Job, rate: str, rounds: int, session: Session[Results], progress: Progress
) -> None:
    from urakata.hosts import Hosts, HostsError, available
    from urakata.kernel_study.session import run_part

    possible, reason = available()
    if not possible:
        raise paths.NotFoundError(f"test hosts are not possible here: {reason}")
    for bed in beds:
        try:
            with Hosts(count=bed.hosts, rate=rate) as hosts:
                run_part(bed, job, hosts, rounds, session, progress)
        except (HostsError, ValueError) as error:
            raise paths.NotFoundError(f"test hosts: {error}") from error
