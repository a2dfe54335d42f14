# SPDX-License-Identifier: BSD-3-Clause
"""urakata compare: intervals, outputs and verdicts, and whole comparisons with a made-up launcher."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from rich.console import Console
from test_run import PACKAGES, launcher

from urakata.compare import tables
from urakata.compare.interval import interval, rounds_for, wanted_of_each
from urakata.compare.output import Reference
from urakata.compare.session import Question
from urakata.compare.side import ALONE, SPACE, Side, sides_of
from urakata.compare.trials import Run, Session, Trials
from urakata.compare.verdict import command_line, verdict
from urakata.launcher import Mpi
from urakata.measure.text_table import show


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
        (["x\n", "x\n"], "", "only with the MPI library alone: x"),
        (["by cat\n", "by dog\n"], "by cow\n", ""),  # the MPI library differs from itself in more than numbers
        (["at 10h: x\n", "at 11h: x\n"], "at 12h: y\n", "only here: : y"),  # with --ignore 'at .*h'
    ],
)
def test_outputs(hosts: Sequence[str], ours: str, difference: str) -> None:
    reference = Reference(hosts, ["at .*h"])
    assert reference.difference(ours) == difference
    if hosts[0].startswith("norm") and "took" in hosts[0]:
        varying = "compared, except for numbers that differ between runs of the MPI library alone (in lines of 1 kind)"
        assert reference.compared == varying
    assert ("not compared" in reference.compared) == (hosts[0].startswith("by"))


def session(**ratios: Sequence[float]) -> Session:
    """The MPI library takes 10 s; the sides as many times that, round by round."""
    sides = {side.name: side for side in sides_of(["poll", "shared"], [False, True])}
    rounds = len(next(iter(ratios.values())))
    trials = [Trials(ALONE, {number: Run(10.0) for number in range(rounds)})]
    trials += [
        Trials(sides[name.replace("_", "+")], {number: Run(10 * one) for number, one in enumerate(values)})
        for name, values in ratios.items()
    ]
    return Session(trials)


@pytest.mark.parametrize(
    ("ratios", "side", "text"),
    [
        ({"poll": [0.9] * 7, "shared": [0.5] * 7}, "shared", "Faster: engine thread, shared takes 50 % off"),
        # They overlap, and engine poll needs no thread.
        ({"poll": [0.5, 0.52] * 4, "shared": [0.5, 0.54] * 4}, "poll", "Faster: engine poll takes"),
        ({"poll": [0.9] * 6, "poll_space": [0.5] * 6}, "poll+space", "Probably faster: engine poll, in a space,"),
        ({"poll": [0.5, 0.5]}, "poll", "Perhaps faster: engine poll"),
        ({"poll": [0.5]}, "host", "One round cannot be told from noise: engine poll took 50 % less in the time of the"),
        (
            {"poll": [0.5, 0.9, 0.7]},
            "host",
            "No difference in the time of the whole job that can be told from noise (59 % less to 12 % more, "
            "3 rounds). Leave Urakata off for this program.",
        ),
        ({"poll": [0.98, 1.02] * 3}, "host", "No difference in the time of the whole job that can be told"),
        ({"poll": [1.1] * 7, "shared": [1.2] * 7}, "host", "Slower: every side takes 10 % longer"),
        ({"poll": [1.1] * 7}, "host", "Slower: engine poll takes 10 % longer"),
    ],
)
def test_verdicts(ratios: dict[str, Sequence[float]], side: str, text: str) -> None:
    found = verdict(session(**ratios))
    assert found.side.name == side
    assert found.text.startswith(text)


def test_the_fastest_of_six_needs_eight_rounds_and_of_one_six() -> None:
    """Of six intervals each holds its median with 99.2 %, so that all do with 95 %: 1 - 2 / 2^8 = 99.2 %."""
    assert [rounds_for(wanted_of_each(sides)) for sides in (1, 2, 6)] == [6, 7, 8]


def told(side: Side, seconds: float, inside: Sequence[float]) -> Trials:
    return Trials(side, {number: Run(seconds, one) for number, one in enumerate(inside)})


def test_the_start_of_the_job_is_told_from_the_time_after_mpi_init() -> None:
    """Whole jobs take 10 and 8 s, which a space does by its start: 9 s after MPI_Init are 7.2, 7.4, ... of 8 s."""
    found = verdict(Session([told(ALONE, 10, [8] * 6), told(SPACE, 8, [7.2, 7.4] * 3)]))
    assert found.side is SPACE and found.ratio and found.ratio.median == pytest.approx(7.3 / 8)
    assert found.text == (
        "Faster: a space takes 8.7 % off the time after MPI_Init (7.5 % to 10 %, 6 rounds). "
        "Start and end of the job: -1.3 s, once (-1.4 to -1.2 s)."
    )
    found = verdict(Session([told(ALONE, 10, [8] * 6), told(SPACE, 8, [7.9, 8.1] * 3)]))
    assert (
        found.side is ALONE
        and found.use is SPACE
        and found.text
        == (
            "No difference after MPI_Init that can be told from noise (1.2 % less to 1.2 % more, 6 rounds). "
            "Only the start of the job gains: --space saves 2 s a job (1.9 to 2.1 s)."
        )
    )
    words = command_line(found.use, Question(Mpi(Path("/bin/mpirun"), "mpich", "4.2"), ["./app"], 4))
    assert words == ["urakata", "run", "-n", "4", "--space", "--", "./app"]


@pytest.mark.parametrize("seconds", [[9.9, 9.2, 9.9], [10.1] * 6, [9.98] * 6])
def test_a_start_that_hardly_gains_is_no_reason(seconds: list[float]) -> None:
    """8 s of each job are after MPI_Init; the start is within noise, longer, or shorter by 1 part of 500."""
    host = told(ALONE, 10, [8] * len(seconds))
    jobs = {number: Run(one, 7.9 + 0.2 * (number % 2)) for number, one in enumerate(seconds)}
    found = verdict(Session([host, Trials(SPACE, jobs)]))
    assert found.use is ALONE and "Leave Urakata off for this program." in found.text


def test_the_table_shows_the_interval_that_the_verdict_goes_by() -> None:
    """All three ratios are below 1, which three are by luck one time in four: Student's interval reaches above."""
    measured = session(poll=[0.61, 0.8, 0.99], poll_space=[0.49, 0.7, 0.93])
    measured.ended = "3 rounds were asked for"
    found = verdict(measured)
    assert found.side is ALONE and found.ratio and found.ratio.low < 0.49 and found.ratio.high > 1
    shown = tables.table(measured, found, "compared")
    assert shown.rows[2][3] == f"{found.ratio.low:.3f} .. {found.ratio.high:.3f}"
    assert "(--runs 7)" in shown.note and "Student's t" in shown.note


@pytest.mark.parametrize("width", [80, 100])
def test_no_line_of_the_table_is_wider_than_the_terminal(width: int) -> None:
    sides = sides_of(["poll", "shared", "spare"], [False, True])
    measured = Session([told(side, 10.0 + number, [8.0, 8.1, 12.5]) for number, side in enumerate(sides)])
    measured.ended = "3 rounds were asked for"
    console = Console(file=io.StringIO(), width=width)
    show([tables.table(measured, verdict(measured), "compared")], console)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert any("thread, shared, space" in line and "12.5 s" not in line for line in lines)
    assert max(map(len, lines)) <= width


def test_a_side_is_shown_as_a_line_that_can_be_pasted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PMIX_MCA_gds", raising=False)
    question = Question(Mpi(Path("/opt/mpi/bin/mpirun"), "openmpi", "5.0.11"), ["./app"], 1)
    line = question.shell_line(SPACE)
    assert line.startswith('URAKATA_CALLER_PATH="$PATH" ') and " PMIX_MCA_gds=hash " in line
    assert "PMIX" not in question.shell_line(ALONE)


def test_whole_jobs_are_compared_where_a_side_does_not_tell_when_mpi_init_returned() -> None:
    found = Session([told(ALONE, 10, [8] * 6), Trials(SPACE, {number: Run(9.0) for number in range(6)})])
    assert not found.inside and found.ratio(found.trials[1]).median == 0.9 and found.start(found.trials[1]) is None


def test_a_side_that_cannot_matter_is_not_praised() -> None:
    """Where the engine has nothing to progress the space does it, also if engine poll alone looks as fast."""
    found = session(poll=[0.5] * 7, poll_space=[0.5] * 7)
    assert verdict(found).text.startswith("Faster: engine poll takes")
    found.nothing_to_progress = True
    assert verdict(found).side.name == "poll+space" and verdict(found).text.startswith("Faster: a space takes 50 % off")
    alone = session(poll=[0.5] * 6)
    alone.nothing_to_progress = True
    assert verdict(alone).side is ALONE and "leaves an engine nothing to progress" in verdict(alone).text


def test_rounds_are_paired_by_their_number() -> None:
    """The MPI library has no second round, the side no third: 2 / 1 and 8 / 4."""
    host = Trials(ALONE, {0: Run(1), 2: Run(3), 3: Run(4)})
    side = Trials(SPACE, {0: Run(2), 1: Run(100), 3: Run(8)})
    assert Session([host, side]).ratios(side) == [2, 2]


def started(folder: Path, script: str, *arguments: str) -> subprocess.Popen[str]:
    """A comparison of two rounds. `script` is what the launcher does."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("URAKATA_")}
    words = ["--host", launcher(folder, script), "--runs", "2", "--no-space", *arguments]
    return subprocess.Popen(
        [sys.executable, "-m", "urakata", "compare", *words, "--", "/bin/echo", "x"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**environment, "PYTHONPATH": PACKAGES, "COLUMNS": "200"},
    )


def compare(folder: Path, script: str, *arguments: str) -> tuple[int, str, str]:
    """Exit code, standard output and error of a whole comparison."""
    with started(folder, script, *arguments) as job:
        output, errors = job.communicate(timeout=100)
        return job.returncode, output, errors


_HERE = 'case "$*" in *shared*) side=shared;; *poll*) side=poll;; *) side=host;; esac'


def test_all_sides_run_in_turn_and_what_was_measured_is_written(tmp_path: Path) -> None:
    """The MPI library and the first other side once more, to warm up; every other round backwards."""
    code, output, errors = compare(tmp_path, f"{_HERE}; echo $side >>turns; echo same", "--engines", "poll,shared")
    assert code == 0, errors
    assert [line.partition(":")[0] for line in errors.splitlines()] == ["round 1", "round 2"]  # there is no terminal
    turns = (tmp_path / "turns").read_text().split()
    assert turns == ["host", "poll", "host", "poll", "shared", "shared", "poll", "host"]
    said = json.loads((tmp_path / "urakata-compare" / "compare.json").read_text())
    assert said["format"] == "urakata-compare-1"
    assert [(one["name"], len(one["seconds"])) for one in said["sides"]] == [("host", 2), ("poll", 2), ("shared", 2)]
    assert said["verdict"] in output
    page = (tmp_path / "urakata-compare" / "index.html").read_text()
    assert said["verdict"] in page.replace("&#39;", "'") and "data:image/svg+xml" in page
    assert "--engine thread --placement shared" in said["sides"][2]["command"]
    assert said["sides"][2]["command"].startswith('URAKATA_CALLER_PATH="$PATH" ')


@pytest.mark.parametrize(
    ("script", "options", "told"),
    [
        ("[ $side != poll ] || { echo 'no memory' >&2; exit 3; }", [], "poll: exit code 3: no memory"),
        ("echo $side", [], "poll: its output differs from the MPI library's. Only here: poll"),
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


def test_a_refusal_behind_another_ranks_half_line_is_no_failure(tmp_path: Path) -> None:
    """The line of the clock stood between them, too: standard error is one stream of all ranks."""
    half = "printf 'step 1 urakata-clock: 5\\nurakata: no core is spare\\n' >&2"
    script = f"{_HERE}; [ $side != shared ] || {{ {half}; exit 2; }}"
    code, output, _ = compare(tmp_path, script, "--engines", "poll,shared", "--json", "-")
    said = json.loads(output)
    assert code == 0 and said["refused"] == [{"what": "thread, shared", "reason": "no core is spare"}]


@pytest.mark.parametrize(
    ("output", "differs"),
    [
        ("rankrank 0 of 2\n 1 of 2\n", False),  # pieces of two lines, mixed
        ("rank 1 of 2rank 0 of 2\n\n", False),
        ("rankrank 0 of 2\n 1 of 3\n", True),
        ("rank 0 of 2\nrank 0 of 2\n", True),
        ("rank 0 of 1\nrank 2 of 2\n", True),  # the same characters and kinds of lines, but other numbers
    ],
)
def test_lines_of_ranks_that_mix_are_the_same_output(output: str, differs: bool) -> None:
    host = "rank 0 of 2\nrank 1 of 2\n"
    assert bool(Reference([host]).difference(output)) == differs
    mixed = Reference([host, "rankrank 0 of 2\n 1 of 2\n"])
    assert mixed.compared == "compared" and bool(mixed.difference(output)) == differs
    timed = Reference([f"{host}time 1.5 s\n", f"{host}time 2.25 s\n"])
    assert not timed.difference("rankrank 0 of 2\n 1 of 2\ntime 3 s\n")
    assert not timed.difference("rank 0 of 2\nrank 1 time 3of 2\n s\n")
    assert timed.difference("rank 0 of 2\nrank 1 of 2\ntome 3 s\n")


def test_the_clock_of_the_slowest_rank_is_taken_and_its_lines_are_no_complaints(tmp_path: Path) -> None:
    script = f"{_HERE}; echo 'urakata-clock: 1000' >&2; echo 'urakata-clock: 2000000' >&2; [ $side != poll ] || exit 3"
    code, output, _ = compare(tmp_path, script, "--engines", "poll,shared", "--json", "-")
    said = json.loads(output)
    assert code == 1 and said["failed"] == [{"what": "poll", "reason": "exit code 3"}]
    assert said["compared"] == "after MPI_Init" and said["sides"][2]["after_init"] == [0.002, 0.002]


def test_without_the_clock_where_that_finds_no_mpi_library(tmp_path: Path) -> None:
    said = "urakata compare: the program calls MPI_Init, which no library that it loads has"
    script = f"{_HERE}; case $* in *clock*) echo '{said}' >&2; exit 127;; esac"
    code, output, _ = compare(tmp_path, script, "--engines", "poll", "--json", "-")
    assert code == 0 and json.loads(output)["compared"] == "whole job"


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_with_the_verdict_of_what_was_measured(tmp_path: Path, number: signal.Signals) -> None:
    """The first round is whole; from the second on the launcher hangs."""
    script = f"{_HERE}; echo $side >>turns; [ $(wc -l <turns) -le 5 ] || exec tail -f /dev/null"
    with started(tmp_path, script, "--engines", "poll,shared") as job:
        assert job.stderr and job.stderr.readline().startswith("round 1: MPI library alone ")
        job.send_signal(number)
        output, _ = job.communicate(timeout=100)
    said = json.loads((tmp_path / "urakata-compare" / "compare.json").read_text())
    assert job.returncode == 128 + number and said["verdict"] in output
    assert said["ended"] == f"{number.name} came" and said["sides"][2]["rounds"] == [0] and said["ratio"]


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
