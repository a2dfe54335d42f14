# SPDX-License-Identifier: BSD-3-Clause
"""urakata check: what Urakata can do with an MPI library on this machine and, where it cannot, why and what to do."""

from __future__ import annotations

import ctypes.util
import json
import os
import platform
import subprocess
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from urakata import launcher, paths, typed
from urakata.commands.check_links import measure_links
from urakata.commands.check_options import show_options
from urakata.commands.job_options import (
    RANKS_NAMES,
    JobCommand,
    LauncherArgumentsOption,
    LinksFileOption,
    McaOption,
    MpiWithoutProgramOption,
    launcher_words,
)
from urakata.interrupts.balance import Balance, look, sentences, table
from urakata.json_output import JsonFlag, write_json
from urakata.tables import print_table

_DRIVERS = {"CUDA": "cuda", "HIP": "amdhip64", "Level Zero": "ze_loader"}  # as src/device/ knows them
_TIME_LIMIT = 60  # seconds; a launcher that needs longer for a program that does nothing is not usable

_OPTIONS = "--options"

_EPILOG = """
[bold]Examples[/bold]

  urakata check

  urakata check -n 2 --mpi mpich
      # as a job of 2 ranks would see it

  urakata check -n 8 --launcher-argument=--hostfile \\
      --launcher-argument=nodes.txt
      # and the sites of these nodes

  OMP_NUM_THREADS=4 urakata check --json

  urakata check --links -n 8 --file links.toml
      # and later: urakata run --set LINK_RATES=links.toml -n 8 -- ./app

  srun -N 8 urakata-exec --link-rates links.toml -- ./app
      # a job of your own, which adds what the file lacks

  urakata check --options
      # the options: value in force, default, unit and origin

  urakata check --options --expert --costs costs.toml
      # also those for experts, and the costs, some of them from a file

  urakata check --options --engine poll --config job.toml
      # what would be in force with these options of urakata-exec

Exit code: 0 every engine is usable; 1 some are not; 2 the MPI library cannot be started.
With --options: 0; 2 a value is not valid.
With --links: 0; 1 all ranks are at one site, and there is nothing to measure; 2 the job cannot be started.
"""


@dataclass(frozen=True)
class Finding:
    """One thing that may be used: whether it can be, and if not, why and what to do."""

    name: str
    usable: bool
    why: str


def _ask(mpi: launcher.Mpi, ranks: int, arguments: list[str]) -> list[dict[str, Any]]:
    """What each rank of a job of this size finds, in the order of ranks. Raises NotFoundError."""
    probe = [str(paths.program("urakata-probe")), *launcher.libraries(mpi)]
    job = mpi.run(ranks, probe, arguments, _TIME_LIMIT)
    lines = [json.loads(line) for line in job.stdout.splitlines() if line.startswith("{")]
    if job.returncode != 0 or len(lines) != ranks:
        said = (job.stderr.strip() or job.stdout.strip() or "it said nothing").splitlines()[-1]
        raise paths.NotFoundError(
            f"{subprocess.list2cmdline(job.args)}: exit code {job.returncode}, "
            f"{len(lines)} of {ranks} ranks answered: {said}"
        )
    return sorted(lines, key=lambda line: int(line["rank"]))


def _engines(ranks: list[dict[str, Any]]) -> list[Finding]:
    """As the ranks say; each engine by the rank that can do least: that has none, else that has no spare core."""
    mpi = ranks[0]["mpi_library"]
    said = list(zip(*(rank["engines"] for rank in ranks), strict=True))
    if "error" in mpi:
        why = f"the MPI library cannot be asked: {mpi['error']}"
        return [Finding(engine[0]["name"], False, why) for engine in said]
    spare = [rank["placement"]["auto"]["spare"] for rank in ranks]
    found = [
        Finding(**min(zip(engine, spare, strict=True), key=lambda rank: (rank[0]["usable"], rank[1]))[0])
        for engine in said
    ]
    library = paths.preload_libraries() / f"liburakata-{mpi['abi']}.so"
    if library.is_file():
        return found
    why = f"{library} is not built; rebuild with this MPI library's headers at hand"
    return [engine if engine.name == "native" else Finding(engine.name, False, why) for engine in found]


_OUTSIDE = "outside the space: "  # in urakata-exec's line, before the reason


def _space() -> Finding:
    """Puts the probe into a space, as any program, and sees whether it gets there."""
    command = [str(paths.program("urakata-exec")), "--space", "--", str(paths.program("urakata-probe"))]
    # Without any launcher's variables: a space of this command's own.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("URAKATA_", "PMI", "SLURM"))
    }
    try:
        job = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=_TIME_LIMIT)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Finding("space", False, f"urakata-exec --space does not start a program: {error}")
    if any(line.startswith("{") and json.loads(line)["in_space"] for line in job.stdout.splitlines()):
        return Finding("space", True, f"ranks of a node may share one address space: {typed.command()} run --space")
    said = (job.stderr.strip() or f"exit code {job.returncode}").splitlines()
    why = next((line for line in said if _OUTSIDE in line), said[-1])
    return Finding("space", False, why.rpartition(_OUTSIDE)[2])


def _devices() -> Finding:
    """The drivers of accelerators that a program could load here; none is loaded for the question."""
    files = {name: ctypes.util.find_library(library) for name, library in _DRIVERS.items()}
    said = ", ".join(f"{name} {file or 'not found'}" for name, file in files.items())
    if not any(files.values()):
        return Finding("device memory", False, f"{said}: all buffers are taken as the processor's")
    what = "where a program loads a driver, buffers in its devices' memory are staged: copied to and fro in MPI calls"
    return Finding("device memory", True, f"{said}: {what}")


def _messages(ranks: list[dict[str, Any]]) -> Finding:
    """By what the program's own messages between nodes would go; rank 0 speaks for all, but where a node lacks the
    interface that WIRE_INTERFACE names."""
    for rank in ranks:
        if why := rank.get("no_interface"):
            text = f"WIRE_INTERFACE: {why} (rank {rank['rank']}). Until then the MPI library carries all messages"
            return Finding("messages between nodes", False, text)
    return Finding("messages between nodes", True, ranks[0]["messages"])


def _interrupts() -> Balance:
    """Of the interfaces by which transport wire would leave this node, as a probe outside of any job says.

    Of none where that does not answer: the ranks have."""
    command = [str(paths.program("urakata-probe"))]
    try:
        probe = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIME_LIMIT)
    except (OSError, subprocess.TimeoutExpired):
        return look([])
    said = next((line for line in probe.stdout.splitlines() if line.startswith("{")), None)
    if said is None:
        return look([])
    return look(json.loads(said)["interfaces"])


def _sites(mpi: launcher.Mpi, ranks: int, arguments: list[str]) -> dict[str, Any]:
    """Where a job's ranks are, and what the links between their sites carry, as rank 0 of one says."""
    from urakata import site_links

    none: dict[str, Any] = {"found": "all ranks are at one site", "ways": [], "links": []}
    try:
        paths.program("urakata-link")
    except paths.NotFoundError:
        return none | {"found": "this build has no collectives between sites (URAKATA_SITES=OFF)"}
    if ranks == 1:
        return none
    run = site_links.of_mpi(mpi, ranks, arguments)
    try:
        found = site_links.ask(run, launcher.libraries(mpi), Path(tempfile.gettempdir()), rates="auto")
    except paths.NotFoundError as error:
        return none | {"found": f"not known: {error}"}
    if found.sites is None:
        return none
    return found.sites | {"slow_start_after_idle": _slow_start_after_idle()}


def _slow_start_after_idle() -> bool | None:
    """Has this node's kernel idle connections begin anew? None: it does not say."""
    try:
        return Path("/proc/sys/net/ipv4/tcp_slow_start_after_idle").read_text(encoding="ascii").strip() != "0"
    except OSError:
        return None


def _test_hosts() -> Finding:
    from urakata.hosts import available

    usable, why = available()
    return Finding("test hosts", usable, why if not usable else f"{typed.command()} hosts run")


def _print(
    mpi: launcher.Mpi,
    ranks: list[dict[str, Any]],
    engines: list[Finding],
    others: list[Finding],
    interrupts: Balance,
    sites: dict[str, Any],
) -> None:
    from urakata import site_links

    first = ranks[0]
    asked = first["mpi_library"]
    console = Console(highlight=False, soft_wrap=True)
    facts = Table(box=None, show_header=False, pad_edge=False)
    facts.add_column(style="bold")
    facts.add_column()
    facts.add_row("machine", f"{platform.node()}, {first['node_cores']} cores, Linux {platform.release()}")
    facts.add_row("MPI library", asked.get("version", f"{mpi.family} {mpi.version}: {asked.get('error')}"))
    facts.add_row("launcher", str(mpi.launcher))
    if "error" not in asked:
        facts.add_row("library", f"{asked['library']}, ABI {asked['abi']}")
        facts.add_row("thread level", f"{asked['thread_level']}, when asked for multiple")
    print_table(console, facts)
    console.print()

    titles = ("rank", "CPUs", "cores", "threads", "a progress thread would sit on")
    seats = Table(*titles, box=None, pad_edge=False, header_style="bold")
    for rank in ranks:
        seat = rank["placement"]["auto"]
        seats.add_row(
            str(rank["rank"]),
            rank["cpus"],
            str(rank["cores"]),
            str(rank["threads"]),
            f"CPUs {seat['cpus']} ({seat['reason']})",
        )
    console.print(seats)
    if any(rank["oversubscribed"] for rank in ranks):
        console.print("[yellow]more runnable threads than cores:[/yellow] nobody spins, and times will vary")
    refusals = [rank["placement"]["spare"]["refusal"] for rank in ranks]
    refusal = next((one for one in refusals if one), "")
    if refusal:
        console.print(f"--placement spare: {refusal}")
    console.print()

    usable = Table("", "usable", "", box=None, pad_edge=False, header_style="bold")
    for finding in [*engines, *others]:
        name = f"engine {finding.name}" if finding in engines else finding.name
        usable.add_row(name, "[green]yes[/green]" if finding.usable else "[red]no[/red]", finding.why)
    console.print(usable)
    console.print()
    if interrupts.interfaces:
        console.print(table(interrupts))
    for sentence in sentences(interrupts):
        console.print(sentence, markup=False)
    console.print(f"\n[bold]sites[/bold]  {sites['found']}")
    for link in sites["links"]:
        console.print(site_links.described(link))
    if sites.get("slow_start_after_idle"):
        console.print(
            "connections between sites begin slowly after each pause (but for bbr): net.ipv4.tcp_slow_start_after_idle "
            "is 1 here, and root can set it to 0 on all nodes"
        )


class _CheckCommand(JobCommand):
    """With --options it hands those that it does not know to urakata-exec; else they are errors, as ever."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        ctx.ignore_unknown_options = _OPTIONS in args
        left = super().parse_args(ctx, args)
        if (words := ctx.params.get("arguments")) and not ctx.params["options"]:
            ctx.fail(f"Got unexpected extra arguments ({' '.join(words)})")
        return left


def check(
    ranks: Annotated[int, typer.Option(*RANKS_NAMES, metavar="N", min=1, help="Ranks of the job looked at.")] = 1,
    mpi: MpiWithoutProgramOption = None,
    launcher_arguments: LauncherArgumentsOption = None,
    mca: McaOption = None,
    links: Annotated[
        bool,
        typer.Option(
            "--links",
            help="Instead, measure what the links between the sites of the ranks carry, and keep it: jobs read it and "
            "need not measure when they start. One rank on each node does.",
        ),
    ] = False,
    file: LinksFileOption = None,
    options: Annotated[
        bool,
        typer.Option(
            _OPTIONS,
            help="Instead, show the options, as variables to paste: value in force, default, origin, and what they do.",
        ),
    ] = False,
    expert: Annotated[
        bool, typer.Option("--expert", help="With --options: also those for experts, and every cost.")
    ] = False,
    arguments: Annotated[
        list[str] | None,
        typer.Argument(metavar="OPTION OF urakata-exec", help="With --options: see what these would change."),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Show what is usable here: MPI library, thread level, cores, where progress threads would sit; if not, why and
    what to do."""
    if options:
        if links or mpi or launcher_arguments or mca:
            raise typer.BadParameter("it shows options of urakata-exec, and starts no job", param_hint=_OPTIONS)
        show_options(arguments or [], as_json, expert)
        return
    if expert:
        raise typer.BadParameter("it shows more of --options", param_hint="--expert")
    if file and not links:
        raise typer.BadParameter("it says where --links keeps what it measures", param_hint="--file")
    if links and ranks < 2:
        raise typer.BadParameter(
            "links are measured between the ranks of a job; say how many: -n N", param_hint="--links"
        )
    chosen = launcher.find_mpi(mpi)
    arguments = launcher_words(chosen, launcher_arguments, mca)
    if links:
        measure_links(chosen, ranks, arguments, file, as_json)
        return
    answers = _ask(chosen, ranks, arguments)
    engines = _engines(answers)
    messages, space, devices, hosts = _messages(answers), _space(), _devices(), _test_hosts()
    interrupts, sites = _interrupts(), _sites(chosen, ranks, arguments)
    if as_json:
        write_json(
            {
                "machine": {"name": platform.node(), "kernel": platform.release()},
                "launcher": str(chosen.launcher),
                "family": chosen.family,
                "ranks": answers,
                "engines": [asdict(engine) for engine in engines],
                "messages": asdict(messages),
                "space": asdict(space),
                "device_memory": asdict(devices),
                "test_hosts": asdict(hosts),
                "interrupts": interrupts.as_json(),
                "sites": sites,
            }
        )
    else:
        _print(chosen, answers, engines, [messages, space, devices, hosts], interrupts, sites)
    if not all(engine.usable for engine in engines):
        raise typer.Exit(2 if "error" in answers[0]["mpi_library"] else 1)


def register(app: typer.Typer) -> None:
    """Adds the command check."""
    app.command("check", cls=_CheckCommand, epilog=_EPILOG)(check)
