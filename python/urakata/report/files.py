# SPDX-License-Identifier: BSD-3-Clause
"""The files of a report's folder: which are a report's, which could not be read, and DIR/rank-N.json of all ranks.

One file that cannot be read costs its rank, never the report: it becomes a Fault, and the others are shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from urakata.report.errors import ReportError

FORMAT = 4
LAST_FORMAT = 3
"""Of the last release, which is read too."""

_NAME = re.compile(r"(?:(rank)-(\d+)\.json|(calls)-(\d+)\.bin|(events)-(\d+)\.bin)(?:\.\d+\.part)?")
# How each kind begins.
_MARKS = {"rank": b'{"urakata_report"', "calls": b"URACALLS", "events": b"URAEVENT"}
_OF_RANK = {
    *("rank", "ranks", "host", "engine", "engine_why", "progress_threads", "options", "call_sites", "tracks"),
    "realtime_minus_monotonic_ns",
}
_OF_SITE = {
    *("number", "operation", "bytes", "engine", "algorithm", "why", "module", "offset", "symbol", "symbol_offset"),
    *("started", "start", "gap", "test", "wait", "in_flight", "overlapped", "progress_thread_ns", "samples"),
}


@dataclass(frozen=True)
class Fault:
    """A file of which nothing is in the report."""

    path: Path
    rank: int
    why: str  # goes on behind the file's name: "is broken, or cut off"


Faults = list[Fault]


class JobKey(NamedTuple):
    """What all ranks' files of one job have alike."""

    job: int  # a number agreed on in MPI_Init; 0: written by an Urakata that had none
    ranks: int


def _named_files(folder: Path) -> Iterator[tuple[Path, str, int]]:
    """All files with names of a report's, with kind and rank."""
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        found = _NAME.fullmatch(path.name)
        if found is not None and not path.is_dir():
            kind, number = (part for part in found.groups() if part is not None)
            yield path, kind, int(number)


def _is_own(path: Path, kind: str) -> bool:
    """By how it begins, as far as it goes: it may be cut off, and a rank may have been killed before the first byte.
    One that cannot be read is taken for ours, so that whoever reads it says why."""
    mark = _MARKS[kind]
    try:
        with path.open("rb") as file:
            begin = file.read(len(mark))
    except OSError:
        return True
    return mark.startswith(begin) or not any(begin)


def own_files(folder: Path, *kinds: str) -> Iterator[tuple[Path, int]]:
    """The ranks' files in the folder, by name and content, and their ranks; of `kinds` ("rank", "calls", "events") only
    whole ones, without kinds drafts that a killed rank has left, too."""
    for path, kind, number in _named_files(folder):
        if (not kinds or (kind in kinds and not path.name.endswith(".part"))) and _is_own(path, kind):
            yield path, number


def foreign_files(folder: Path, ranks: int) -> list[Path]:
    """Files that are none of a report's, but have the names that these ranks would write."""
    return [path for path, kind, number in _named_files(folder) if number < ranks and not _is_own(path, kind)]


def blame(error: ReportError, path: Path, rank: int, faults: Faults | None) -> None:
    """Notes the fault; where nobody collects faults it is raised."""
    if faults is None:
        raise error
    faults.append(Fault(path, rank, str(error).removeprefix(f"{path} ").removeprefix(f"{path}: ")))


_RENAMED = {
    **{"helpers": "progress_threads", "helper_ns": "progress_thread_ns", "hidden_ns": "overlapped_ns"},
    **{"host_mpi": "mpi_library", "messages_helper": "messages_progress_thread"},
}
_RENAMED_OF_WAY = {"lanes": "connections"}
_NATIVE = {"engine", "transport", "messages_by", "carrier"}


def _renamed(part: Any, names: dict[str, str] = _RENAMED) -> Any:
    """A report of the last release with the names of this one."""
    if isinstance(part, list):
        return [_renamed(one, names) for one in part]
    if not isinstance(part, dict):
        return part
    read: dict[str, Any] = {}
    for key, value in part.items():
        if key in _NATIVE and isinstance(value, str):
            read[key] = re.sub(r"\bhost\b", "native", value)
        else:
            read[str(names.get(key, key))] = _renamed(value, _RENAMED_OF_WAY if key == "ways" else names)
    if read.get("name") in ("ENGINE", "TRANSPORT") and read.get("value") == "host":
        read["value"] = "native"
    return read


def _read(path: Path) -> dict[str, Any]:
    try:
        rank = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ReportError(f"{path} is broken, or cut off") from error
    if not isinstance(rank, dict) or "urakata_report" not in rank:
        raise ReportError(f"{path} is no report of Urakata")
    if rank["urakata_report"] == LAST_FORMAT:
        rank = _renamed(rank)
    elif rank["urakata_report"] != FORMAT:
        raise ReportError(f"{path} has form {rank['urakata_report']}, this urakata reads form {FORMAT}")
    if missing := _OF_RANK - rank.keys():
        raise ReportError(f"{path} is broken: {', '.join(sorted(missing))} is missing")
    for site in rank["call_sites"]:
        if missing := _OF_SITE - site.keys():
            raise ReportError(f"{path} is broken: {', '.join(sorted(missing))} of a call site is missing")
    return {**rank, "program": str(rank.get("program", "")).strip()}


def _key(rank: dict[str, Any]) -> JobKey:
    return JobKey(int(rank.get("job", 0)), int(rank["ranks"]))


def read_ranks(folder: Path, faults: Faults | None = None, of: JobKey | None = None) -> list[dict[str, Any]]:
    """All ranks' reports in order of rank; some or all may be missing, where ranks did not reach MPI_Finalize.

    Those of another job than `of` (without it: than the newest file's) are passed over.
    """
    if not folder.is_dir():
        raise ReportError(f"{folder}: no such folder; run with --report DIR first")
    read: list[tuple[float, dict[str, Any]]] = []
    for path, number in own_files(folder, "rank"):
        try:
            read.append((path.stat().st_mtime, _read(path)))
        except OSError as error:
            blame(ReportError(f"{path}: {error.strerror}"), path, number, faults)
        except ReportError as error:
            blame(error, path, number, faults)
    if of is None and read:
        of = _key(max(read, key=lambda one: one[0])[1])
    return sorted((rank for _, rank in read if _key(rank) == of), key=lambda rank: int(rank["rank"]))
