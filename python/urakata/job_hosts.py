"""The hosts of a job that is still to be started, where option SITES lists them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence

from urakata import launcher, paths

_MARK = "urakata-host "
_TIME_LIMIT = 60  # seconds


def _names(host: launcher.Host, ranks: int, arguments: Sequence[str] | None) -> list[str]:
    """As each calls itself, which need not be what the launcher's words call it: it starts a command on all of them.
    Empty where it does not, as the job itself will tell."""
    try:
        done = host.run(ranks, ["sh", "-c", f'echo "{_MARK}$(uname -n)"'], list(arguments or []), _TIME_LIMIT)
    except paths.NotFoundError:
        return []
    found = [line.partition(_MARK)[2].strip() for line in done.stdout.splitlines() if _MARK in line]
    return sorted(set(found)) if len(found) == ranks else []


def _listed(options: Sequence[str]) -> bool:
    """Does SITES, from wherever it comes, list hosts?"""
    asked = [str(paths.program("urakata-exec")), "--info", "--json", *options]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    values = {row["name"]: row["value"] for row in json.loads(done.stdout)} if done.returncode == 0 else {}
    return values.get("SITES", "auto") not in ("", "auto", "one")


def fit_sites(host: launcher.Host, ranks: int, arguments: Sequence[str] | None, options: Sequence[str]) -> bool:
    """Whether SITES has each host of the job at one site, and no others; else the reason goes to the standard error.
    Starts nothing where SITES lists no hosts."""
    names = _names(host, ranks, arguments) if _listed(options) else []
    if not names:
        return True
    asked = [str(paths.program("urakata-exec")), "--check-hosts", *options, "--", *names]
    done = subprocess.run(asked, capture_output=True, text=True, check=False)
    sys.stderr.write(done.stderr)
    return done.returncode == 0
