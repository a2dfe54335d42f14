# SPDX-License-Identifier: BSD-3-Clause
"""What merged_intercommunicator.c says, and whether an MPI library starts further ranks here."""

from __future__ import annotations

import re

import pytest
from jobs import Mpi, Outcome


def merged(output: str) -> list[str]:
    """What each rank of the merged ones got, as a line each."""
    return sorted(re.findall(r"^rank \d+ is rank .* got .*$", output, re.MULTILINE))


def needs_spawned(mpi: Mpi, outcome: Outcome) -> None:
    """Skips the test where no rank has come out of MPI_Comm_spawn, nor has any of the started ones out of MPI_Init."""
    if outcome.code != 0 and " has merged" not in outcome.output:
        if mpi.family == "mpich":
            pytest.skip("MPICH 5 alone at times waits for ever in MPI_Comm_spawn, most often for ranks that come late")
        if re.search("not enough slots|Spawn not supported|MPI_ERR_SPAWN", outcome.output):
            pytest.skip(f"{mpi.name} starts no further ranks here: {outcome.output[-300:]}")
