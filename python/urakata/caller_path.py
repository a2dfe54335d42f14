# SPDX-License-Identifier: BSD-3-Clause
"""The PATH of the shell that gave the command: by it a program is found, and it comes first inside the ranks.

Launchers put their own folder before it, where a wheel or /usr/bin has a python of its own.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

VARIABLE = "URAKATA_CALLER_PATH"
"""By it urakata-exec gets the PATH that its program is to have."""


def caller_path() -> str:
    return os.environ.get("PATH", os.defpath)


def resolved(program: Sequence[str]) -> list[str]:
    """The command with its program's full path, as the caller's shell finds it; as it is where that finds none.

    No symbolic link is followed: Python finds its virtual environment by the path that it is called by.
    """
    name = program[0]
    if os.sep in name or not (found := shutil.which(name)):
        return list(program)
    return [str(Path.cwd() / found), *program[1:]]


def without_urakata(program: Sequence[str]) -> list[str]:
    """The command for ranks that no urakata-exec starts: with the same program and PATH."""
    return ["env", f"PATH={caller_path()}", *resolved(program)]


def shell_line(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """A line to be pasted into the caller's shell: what `environment` adds to the caller's, then the command."""
    before = caller_path()
    # This one first: a shell sets them from left to right.
    words = [f'{VARIABLE}="$PATH"'] if environment.get(VARIABLE) == before else []
    for name, value in sorted(environment.items()):
        if name == VARIABLE or os.environ.get(name) == value:
            continue
        if name == "PATH" and value.endswith(before):
            words.append(f'PATH={shlex.quote(value.removesuffix(before))}"$PATH"')
        else:
            words.append(f"{name}={shlex.quote(value)}")
    return " ".join([*words, shlex.join(command)])
