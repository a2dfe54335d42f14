# SPDX-License-Identifier: BSD-3-Clause
"""Test hosts of a benchmark that runs over them where its user asks for it."""

from __future__ import annotations

from contextlib import ExitStack
from typing import TYPE_CHECKING

from urakata import paths

if TYPE_CHECKING:
    from urakata.hosts import Hosts


def open_hosts(count: int, rate: str, stack: ExitStack) -> Hosts:
    """So many, until the stack ends. Raises NotFoundError where they are not possible."""
    from urakata.hosts import Hosts, HostsError

    try:
        return stack.enter_context(Hosts(count=count, rate=rate))
    except (HostsError, ValueError) as error:
        raise paths.NotFoundError(f"--hosts {count}: {error}") from error
