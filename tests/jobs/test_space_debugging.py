# SPDX-License-Identifier: BSD-3-Clause
"""gdb on one rank of a space shows that rank: its stack, its globals, its breakpoints."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from jobs import named
from spaces import alive, nothing_stays, running

__all__ = ["nothing_stays"]  # around every test here


def gdb(pid: int, *commands: str) -> str:
    """What gdb says to the commands, attached by `urakata debug` to the rank with that pid."""
    if not shutil.which("gdb"):
        pytest.skip("gdb is not installed here")
    words = [word for one in commands for word in ("-ex", one)]
    asked = subprocess.run(
        [sys.executable, "-m", "urakata", "debug", str(pid), "--", "-nx", "-batch", *words],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    if "Python scripting is not supported" in asked.stderr:
        pytest.skip("this gdb has no Python")
    if "Operation not permitted" in asked.stderr:
        pytest.skip("this user may not attach to processes here")
    return asked.stdout + asked.stderr


@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_gdb_shows_the_rank_that_it_is_attached_to(tmp_path: Path, name: str) -> None:
    """Stack, a global, and a breakpoint are those of one rank after the other; the others go on."""
    seen = []
    with running(named(name), tmp_path, "", 3, "space_debug") as (_, tasks):
        for task in tasks:
            said = gdb(task, "break work", "continue", "backtrace", "print own", "delete", "finish")
            assert re.search(r"^#0 +work \(.*space_debug\.c:\d+$", said, re.MULTILINE), said
            assert re.search(r"^#1 .* in main \(", said, re.MULTILINE), said
            values = dict(re.findall(r"^(Value returned is )?\$\d+ = (\d+)$", said, re.MULTILINE))
            assert int(values["Value returned is "]) >= int(values[""]), said
            seen.append(int(values[""]))
            assert all(map(alive, tasks)), said
    assert sorted(seen) == [1000, 1001, 1002]
