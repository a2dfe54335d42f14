# SPDX-License-Identifier: BSD-3-Clause
"""What a launcher calls instead of ssh: `agent [-option]... HOST COMMAND...` runs COMMAND on a test host.

As with ssh, the words of the command are joined and given to a shell there, the standard streams are the caller's, and
the exit code is the command's (255 when the host cannot be reached).
"""

from __future__ import annotations

import os
import sys

from urakata.hosts import wire

FAILURES = "_URAKATA_DAEMON_FAILURES"
"""Names the file for the daemons of a launcher that fail: launchers may end with 0 then, as PRRTE 3 does."""


def main(arguments: list[str]) -> int:
    """arguments: the instance's folder, then what the launcher said."""
    folder, words = arguments[0], arguments[1:]
    while words and words[0].startswith("-"):
        words = words[1:]
    if len(words) < 2:
        print("urakata-hosts-agent: a host and a command are needed", file=sys.stderr)
        return 255
    host, command = words[0], " ".join(words[1:])
    failures = os.environ.get(FAILURES, "")
    request = wire.Request(["/bin/sh", "-c", command], dict(os.environ), os.getcwd(), failures)
    try:
        with wire.ask(folder, host, request, (0, 1, 2)) as connection:
            status = wire.status(connection)
    except OSError as error:
        print(f"urakata-hosts-agent: cannot reach {host}: {error.strerror}", file=sys.stderr)
        return 255
    if status is None:
        return 255
    return status if status >= 0 else 128 - status
