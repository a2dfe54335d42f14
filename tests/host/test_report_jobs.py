"""What the report says of whole jobs: relations that hold however fast the machine is."""

from __future__ import annotations

from pathlib import Path

import pytest
from jobs import compiled, named, passes, run_job

from urakata import paths
from urakata.report.summary import summarise


@pytest.mark.parametrize("engine", ("poll", "thread"))
@pytest.mark.parametrize("name", ("openmpi", "mpich"))
def test_a_late_rank_is_late_and_not_hidden(folder: Path, tmp_path: Path, name: str, engine: str) -> None:
    """Rank 1 begins every fourth Iallreduce after rank 0 has begun it: rank 0's wait is no communication."""
    host = named(name)
    options = ["--engine", engine, "--placement", "shared", "--report", str(tmp_path), "--"]
    passes(run_job(host, 2, [str(paths.program("urakata-exec")), *options, str(compiled(host, "late_rank", folder))]))
    (row,) = (row for row in summarise(tmp_path).rows if row.operation == "Iallreduce")
    assert row.started == 80
    assert len(row.seen) == 80  # all 40 instances, of both ranks
    late = row.hidden.late_ns
    assert late is not None
    assert 0 < late <= row.times["wait"].mean
    if row.hidden.share is not None:  # what was hidden cannot be longer than there was time to hide behind
        own = row.hidden.own_ns or sum(one.life for one in row.seen) / len(row.seen)
        assert row.hidden.share * own <= row.times["gap"].mean + 1
    instances = [one for one in row.seen if one.own is not None]
    assert all(one.own <= one.life for one in instances if one.own is not None)
