"""The program's own messages: random traffic in all modes, alone and inside a space."""

from __future__ import annotations

from pathlib import Path

import pytest
from jobs import FULL, HOST_NAMES, compiled, named, passes, run_job

from urakata import paths

EXEC = str(paths.program("urakata-exec"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("messages")


@pytest.mark.parametrize("ranks", (2, 3, 5))
@pytest.mark.parametrize("name", HOST_NAMES)
def test_random_messages_arrive_as_sent(folder: Path, name: str, ranks: int) -> None:
    host = named(name)
    rounds = "800" if FULL else "40"
    program = [str(compiled(host, "random_messages", folder)), "--rounds", rounds, "--seed", str(ranks)]
    passes(run_job(host, ranks, [EXEC, "--space", "--", *program], seconds=900 if FULL else 120))
