"""The overlap study: measures on worked examples, plans, reading of jobs, and what is shown."""

from __future__ import annotations

import json
import math
import stat
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from urakata import launcher, paths
from urakata.cli import build_app
from urakata.commands.bench import options
from urakata.study import measures, plots, tables, text_table
from urakata.study.configuration import OPERATIONS, Configuration
from urakata.study.job import Amounts, Outcome, Place, launcher_arguments, run_job, variables
from urakata.study.page import write_page
from urakata.study.plan import Axes, Plan, make_plan, quick_ranks_per_node, rounds
from urakata.study.program import find_program
from urakata.study.results import Results, Row, fastest, from_json
from urakata.study.running import JobError
from urakata.study.session import run_session, steps

# --- measures ---


def test_hidden_by_hand() -> None:
    # 100 computing, 60 communicating: 160 one after the other hides nothing, 100 all, 130 half.
    assert measures.hidden(100, 60, 160) == 0.0
    assert measures.hidden(100, 60, 100) == 1.0
    assert measures.hidden(100, 60, 130) == pytest.approx(0.5)
    # The shorter part may be the computation; slower than one after the other is not below 0.
    assert measures.hidden(40, 60, 80) == pytest.approx(0.5)
    assert measures.hidden(100, 60, 300) == 0.0
    assert measures.hidden(0, 60, 60) == 0.0


def test_theft_by_hand() -> None:
    # 100 alone, 110 inside: a tenth was stolen.
    assert measures.theft(100, 110) == pytest.approx(0.1)
    assert measures.theft(100, 95) == pytest.approx(-0.05)


def test_limit_by_hand() -> None:
    # 100 computing, 60 communicating of which the core itself must work 20: not below 120.
    assert measures.limit(100, 60, 20) == 120
    # Long communication is the limit itself, and CPU time above all of it is a mistake of measuring.
    assert measures.limit(100, 300, 20) == 300
    assert measures.limit(100, 60, 500) == 160


def test_osu_calls_stolen_time_hidden_and_hidden_does_not() -> None:
    # Computation slowed from 100 to 160 by the communication of 60 inside: OSU sees 100 %, in truth nothing was gained.
    assert measures.osu_overlap(60, 160, 160) == 100.0
    assert measures.hidden(100, 60, 160) == 0.0
    assert measures.osu_overlap(60, 100, 160) == 0.0
    assert measures.osu_overlap(60, 100, 130) == pytest.approx(50.0)


def test_imb_divides_by_the_longer() -> None:
    # All 60 hidden behind 100: 60 % by IMB's code.
    assert measures.imb_overlap(60, 100, 100) == pytest.approx(60.0)
    assert measures.imb_overlap(100, 100, 100) == 100.0
    assert measures.imb_overlap(60, 100, 200) == 0.0


def test_geometric_mean_and_spread() -> None:
    assert measures.geometric_mean([0.5, 2.0]) == pytest.approx(1.0)
    assert math.isnan(measures.geometric_mean([]))
    assert measures.spread([1, 2, 3, 4, 5]) == measures.Spread(3, 2, 4, 5)
    assert measures.spread([7.0]) == measures.Spread(7, 7, 7, 1)
    with pytest.raises(ValueError, match="no samples"):
        measures.spread([])


# --- plan ---


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


def test_every_other_round_goes_backwards() -> None:
    first, second = (Configuration("ibcast", "paper", 2, 1, engine) for engine in ("none", "poll"))
    assert list(rounds([first, second], 2)) == [(0, first), (0, second), (1, second), (1, first)]


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


# --- results, from made-up records: 2 x engine, T as given ---


def _record(size: int, tw: float, tc: float, t: float, compute: float, **more: Any) -> dict[str, Any]:
    times = {
        "pure": [tc] * 3,
        "pure_init": [1.0] * 3,
        "compute_alone": [tw] * 3,
        "init": [1.0] * 3,
        "compute": [compute] * 3,
        "wait": [max(0.0, t - compute - 1.0)] * 3,
        "overall": [t] * 3,
    }
    helper = {"pure": 0.0, "compute_alone": 0.0, "both": 5.0, "tested": 6.0}
    record = {"bytes": size, "work": 1000, "wrong_ranks": 0, "caller_cpu": 10.0, "helper_cpu": helper, "samples": times}
    return record | more


def _results(ranks: tuple[int, ...] = (2,), sizes: tuple[int, ...] = (8, 8192, 65536)) -> Results:
    results = Results()
    for p in ranks:
        for engine, share in (("none", 0.0), ("poll", 0.3), ("spare", 0.95), ("shared", 0.8), ("async", 0.7)):
            one = Configuration("iallgather", "paper", p, max(1, 8 // p - (engine == "spare")), engine)
            for size in sizes:
                tc = (2 + size / 1000) * p * (50 if engine == "async" and size < 8192 else 1)
                tw = 20.0 if size < 8192 else 900.0
                t = tw + tc - share * min(tw, tc)
                results.add(one, _record(size, tw, tc, t, tw * (1 + 0.05 * (engine == "shared")), round=0))
    return results


def _row(engine: str) -> Row:
    row = _results().row(next(one for one in _results().configurations() if one.engine == engine), 65536)
    assert row is not None
    return row


def test_helper_time_counts_as_the_cores_only_where_it_shares_them() -> None:
    # The caller needs 10 us of CPU, the helper 6.
    assert _row("none").tcpu == 10.0
    assert _row("spare").tcpu == 10.0
    assert _row("shared").tcpu == 16.0
    assert _row("async").tcpu == 10.0


def test_measures_of_a_row() -> None:
    # Tw 900, Tc 135.072, 80 % hidden; the computation takes 945 inside.
    measured = _row("shared").measured()
    assert measured["hidden"] == pytest.approx(0.8)
    assert measured["theft"] == pytest.approx(0.05)
    assert measured["limit"] == 916.0
    assert measured["t_over_limit"] == pytest.approx((900 + 0.2 * 135.072) / 916)


def test_ratio_to_the_hosts_own() -> None:
    results = _results()
    shared = next(one for one in results.configurations() if one.engine == "shared")
    row = results.row(shared, 65536)
    assert row is not None
    assert results.ratio(row) == pytest.approx((900 + 0.2 * 135.072) / (900 + 135.072))


def test_samples_of_rounds_are_pooled_and_json_reads_back() -> None:
    one = Configuration("ibcast", "compute", 2, 1, "none")
    results = Results()
    results.add(one, _record(8, 10, 10, 20, 10, round=0))
    results.add(one, _record(8, 10, 10, 26, 10, round=1))
    assert results.rows[0].samples("overall") == [20, 20, 20, 26, 26, 26]
    assert results.rows[0].time("overall").median == 23
    text = json.dumps([row.as_json() for row in results.rows])
    assert [row.as_json() for row in from_json(json.loads(text)).rows] == json.loads(text)


def test_fastest() -> None:
    best = fastest(_results().rows)
    assert best is not None
    assert best[0].engine == "spare"
    assert fastest([]) is None


def test_tables_show_ratio_and_wrong_results() -> None:
    results = _results()
    table = tables.summary(results, "iallgather", "paper")
    shared = next(row for row in table.rows if row[0].startswith("2 x shared"))
    assert shared[1:3] == ["80 %", "5 %"]  # hidden, theft
    assert len(table.columns) == len(shared)
    none = next(row for row in table.rows if row[0].startswith("2 x none"))
    assert none[-2:] == ["1.00", "1.00"]
    slow = next(row for row in table.rows if row[0].startswith("2 x async"))
    assert slow[-1] == "50.00"
    one = Configuration("iallgather", "paper", 2, 4, "none")
    results.add(one, _record(8, 10, 10, 20, 10, wrong_ranks=1))
    details = tables.details(results, "iallgather", "paper", 2)
    assert "WRONG" in details.rows[0][1]


@pytest.mark.parametrize(("us", "text"), [(0.3456, "0.346 µs"), (12.3, "12.3 µs"), (4321, "4.32 ms"), (2.5e6, "2.5 s")])
def test_times_have_units(us: float, text: str) -> None:
    assert text_table.time_text(us) == text


def test_the_page_needs_nothing_else(tmp_path: Path) -> None:
    results = _results(ranks=(2, 4))
    figures = plots.draw_all(results, "made up", tmp_path)
    names = {path.name for _, path in figures["iallgather", "paper"]}
    assert names == {
        f"{name}-iallgather-paper.png" for name in ("overlap", "computation", "communication", "overall", "limit")
    }
    document = {
        "date": "2026-01-01",
        "machine": {"name": "<box>", "cpu": "some", "host": "openmpi 5"},
        "settings": {"cores": 8, "repeats": 1},
        "warnings": ["oversubscribed: much"],
        "refused": [{"what": "spare", "reason": "no core"}],
        "skips": [],
        "failed": [],
        "setups": {},
    }
    write_page(document, results, figures, tmp_path / "index.html")
    page = (tmp_path / "index.html").read_text()
    assert page.count("data:image/png;base64,") == 5
    assert "&lt;box&gt;" in page and "<box>" not in page
    assert "no core" in page and "oversubscribed: much" in page
    assert "http" not in page and "<script" not in page


# --- jobs, with a made-up launcher ---


def _place(tmp_path: Path, script: str, **more: Any) -> Place:
    fake = tmp_path / "mpirun"
    fake.write_text(f"#!/bin/sh\n{script}\n")
    fake.chmod(fake.stat().st_mode | stat.S_IXUSR)
    return Place(launcher.Host(fake, "mpich", "1"), Path("/bin/true"), cores=4, **more)


NONE = Configuration("ibcast", "paper", 2, 2, "none")


def test_lines_of_the_launcher_are_passed_over() -> None:
    outcome = Outcome()
    for line in ("a warning", '{"type":"setup","ranks":2}', '{"type":"result","bytes":8}', '{"type":"skip","bytes":9}'):
        outcome.take(line)
    assert (outcome.setup, outcome.results, outcome.skips) == ({"ranks": 2}, [{"bytes": 8}], [{"bytes": 9}])


def test_a_failed_job_says_why(tmp_path: Path) -> None:
    place = _place(tmp_path, "echo '=====' >&2; echo 'no such network' >&2; exit 3")
    with pytest.raises(JobError, match="exit code 3: no such network"):
        run_job(NONE, place, Amounts([8]))


def test_a_silent_job_and_a_slow_one_are_errors(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="wrote no result"):
        run_job(NONE, _place(tmp_path, "true"), Amounts([8]))
    with pytest.raises(JobError, match=r"not done after 0\.2 s"):
        run_job(NONE, _place(tmp_path, "exec cat /dev/zero >/dev/null", timeout_s=0.2), Amounts([8]))


def test_a_failed_configuration_is_not_tried_again(tmp_path: Path) -> None:
    count = tmp_path / "count"
    place = _place(tmp_path, f"echo once >>{count}; exit 1")
    done = 0

    def progress(_label: str, sizes: int) -> None:
        nonlocal done
        done += sizes

    plan = Plan([NONE])
    session = run_session(plan, place, Amounts([8, 16]), 3, progress)
    assert count.read_text() == "once\n"
    assert [one.reason for one in session.failed] == ["exit code 1"]
    assert done == steps(plan, Amounts([8, 16]), 3) == 6


def test_all_sides_compute_the_amount_that_was_matched(tmp_path: Path) -> None:
    # The launcher notes its arguments, and answers that 777 elements matched.
    noted = tmp_path / "noted"
    record = json.dumps({"type": "result", **_record(8, 10, 10, 20, 10, work=777)}, separators=(",", ":"))
    setup = '{"type":"setup","optimised":true,"places":[],"library":"made up"}'
    place = _place(tmp_path, f"printf '%s\\n' \"$*\" >>{noted}; printf '%s\\n' '{setup}' '{record}'")
    run_session(Plan([NONE]), place, Amounts([8], work="match"), 2, lambda _label, _done: None)
    first, *others = noted.read_text().splitlines()
    assert "--work=match" in first
    assert len(others) == 2
    assert all("--work=777" in line for line in others)


def test_binding_and_variables(tmp_path: Path) -> None:
    place = _place(tmp_path, "true")
    asked = Configuration("ibcast", "paper", 2, 2, "async")
    added = variables(asked, place)
    assert added["OMP_NUM_THREADS"] == "2"
    assert added["MPIR_CVAR_ASYNC_PROGRESS"] == "1"
    assert launcher_arguments(asked, place, added) == ["-bind-to", "core:2"]
    assert "MPIR_CVAR_ASYNC_PROGRESS" not in variables(NONE, place)


def test_options_of_urakata_exec() -> None:
    shared = Configuration("iallgather", "paper", 2, 1, "shared", "ring")
    assert shared.options() == ["--engine", "thread", "--placement", "shared", "--algorithm", "allgather:ring"]
    assert NONE.options() == []


# --- the command ---


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
        launcher.find_host()
        paths.program("urakata-exec")
    except paths.NotFoundError as error:
        pytest.skip(str(error))
    program = ["--program", "/bin/true", "-o", str(tmp_path / "none")]
    result = CliRunner().invoke(build_app(), ["bench", "overlap", "--quick", "--dry-run", *program])
    assert result.exit_code == 0 and "/bin/true --operation=iallgather" in result.output, result.output
    assert not (tmp_path / "none").exists()


def test_a_job_of_each_operation_is_right() -> None:
    # Two ranks of the tree's Open MPI, two sizes of which one is no multiple of a float's.
    try:
        host = launcher.find_host("openmpi")
        program = find_program(host)
    except paths.NotFoundError as error:
        pytest.skip(str(error))
    place = Place(host, program, cores=1, timeout_s=60)
    for operation in OPERATIONS:
        asked = Configuration(operation, "compute", 2, 1, "none")
        outcome = run_job(asked, place, Amounts([3, 8192], work=[1000], turns=3, budget_ms=1))
        assert [record["wrong_ranks"] for record in outcome.results] == [0] * len(outcome.results)
        assert len(outcome.results) == (1 if operation == "ibarrier" else 2)
