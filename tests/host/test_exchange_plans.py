"""Persistent neighbourhood collectives inside a space, by exchange plans."""

from __future__ import annotations

from pathlib import Path

import pytest
from jobs import FULL, compiled, named, passes, run_job
from spaces import nothing_stays, space_job

__all__ = ["nothing_stays"]  # around every test here


def numbers(output: str) -> list[str]:
    return [line for line in output.splitlines() if line.startswith("topology")]


@pytest.mark.parametrize("ranks", (2, 3, 4, 6) if FULL else (3, 4))
@pytest.mark.parametrize("name", ("openmpi", "mpich", "impi") if FULL else ("openmpi", "mpich"))
def test_random_neighbourhoods_equal_the_hosts(folder: Path, tmp_path: Path, name: str, ranks: int) -> None:
    host = named(name)
    program = [str(compiled(host, "random_neighbours", folder)), "3000" if FULL else "60", str(ranks + 10)]
    of_host = run_job(host, ranks, program, None, seconds=900)
    passes(of_host)
    for plans in ("1", "0"):
        report = tmp_path / plans
        report.mkdir()
        variables = {"URAKATA_EXCHANGE_PLANS": plans, "URAKATA_REPORT": str(report)}
        outcome = space_job(host, ranks, program, seconds=900, environment=variables)
        passes(outcome)
        assert numbers(outcome.output) == numbers(of_host.output), program
        said = "".join(file.read_text() for file in report.glob("*.json"))
        assert ("exchange plan" in said) == (plans == "1")
