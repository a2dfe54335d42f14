"""What the links between sites carry: found by a job that does nothing else, and kept in the user's file."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from urakata import launcher, paths

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

HEADER = """# What the links between sites carry, for option LINK_RATES. Of several tables for the same sites
# the last counts, and one host stands for its whole site; patterns such as "node*" are possible.
"""

_TABLE = "\n[[link]]\n"

Run = Callable[[list[str]], "subprocess.CompletedProcess[str]"]
"""Runs a command on every rank of a job, to its end, and returns what it printed."""


_TIME_LIMIT = 300  # seconds


def of_host(host: launcher.Host, ranks: int, arguments: list[str]) -> Run:
    """Runs commands as a job of so many ranks; `arguments` are the launcher's. Raises NotFoundError where it does not
    start."""

    def run(command: list[str]) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(
                host.command(ranks, command, arguments),
                env=host.environment(),
                capture_output=True,
                text=True,
                check=False,
                timeout=_TIME_LIMIT,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise paths.NotFoundError(f"{host.launcher} does not start a program: {error}") from error

    return run


def users_file() -> Path:
    """The file that jobs read where LINK_RATES does not say another."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "urakata" / "links.toml"


@dataclass(frozen=True)
class Found:
    """What a job has found. `sites`: of rank 0's report, None where all ranks are at one; `entries`: new tables of the
    file."""

    sites: dict[str, Any] | None
    entries: str


def ask(run: Run, libraries: Sequence[str], folder: Path, rates: str | None = None) -> Found:
    """Has a job find out where its ranks are and what lies between them.

    `folder`: where files may be left for a moment; rank 0 must see it. `rates`: option LINK_RATES; None: nothing is
    known, and all is measured. Raises NotFoundError where the job fails.
    """
    with tempfile.TemporaryDirectory(prefix=".sites-", dir=folder, ignore_cleanup_errors=True) as name:
        report, fresh = Path(name) / "report", Path(name) / "links.toml"
        fresh.touch()
        options = ["--engine", "poll", "--report", str(report), "--link-rates", rates or str(fresh)]
        probe = [str(paths.program("urakata-probe")), "--job", *libraries]
        job = run([str(paths.program("urakata-exec")), *options, "--", *probe])
        file = report / "rank-0.json"
        if job.returncode != 0 or not file.is_file():
            said = (job.stderr.strip() or job.stdout.strip() or "it said nothing").splitlines()[-1]
            raise paths.NotFoundError(f"the job that asks for sites: exit code {job.returncode}: {said}")
        return Found(json.loads(file.read_text(encoding="utf-8")).get("sites"), fresh.read_text(encoding="utf-8"))


def _pairs(text: str) -> list[frozenset[frozenset[str]]]:
    """Of each table the hosts of its two sites, in whichever order."""
    return [
        frozenset({frozenset(link.get("one", ())), frozenset(link.get("other", ()))})
        for link in tomllib.loads(text).get("link", [])
    ]


def merged(text: str, entries: str) -> str:
    """The file's text with new tables, which replace those of the same hosts; all others stay as they are. Raises
    tomllib.TOMLDecodeError where the file is none."""
    replaced = set(_pairs(entries))
    head, *tables = ("\n" + (text or HEADER)).split(_TABLE)
    _pairs(text)
    kept = [table for table in tables if not set(_pairs(_TABLE + table)) & replaced]
    return _TABLE.join([head.removeprefix("\n"), *kept]).rstrip("\n") + "\n" + entries


def described(link: dict[str, Any]) -> str:
    """One line: what a link of a report's carries."""
    line = f"{link['one']} - {link['other']}: round trip {2 * link['delay_ms']:.1f} ms; "
    line += f"{link['stream_mbit']:.1f} Mb/s by one connection, {link['pair_mbit']:.1f} by two nodes, "
    line += f"{link['link_mbit']:.1f} by all"
    if link["inside_mbit"]:
        line += f"; {link['inside_mbit']:.0f} inside a site"
    if link["loss_percent"]:
        line += f"; {link['loss_percent']:.2g} % of packets lost"
    return f"{line} ({link['source']})"
