# SPDX-License-Identifier: BSD-3-Clause
"""Which MPI libraries a run must have, and which cases of a test it has with each."""

from __future__ import annotations

from types import SimpleNamespace

import jobs
import pytest
from conftest import is_for_full


def test_a_library_that_is_required_and_missing_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "MPIS", {})
    monkeypatch.setenv("REQUIRED_HOSTS", "openmpi mpich")
    with pytest.raises(pytest.fail.Exception, match="mpich is not installed"):
        jobs.named("mpich")
    with pytest.raises(pytest.skip.Exception):
        jobs.named("impi")


@pytest.mark.parametrize(
    ("library", "how", "left_out"),
    [("openmpi", "poll", False), ("impi", "poll", True), ("impi", None, True), ("impi", "thread", False)],
)
def test_further_libraries_have_one_engine(library: str, how: str | None, left_out: bool) -> None:
    case = SimpleNamespace(params={"name": library, "engine": how})
    assert is_for_full(case) == left_out


def test_a_test_without_engines_is_run_with_each_library() -> None:
    assert not is_for_full(SimpleNamespace(params={"name": "impi", "ranks": 3}))
    assert not is_for_full(None)  # of a test without parameters
