"""Reads DIR/rank-N.json of all ranks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from urakata.report.errors import ReportError

FORMAT = 3


def _read(path: Path) -> dict[str, Any]:
    try:
        rank = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReportError(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise ReportError(f"{path} is broken: {error}. Did the rank end while it wrote?") from error
    if not isinstance(rank, dict) or "urakata_report" not in rank:
        raise ReportError(f"{path} is no report of Urakata")
    if rank["urakata_report"] != FORMAT:
        raise ReportError(f"{path} has form {rank['urakata_report']}, this urakata reads form {FORMAT}")
    missing = {"rank", "ranks", "host", "engine", "helpers", "options", "call_sites", "tracks"} - rank.keys()
    if missing:
        raise ReportError(f"{path} is broken: {', '.join(sorted(missing))} is missing")
    return rank


def read_ranks(folder: Path) -> list[dict[str, Any]]:
    """All ranks' reports in order of rank; some or all may be missing, where ranks did not reach MPI_Finalize."""
    if not folder.is_dir():
        raise ReportError(f"{folder}: no such folder; run with --report DIR first")
    return sorted((_read(path) for path in folder.glob("rank-*.json")), key=lambda rank: int(rank["rank"]))
