# SPDX-License-Identifier: BSD-3-Clause
"""Whether an engine has anything to progress in a program, from a report of one run."""

from __future__ import annotations

import re
from pathlib import Path

from urakata.report.calls import read_all_calls
from urakata.report.errors import ReportError

# Isend, Iallreduce, Send_init, Start, ura_start, and "(others)", which may be any of them; not Iprobe, Improbe,
# Info_set, Init, Intercomm_create, Is_thread_main.
_STARTS_SOMETHING = re.compile(r"I(?!probe|mprobe|nfo|nit|ntercomm|s_)[a-z]|Start|Pready|.*_init$|.*_idup|ura_|\(")


def nothing_to_progress(folder: Path) -> bool:
    """Whether no rank started a non-blocking, persistent or partitioned operation, and all ranks were on one node.
    Between nodes a progress thread may also move blocking messages. False if the report does not tell."""
    try:
        ranks = read_all_calls(folder)
    except ReportError:
        return False
    if not ranks or len(ranks) < ranks[0].ranks or len({rank.host for rank in ranks}) > 1:
        return False
    if any(rank.state != "finished" for rank in ranks):
        return False
    return not any(_STARTS_SOMETHING.match(call.operation) for rank in ranks for call in rank.calls)
