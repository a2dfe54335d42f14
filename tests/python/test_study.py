# SPDX-License-Identifier: BSD-3-Clause
"""The overlap study: plans, and the command."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from urakata import launcher, paths
from urakata.cli import build_app
from urakata.commands.bench import options
from urakata.measure.machine import describe_machine
from urakata.overlap_study.configuration import OPERATIONS
from urakata.overlap_study.plan import Axes, make_plan, quick_ranks_per_node


def _axes(**changes: Any) -> Axes:
    asked: dict[str, Any] = {
        "operations": ["iallgather"],
        "kinds": ["paper"],
        "ranks_per_node": [1, 2, 4],
        "engines": ["none", "spare", "shared"],
    }
    return Axes(**(asked | changes))


def test_threads_as_in_the_study() -> None:
    # 16 cores, 4 ranks: 4 threads each, 3 where a core is spared.
    plan = make_plan(_axes(ranks_per_node=[4]), 16, "openmpi")
    assert [(one.engine, one.threads) for one in plan.configurations] == [("none", 4), ("spare", 3), ("shared", 4)]


def test_a_spare_core_that_is_not_there_is_refused_with_the_reason() -> None:
    plan = make_plan(_axes(ranks_per_node=[2, 4]), 4, "openmpi")
    assert [(one.what, one.reason) for one in plan.refused] == [
        (
            "iallgather, 4 ranks a node, spare",
            "no spare core: 4 ranks on 4 cores have 1 each, all of which compute",
        )
    ]
    assert len(plan.configurations) == 5
    # Also where the threads asked for leave none.
    refused = make_plan(_axes(ranks_per_node=[2], threads=[2], engines=["spare"]), 4, "openmpi").refused
    assert refused[0].reason == "no spare core: 2 ranks on 4 cores have 2 each, all of which compute"


def test_one_rank_in_all_is_refused_and_one_a_node_is_not() -> None:
    assert make_plan(_axes(ranks_per_node=[1], engines=["none"]), 4, "openmpi").refused[0].reason == (
        "one rank in all has nobody to talk to"
    )
    assert not make_plan(_axes(ranks_per_node=[1], engines=["none"]), 4, "openmpi", nodes=2).refused


def test_host_without_progress_thread_is_refused() -> None:
    asked = _axes(engines=["async"], ranks_per_node=[2])
    assert make_plan(asked, 4, "openmpi").refused[0].reason == "openmpi has no progress thread of its own"
    assert len(make_plan(asked, 4, "mpich").configurations) == 1


def test_oversubscription_is_warned_of() -> None:
    plan = make_plan(_axes(ranks_per_node=[4], engines=["none"]), 2, "openmpi")
    assert plan.configurations[0].threads == 1
    assert plan.warnings == [
        "oversubscribed: 4 ranks x 1 threads on 2 cores; the scheduler is measured too",
    ]


def test_algorithms_only_multiply_urakatas_engines() -> None:
    plan = make_plan(_axes(ranks_per_node=[2], engines=["none", "poll"], algorithms=["ring", "bruck"]), 2, "openmpi")
    assert [(one.engine, one.algorithm) for one in plan.configurations] == [
        ("none", "default"),
        ("poll", "ring"),
        ("poll", "bruck"),
    ]


@pytest.mark.parametrize(("cores", "ranks"), [(1, 1), (2, 2), (4, 2), (8, 4), (16, 8), (64, 8)])
def test_the_quick_division_leaves_a_core_to_spare_where_it_can(cores: int, ranks: int) -> None:
    assert quick_ranks_per_node(cores) == ranks


def test_sizes() -> None:
    assert options.parse_sizes("1:8") == [1, 2, 4, 8]
    assert options.parse_sizes("3:20") == [3, 6, 12]
    assert options.parse_sizes("64K, 8,1m") == [8, 65536, 1048576]
    assert len(options.parse_sizes("1:4M")) == 23
    for bad in ("0", "x", "8:4", "4G", "-1"):
        with pytest.raises(ValueError, match="size"):
            options.parse_sizes(bad)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--operation", "allgather"], OPERATIONS[0]),
        (["--kind", "hard"], "paper, compute, memory"),
        (["--engine", "warp"], "none, poll, spare, shared"),
        (["--sizes", "0"], "no size"),
        (["--amount", "much"], "paper, match"),
        (["--ranks-per-node", "two"], "no list of numbers"),
    ],
)
def test_bad_values_are_told_with_the_valid_ones(arguments: list[str], said: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(build_app(), ["bench", "overlap", "-o", str(tmp_path), *arguments])
    assert result.exit_code == 2
    assert said in " ".join(result.output.replace("│", " ").split())


def test_a_dry_run_leaves_no_folder(tmp_path: Path) -> None:
    try:
        launcher.find_mpi()
        paths.program("urakata-exec")
    except paths.NotFoundError as error:
        pytest.skip(str(error))
    program = ["--program", "/bin/true", "-o", str(tmp_path / "none")]
    result = CliRunner().invoke(build_app(), ["bench", "overlap", "--quick", "--dry-run", *program])
    assert result.exit_code == 0 and "/bin/true --operation=iallgather" in result.output, result.output
    assert not (tmp_path / "none").exists()


def test_a_document_says_which_mpi_was_measured() -> None:
    found = describe_machine(launcher.Mpi(Path("mpirun"), "openmpi", "5"), launcher.Mpi(Path("mpiexec"), "mpich", "4"))
    assert found.as_json()["host"] == "openmpi 5, mpich 4" and found.as_json()["cores"] >= 1
