# SPDX-License-Identifier: BSD-3-Clause
"""What the tests in this folder share."""

from __future__ import annotations

from pathlib import Path

import pytest
from jobs import FULL

# Each run has every case with these. What other MPI libraries add is their binary interface, which does not depend on
# the engine: of a test that has several engines, they have the case with engine thread only, but for --full.
ALL_CASES = ("openmpi", "mpich")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [] if FULL else [item for item in items if is_for_full(getattr(item, "callspec", None))]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]


def is_for_full(case: object) -> bool:
    parameters: dict[str, object] = getattr(case, "params", {})
    name = parameters.get("name")
    return name is not None and name not in ALL_CASES and parameters.get("engine", "thread") != "thread"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For the programs that a file's tests compile: each once."""
    return tmp_path_factory.mktemp("programs")
