# SPDX-License-Identifier: BSD-3-Clause
"""When a job ended that did not reach MPI_Finalize, or that it runs still.

Each rank's file tells when its last call began and ended, by its own clock. How long ago that was follows from the end
of the job, which `urakata run` notes in DIR/urakata-run.json; or from now, where a rank's process is seen to run on
this machine. Elsewhere nobody knows.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from urakata.report.calls import RankCalls, read_all_calls
from urakata.report.errors import ReportError
from urakata.report.files import own_files

RUN_FILE = "urakata-run.json"
SPACE_DAEMON = "urakata-spaced"
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True)
class Ending:
    until_ns: int | None = None  # time of day: the job's end, or now; None: not known
    alive: frozenset[int] = frozenset()  # ranks whose processes run on this machine
    gone: frozenset[int] = frozenset()  # ranks whose processes are known to have ended


def note_end(folder: Path) -> None:
    """The job that was to write the report has ended now. Nothing is noted where all its ranks have said so."""
    try:
        if any(own_files(folder, "rank", "calls")) and all(
            rank.state == "finished" for rank in read_all_calls(folder, [])
        ):
            return
        (folder / RUN_FILE).write_text(json.dumps({"urakata_run": 1, "ended_ns": time.time_ns()}), encoding="utf-8")
    except OSError as error:
        raise ReportError(f"{folder / RUN_FILE}: {error.strerror}") from error


def _noted_end(folder: Path) -> int | None:
    try:
        told = json.loads((folder / RUN_FILE).read_text(encoding="utf-8"))
        return int(told["ended_ns"]) if told.get("urakata_run") == 1 else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def is_noted(folder: Path) -> bool:
    """Is there a RUN_FILE, and is it ours?"""
    return _noted_end(folder) is not None


def _boot() -> str:
    try:
        return _BOOT.read_text().strip()
    except OSError:
        return ""


def program_of(pid: int) -> str:
    """The name of the file that a process of this machine runs; empty: unknown. A rank in a space runs SPACE_DAEMON."""
    try:
        return Path(os.readlink(f"/proc/{pid}/exe")).name.removesuffix(" (deleted)")
    except OSError:
        return ""


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on; empty: there is no such process."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def started_ns(pid: int) -> int | None:
    """When a process of this machine began, by CLOCK_MONOTONIC; None: there is none, or it has ended."""
    stat = _stat(pid)
    if len(stat) < 20 or stat[0] in ("Z", "X"):
        return None
    asleep = time.clock_gettime_ns(time.CLOCK_BOOTTIME) - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    return int(stat[19]) * 1_000_000_000 // os.sysconf("SC_CLK_TCK") - asleep


def maps_file(pid: int, file: Path) -> bool:
    """Does the process map that file, as a rank does its own? Where its mappings may not be seen, it is taken to."""
    try:
        inode = str(file.stat().st_ino)
        lines = Path(f"/proc/{pid}/maps").read_text(errors="replace").splitlines()
    except PermissionError:
        return True
    except OSError:
        return False
    return any(line.split(maxsplit=5)[4:5] == [inode] and line.endswith(file.name) for line in lines)


def _runs(rank: RankCalls, folder: Path) -> bool:
    """The rank's number may be another process's: of one that began after its MPI_Init, or, where the rank had a PID
    namespace of its own (a container, a test host), of one outside."""
    started = started_ns(rank.pid)
    if started is None or started > rank.begin_ns:
        return False
    return maps_file(rank.pid, folder / f"calls-{rank.rank}.bin")


def ending(folder: Path, ranks: Iterable[RankCalls]) -> Ending:
    """Of the job with these ranks."""
    ranks = list(ranks)
    unfinished = [rank for rank in ranks if rank.state != "finished"]
    if not unfinished:
        return Ending()
    latest = max(rank.begin_ns + rank.wall + rank.ns for rank in unfinished)
    ended = _noted_end(folder)
    if ended is not None and ended >= latest:  # an earlier one is another job's
        return Ending(ended, gone=frozenset(rank.rank for rank in ranks))
    boot = _boot()
    here = [rank for rank in unfinished if boot and rank.clock == boot]
    alive = frozenset(rank.rank for rank in here if _runs(rank, folder))
    gone = frozenset(rank.rank for rank in here) - alive
    return Ending(max(time.time_ns(), latest) if alive else None, alive, gone)
