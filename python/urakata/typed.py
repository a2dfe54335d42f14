# SPDX-License-Identifier: BSD-3-Clause
"""How this command is typed again, in what it tells its user to type."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

VARIABLE = "URA_COMMAND"
"""By it the script that starts Python tells what it was called: cmake/urakata.in, cmake/urakata-installed.sh."""

_NAME = "urakata"


def command_words() -> list[str]:
    """`urakata` where PATH has the one that was started, else its path as it was typed."""
    started = os.environ.get(VARIABLE) or sys.argv[0]
    if Path(started).name != _NAME or not os.path.exists(started):
        return [_NAME]  # python -m urakata, or a Python program that uses the package
    found = shutil.which(_NAME)
    return [_NAME] if found and os.path.samefile(found, started) else [started]


def command() -> str:
    """The same for a line of text."""
    return shlex.join(command_words())
