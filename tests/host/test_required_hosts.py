"""A default host that could not be installed is a failure where nothing may be skipped for it, as in ./dev ci."""

from __future__ import annotations

import jobs
import pytest


def test_a_host_that_is_required_and_missing_fails_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "HOSTS", {})
    monkeypatch.setenv("REQUIRED_HOSTS", "openmpi mpich")
    with pytest.raises(pytest.fail.Exception, match="mpich is not installed"):
        jobs.named("mpich")
    with pytest.raises(pytest.skip.Exception):
        jobs.named("impi")
