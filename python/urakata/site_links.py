# SPDX-License-Identifier: BSD-3-Clause
"""What the links between sites carry: found by a job that does nothing else, and kept in the user's file."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import comb
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


def of_mpi(mpi: launcher.Mpi, ranks: int, arguments: list[str]) -> Run:
    """Runs commands as a job of so many ranks; `arguments` are the launcher's. Raises NotFoundError where it does not
    start."""

    return lambda command: mpi.run(ranks, command, arguments, _TIME_LIMIT)


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
        known = 0
        while True:
            sites = _sites_of(run([str(paths.program("urakata-exec")), *options, "--", *probe]), report / "rank-0.json")
            links = len(sites.get("links", [])) if sites else 0
            # A job measures for two seconds at most, and knows what those before it have found.
            if rates or links <= known or links >= comb(len(sites["ways"]) + 1 if sites else 0, 2):
                return Found(sites, fresh.read_text(encoding="utf-8"))
            known = links


def _sites_of(job: subprocess.CompletedProcess[str], file: Path) -> dict[str, Any] | None:
    """What rank 0's report says of sites. Raises NotFoundError where the job failed."""
    if job.returncode != 0 or not file.is_file():
        said = (job.stderr.strip() or job.stdout.strip() or "it said nothing").splitlines()[-1]
        raise paths.NotFoundError(f"the job that asks for sites: exit code {job.returncode}: {said}")
    found: dict[str, Any] | None = json.loads(file.read_text(encoding="utf-8")).get("sites")
    return found


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


def keep(file: Path, entries: str) -> None:
    """Puts new tables into the file, as merged() does: whoever reads it has the old text or the new one, and jobs that
    append to it wait (job/known_links.hpp). Raises OSError, and tomllib.TOMLDecodeError where the file is none."""
    file = file.resolve()
    while True:
        with file.open("a+", encoding="utf-8") as own:
            fcntl.flock(own, fcntl.LOCK_EX)
            if not file.exists() or not os.path.samestat(os.fstat(own.fileno()), file.stat()):
                continue  # another one has taken its place meanwhile
            own.seek(0)
            text = merged(own.read(), entries)
            beside = file.with_name(file.name + ".new")
            try:
                with beside.open("w", encoding="utf-8") as new:
                    os.fchmod(new.fileno(), os.fstat(own.fileno()).st_mode & 0o777)
                    new.write(text)
                    new.flush()
                    os.fsync(new.fileno())
                beside.replace(file)
            finally:
                beside.unlink(missing_ok=True)
            return


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
