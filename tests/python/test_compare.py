"""urakata compare: intervals, outputs and verdicts, and whole comparisons with a made-up launcher."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from test_run import PACKAGES, launcher

from urakata.compare.interval import interval
from urakata.compare.output import Reference
from urakata.compare.session import Session, Trials
from urakata.compare.side import HOST, sides_of
from urakata.compare.verdict import verdict


def test_the_interval_of_nine_samples_leaves_out_one_at_each_end() -> None:
    """1 to 9: 2 to 8 holds the median with 1 - 2 (1 + 9) / 512 = 96 %; of six samples the whole range is needed."""
    known = interval([9, 1, 2, 8, 3, 7, 4, 6, 5])
    assert (known.median, known.low, known.high, known.coverage) == (5, 2, 8, pytest.approx(0.9609, abs=1e-4))
    assert (interval(range(6)).low, interval(range(6)).high) == (0, 5)
    assert interval([2.0]).coverage == 0


@pytest.mark.parametrize(
    ("hosts", "ours", "difference"),
    [
        (["b\na\n", "a\nb\n"], "b\na\n", ""),  # ranks write in any order
        (["norm 1e-3\n", "norm 1e-3\n"], "norm 2e-3\n", "only here: norm 2e-3"),
        (["norm 1e-3\ntook 1.5 s\n", "norm 1e-3\ntook 1.6 s\n"], "norm 1e-3\ntook 9 s\n", ""),
        (["norm 1e-3\ntook 1.5 s\n", "norm 1e-3\ntook 1.6 s\n"], "norm 1e-4\ntook 9 s\n", "only here: norm 1e-4"),
        (["x\n", "x\n"], "", "only with the host alone: x"),
        (["by cat\n", "by dog\n"], "by cow\n", ""),  # the host differs from itself in more than numbers
        (["at 10h: x\n", "at 11h: x\n"], "at 12h: y\n", "only here: : y"),  # with --ignore 'at .*h'
    ],
)
def test_outputs(hosts: Sequence[str], ours: str, difference: str) -> None:
    reference = Reference(hosts, ["at .*h"])
    assert reference.difference(ours) == difference
    assert ("not compared" in reference.compared) == (hosts[0].startswith("by"))


def session(**ratios: Sequence[float]) -> Session:
    """The host takes 10 s; the sides as many times that, round by round."""
    sides = {side.name: side for side in sides_of(["poll", "shared"], [False, True])}
    rounds = len(next(iter(ratios.values())))
    trials = [Trials(HOST, [10.0] * rounds)]
    trials += [
        Trials(sides[name.replace("_", "+")], [10 * one for one in values], [""] * rounds)
        for name, values in ratios.items()
    ]
    return Session(trials)


@pytest.mark.parametrize(
    ("ratios", "side", "text"),
    [
        ({"poll": [0.9] * 6, "shared": [0.5] * 6}, "shared", "Faster: engine thread, shared takes 50 % off"),
        # They overlap, and engine poll needs no thread.
        ({"poll": [0.5, 0.52] * 3, "shared": [0.5, 0.54] * 3}, "poll", "Faster: engine poll takes"),
        ({"poll": [0.9] * 3, "poll_space": [0.5] * 3}, "poll+space", "Probably faster: engine poll, in a space,"),
        ({"poll": [0.98, 1.02] * 3}, "host", "No difference that can be told from noise (2 % in 6 rounds)"),
        ({"poll": [1.1] * 6, "shared": [1.2] * 6}, "host", "Slower: every side takes 10 % longer"),
    ],
)
def test_verdicts(ratios: dict[str, Sequence[float]], side: str, text: str) -> None:
    found = verdict(session(**ratios))
    assert found.side.name == side
    assert found.text.startswith(text)


def compare(folder: Path, script: str, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and error of a comparison of two rounds. `script` is what the launcher does."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("URAKATA_")}
    words = ["--host", launcher(folder, script), "--runs", "2", "--no-space", *arguments]
    done = subprocess.run(
        [sys.executable, "-m", "urakata", "compare", *words, "--", "/bin/echo", "x"],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**environment, "PYTHONPATH": PACKAGES, "COLUMNS": "200"},
        timeout=100,
    )
    return done.returncode, done.stdout, done.stderr


_HERE = 'case "$*" in *shared*) side=shared;; *poll*) side=poll;; *) side=host;; esac'


def test_all_sides_run_in_turn_and_what_was_measured_is_written(tmp_path: Path) -> None:
    """The host once more than the others, to warm up; every other round backwards."""
    code, output, errors = compare(tmp_path, f"{_HERE}; echo $side >>turns; echo same", "--engines", "poll,shared")
    assert code == 0, errors
    turns = (tmp_path / "turns").read_text().split()
    assert turns == ["host", "host", "poll", "shared", "shared", "poll", "host"]
    said = json.loads((tmp_path / "urakata-compare" / "compare.json").read_text())
    assert said["format"] == "urakata-compare-1"
    assert [(one["name"], len(one["seconds"])) for one in said["sides"]] == [("host", 2), ("poll", 2), ("shared", 2)]
    assert said["verdict"] in output
    page = (tmp_path / "urakata-compare" / "index.html").read_text()
    assert said["verdict"] in page.replace("&#39;", "'") and "data:image/svg+xml" in page
    assert "--engine thread --placement shared" in said["sides"][2]["command"]


@pytest.mark.parametrize(
    ("script", "options", "told"),
    [
        ("[ $side != poll ] || { echo 'no memory' >&2; exit 3; }", [], "poll: exit code 3: no memory"),
        ("echo $side", [], "poll: its output differs from the host's. Only here: poll"),
        ("[ $side != poll ] || exec tail -f /dev/null", ["--timeout", "2"], "poll: not done after 2 s"),
        ("echo $side", ["--ignore", ".*", "--check", "! grep -q poll"], "poll: --check: exit code 1"),
    ],
)
def test_a_side_that_fails_is_told_and_the_others_are_compared(
    tmp_path: Path, script: str, options: list[str], told: str
) -> None:
    code, output, errors = compare(tmp_path, f"{_HERE}; {script}", "--engines", "poll,shared", *options)
    assert code == 1, errors
    assert f"Failed: {told}" in output
    if "differs" not in told:  # here all sides differ
        said = json.loads((tmp_path / "urakata-compare" / "compare.json").read_text())
        assert said["sides"][2]["ratio"]["median"] > 0


def test_a_program_that_fails_with_the_host_alone_is_not_run_with_others(tmp_path: Path) -> None:
    code, _, errors = compare(tmp_path, f"{_HERE}; echo $side >>turns; echo broken >&2; exit 4")
    assert code == 1 and "exit code 4: broken" in errors
    assert (tmp_path / "turns").read_text() == "host\n"


def test_what_urakata_refuses_is_not_possible_and_no_failure(tmp_path: Path) -> None:
    script = f"{_HERE}; [ $side != shared ] || {{ echo 'urakata: no core is spare' >&2; exit 2; }}"
    code, output, _ = compare(tmp_path, script, "--engines", "poll,shared", "--json", "-")
    said = json.loads(output)
    assert code == 0 and said["refused"] == [{"what": "thread, shared", "reason": "no core is spare"}]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--engines", "warp"], "warp is none of poll, shared, spare"),
        (["--ignore", "("], "missing )"),
        (["--set", "NAPS=1"], "did you mean NAP_US?"),
        (["--runs", "0"], "runs"),
    ],
)
def test_a_bad_value_is_2_before_anything_starts(tmp_path: Path, words: list[str], said: str) -> None:
    code, _, errors = compare(tmp_path, "touch started", *words)
    assert code == 2 and said in errors and not (tmp_path / "started").exists()


def test_a_program_that_is_not_there_is_2() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "urakata", "compare", "--", "./no-such-program"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": PACKAGES},
    )
    assert done.returncode == 2 and "no-such-program: there is no such program" in done.stderr
