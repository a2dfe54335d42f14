# SPDX-License-Identifier: BSD-3-Clause
"""Which report `urakata report` shows where no folder is named: the last one of `urakata run` in this directory."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from pathlib import Path

from urakata import typed
from urakata.report.errors import ReportError
from urakata.report.files import own_files

DEFAULT_REPORT = "urakata-report"

_MOST = 100  # working directories that are remembered


def _file() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "urakata" / "last-reports.json"


def _remembered() -> dict[str, str]:
    """The last report of each working directory, the oldest first. Empty where none can be read."""
    with contextlib.suppress(OSError, RuntimeError, ValueError):
        known = json.loads(_file().read_text(encoding="utf-8"))
        if isinstance(known, dict):
            return {key: value for key, value in known.items() if isinstance(value, str)}
    return {}


def remember(folder: Path) -> None:
    """Notes the folder for this working directory. Where the home cannot be written, nothing is noted."""
    with contextlib.suppress(OSError, RuntimeError):
        here, known = str(Path.cwd()), _remembered()
        known.pop(here, None)
        kept = [*known.items(), (here, str(folder.absolute()))][-_MOST:]
        file = _file()
        file.parent.mkdir(parents=True, exist_ok=True)
        draft = file.with_name(f"{file.name}.{os.getpid()}")  # another terminal may read meanwhile
        draft.write_text(json.dumps(dict(kept)), encoding="utf-8")
        draft.replace(file)


def _written(folder: Path) -> float | None:
    """When the last file of the report was written; None: the folder has none."""
    with contextlib.suppress(OSError):
        return max((path.stat().st_mtime for path, _ in own_files(folder)), default=None)
    return None


def _age(seconds: float) -> str:
    for unit, name in ((86400, "day"), (3600, "hour"), (60, "minute")):
        if seconds >= unit:
            count = int(seconds / unit)
            return f"{count} {name}{'s' * (count > 1)} ago"
    return "less than a minute ago"


def last_report() -> Path:
    """The last report of this working directory, else its urakata-report, else the last one of any directory; a line
    says which. Raises ReportError where there is none."""
    known = _remembered()
    here = [Path(known[cwd])] if (cwd := str(Path.cwd())) in known else []
    for folder in (*here, Path(DEFAULT_REPORT)):
        if _written(folder) is not None:
            print(f"urakata: the last report of this directory, in {folder}", file=sys.stderr)
            return folder
    for folder in map(Path, reversed(known.values())):
        if (written := _written(folder)) is not None:
            print(
                f"urakata: no report of this directory is known; this is the last one of another, in {folder}, "
                f"written {_age(time.time() - written)}",
                file=sys.stderr,
            )
            return folder
    if known:
        raise ReportError(
            f"{[*known.values()][-1]}, the last report, has no files any more; "
            f"name a folder: {typed.command()} report DIR"
        )
    raise ReportError(f"no `urakata run --report` has left a report yet; name a folder: {typed.command()} report DIR")
