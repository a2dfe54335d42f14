"""What the tests in this folder share."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For the programs that a file's tests compile: each once."""
    return tmp_path_factory.mktemp("programs")
