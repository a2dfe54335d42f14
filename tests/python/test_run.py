# SPDX-License-Identifier: BSD-3-Clause
"""urakata run, with a made-up launcher: what it starts, how it ends, and what becomes of the report's folder."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from urakata import paths
from urakata.launcher import Linked
from urakata.report.errors import ReportError
from urakata.report.summary import summarise

try:
    EXEC = str(paths.program("urakata-exec"))
except paths.NotFoundError as reason:
    pytest.skip(str(reason), allow_module_level=True)

PACKAGES = str(Path(paths.__file__).parents[1])


def launcher(folder: Path, script: str) -> str:
    """A launcher that says that it is MPICH's, and does what the script says with its arguments."""
    path = folder / "mpirun"
    path.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec echo "HYDRA build details: Version: 4.2"\n{script}\n')
    path.chmod(0o755)
    return str(path)


def started(folder: Path, *arguments: str, **added: str) -> subprocess.Popen[str]:
    """There is a program ./app, which the made-up launchers do not start."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("URAKATA_")} | added
    (folder / "app").touch(mode=0o755)
    return subprocess.Popen(
        [sys.executable, "-m", "urakata", "run", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={"XDG_CACHE_HOME": str(folder / "cache"), **environment, "PYTHONPATH": PACKAGES},
    )


def run(folder: Path, *arguments: str, **added: str) -> tuple[int, str, str]:
    """Exit code, standard output and standard error; `added` to the environment."""
    with started(folder, *arguments, **added) as job:
        output, errors = job.communicate(timeout=60)
        return job.returncode, output, errors


def test_each_rank_is_started_under_urakata_exec(tmp_path: Path) -> None:
    """The launcher gets `-n 3 urakata-exec OPTIONS -- PROGRAM ARGUMENTS`, and its own arguments before."""
    mpirun = launcher(tmp_path, 'printf "%s\\n" "$@"')
    options = ["--engine", "poll", "--set", "nap_us=50", "--space", "--launcher-argument=-ppn"]
    code, output, _ = run(tmp_path, "-n", "3", "--host", mpirun, *options, "--", "./app", "-n", "x y")
    words = ["-n", "3", "-ppn", EXEC, "--engine", "poll", "--set", "SPACE=1", "--set", "nap_us=50"]
    assert (code, output.splitlines()) == (0, [*words, "--", "./app", "-n", "x y"])


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("./hallo", "./hallo: there is no such program"),
        ("hallo", "hallo: there is no such program on PATH"),
        ("app", "app: there is no such program on PATH; the one in this folder is ./app"),
        ("./data", "./data cannot be run: it is not executable"),
        ("../here", "../here cannot be run: it is a folder"),
    ],
)
def test_a_program_that_is_not_there_is_2_before_anything_starts(tmp_path: Path, program: str, said: str) -> None:
    """Nothing but that is said. On other hosts there may be one, so where there are any the launcher is asked."""
    here = tmp_path / "here"
    here.mkdir()
    (here / "data").touch(mode=0o644)
    mpirun = launcher(tmp_path, "echo started")
    assert run(here, "--host", mpirun, "--", program) == (2, "", f"urakata: {said}\n")
    if program == "./hallo":
        assert run(here, "--host", mpirun, "--launcher-argument=-hosts=a,b", "--", program)[:2] == (0, "started\n")
        assert run(here, "--host", mpirun, "--", program, SLURM_NNODES="2")[:2] == (0, "started\n")
        assert run(here, "--host", mpirun, "--", program, PBS_NODEFILE="nodes")[:2] == (0, "started\n")


@pytest.mark.parametrize("words", [["-np", "3"], ["-np=3"], ["--np", "3"], ["-n3"]])
def test_the_number_of_ranks_is_spelt_as_mpirun_has_it(tmp_path: Path, words: list[str]) -> None:
    """The program's own -np is left alone."""
    mpirun = launcher(tmp_path, 'echo got "$@"')
    code, output, errors = run(tmp_path, *words, "--host", mpirun, "/bin/echo", "-np", "5")
    assert (code, output) == (0, f"got -n 3 {EXEC} -- /bin/echo -np 5\n"), errors
    code, _, errors = run(tmp_path, "-np", "many", "--host", mpirun, "/bin/echo")
    assert code == 2 and "Invalid value for '-np'" in errors


@pytest.mark.parametrize(
    ("sites", "told"),
    [
        ("a: left1\nb: right* right9", "line 2: no host of the job is called right9; its hosts are left1, right1"),
        ("a: left1 right1\nb: r*", "line 2: host right1 is also at site a"),
        ("a: left1", "line 1: host right1 of the job is at none of the sites"),
        ("a: left1\nb: right1", ""),
    ],
)
def test_sites_are_held_against_the_hosts_before_the_program_starts(tmp_path: Path, sites: str, told: str) -> None:
    """The launcher is asked for the hosts first."""
    listed = tmp_path / "sites.txt"
    listed.write_text(sites)
    names = "printf 'noise\\nurakata-host left1\\nurakata-host right1\\n'"
    script = f'case "$*" in *urakata-host*) {names} ;; *) echo ran ;; esac'
    mpirun = launcher(tmp_path, script)
    words = ["-n", "2", "--host", mpirun, "--set", f"SITES={listed}", "--", "./app"]
    code, output, errors = run(tmp_path, *words)
    if not told:
        assert (code, output, errors) == (0, "ran\n", "")
    else:
        assert code == 2 and output == "" and f"{listed}, {told}" in errors


@pytest.mark.parametrize("name", ["OMPI_COMM_WORLD_SIZE", "PMI_SIZE"])
def test_a_rank_of_a_job_starts_no_job_of_its_own(tmp_path: Path, name: str) -> None:
    mpirun = launcher(tmp_path, "touch started")
    code, _, errors = run(tmp_path, "--host", mpirun, "--", "./app", **{name: "3"})
    assert code == 2 and "each of 3 ranks" in errors and "urakata-exec" in errors
    assert not (tmp_path / "started").exists()
    assert run(tmp_path, "--host", mpirun, "--", "./app", **{name: "1"})[0] == 0


def test_dry_run_shows_the_line_and_starts_nothing(tmp_path: Path) -> None:
    mpirun = launcher(tmp_path, "touch started")
    (tmp_path / "urakata-report").mkdir()
    (tmp_path / "urakata-report" / "rank-0.json").touch()
    code, output, _ = run(tmp_path, "-n", "2", "--host", mpirun, "--dry-run", "--report", "--", "./app")
    folder = tmp_path / "urakata-report"
    assert code == 0 and output.endswith(f" {mpirun} -n 2 {EXEC} --report {folder} -- ./app\n")
    assert not (tmp_path / "started").exists() and (folder / "rank-0.json").exists()


@pytest.mark.parametrize(("script", "code"), [("exit 7", 7), ("kill -KILL $$", 128 + signal.SIGKILL)])
def test_the_exit_code_is_the_launchers(tmp_path: Path, script: str, code: int) -> None:
    assert run(tmp_path, "--host", launcher(tmp_path, script), "--", "./app")[0] == code


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("caught", [False, True])
def test_signals_are_passed_on_to_the_launcher(tmp_path: Path, number: signal.Signals, caught: bool) -> None:
    """A launcher that does not catch it dies of it (128 + n); one that does says how the job ended (9)."""
    # Held back, a signal that comes before the wait for it is not missed.
    awaited = "{signal.SIGTERM, signal.SIGHUP}" if caught else "{signal.SIGUSR1}"
    (tmp_path / "wait.py").write_text(
        f"import signal, sys\nsignal.pthread_sigmask(signal.SIG_BLOCK, {awaited})\n"
        f"print('ready', flush=True)\nsignal.sigwait({awaited})\nsys.exit(9)\n"
    )
    wait = f"exec {sys.executable} {tmp_path / 'wait.py'}"
    with started(tmp_path, "--host", launcher(tmp_path, wait), "--", "./app") as job:
        assert job.stdout and job.stdout.readline() == "ready\n"
        job.send_signal(number)
        assert job.wait(60) == (9 if caught else 128 + number)


@pytest.mark.parametrize(
    ("words", "name"),
    [(["--report"], "urakata-report"), (["--report", "out"], "out"), (["--report", "--timeline"], "urakata-report")],
)
def test_the_report_has_a_folder_without_files_of_an_earlier_run(tmp_path: Path, words: list[str], name: str) -> None:
    """A bare --report means urakata-report. What is no rank's file stays; a job without a report says so."""
    folder = tmp_path / name
    folder.mkdir()
    kept = ["calls-of-mine.bin", "notes", "rank-1.json.old", "rank-summary.json"]
    for file in (*kept, "rank-7.json", "calls-7.bin", "events-7.bin", "calls-7.bin.4711.part"):
        (folder / file).touch()
    mpirun = launcher(tmp_path, f'printf "%s\\n" "$*"; ls {folder}')
    code, output, errors = run(tmp_path, "--host", mpirun, *words, "--", "./app")
    line, *files = output.splitlines()
    assert code == 0 and f"{EXEC} --report {folder} " in line and files == kept
    assert f"no report in {name}" in errors
    with pytest.raises(ReportError, match="no rank of that run called MPI_Init with Urakata loaded"):
        summarise(folder)


def test_files_of_others_stay_whatever_their_names(tmp_path: Path) -> None:
    """What the ranks would write over ends it before anything is started."""
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / "rank-12.json").write_text('{"score": 3}')
    (folder / "rank-0.json").write_text('{"urakata_report": 4, "rank')
    mpirun = launcher(tmp_path, "echo started")
    assert run(tmp_path, "-n", "2", "--host", mpirun, "--report", "out", "--", "./app")[:2] == (0, "started\n")
    assert (folder / "rank-12.json").exists() and not (folder / "rank-0.json").exists()
    code, output, errors = run(tmp_path, "-n", "13", "--host", mpirun, "--report", "out", "--", "./app")
    assert code == 2 and output == "" and "rank-12.json there is no report of Urakata's and would be lost" in errors
    assert (folder / "rank-12.json").exists()


def test_the_report_is_shown_after_the_job_whatever_its_code(tmp_path: Path) -> None:
    rank = (
        '{"urakata_report": 4, "rank": 0, "ranks": 1, "host": "here", "pid": 1, "program": "./app", "mpi_library": '
        '"Made up 1.0", "abi": "mpich", "engine": "poll", "engine_why": "", "init_ns": 0, "finalize_ns": 1, '
        '"realtime_minus_monotonic_ns": 0, "caller_cpu_seconds": 0, "progress_threads": [], "options": [], '
        '"call_sites": [], "tracks": []}'
    )
    mpirun = launcher(tmp_path, f"echo '{rank}' >out/rank-0.json; exit 5")
    code, output, _ = run(tmp_path, "--host", mpirun, "--report", "out", "--html", "--", "./app")
    assert code == 5 and "Made up 1.0" in output and "urakata report out" in output
    assert "Made up 1.0" in (tmp_path / "out" / "index.html").read_text()
    last = json.loads((tmp_path / "cache" / "urakata" / "last-reports.json").read_text())
    assert last == {str(tmp_path): str(tmp_path / "out")}


def test_the_host_is_the_one_that_the_program_is_linked_with(tmp_path: Path) -> None:
    """PREFIX/lib/libmpi.so.12, so PREFIX/bin/mpirun."""
    compiler = shutil.which("cc") or pytest.skip("no C compiler")
    prefix = tmp_path / "prefix"
    for part in ("bin", "lib"):
        (prefix / part).mkdir(parents=True)
    mpirun = launcher(prefix / "bin", "exit 3")
    (tmp_path / "mpi.c").write_text("int MPI_Init(void) { return 0; }\n")
    (tmp_path / "app.c").write_text("int MPI_Init(void);\nint main(void) { return MPI_Init(); }\n")
    library = str(prefix / "lib" / "libmpi.so.12")
    made = ["-shared", "-fPIC", "-Wl,-soname,libmpi.so.12", "mpi.c", "-o", library]
    subprocess.run([compiler, *made], cwd=tmp_path, check=True)
    subprocess.run([compiler, "app.c", library, f"-Wl,-rpath,{prefix}/lib", "-o", "app"], cwd=tmp_path, check=True)
    assert run(tmp_path, "--dry-run", "--", "./app")[1].count(f" {mpirun} -n 2 ") == 1
    assert run(tmp_path, "--", "./app")[0] == 3
    # Under another family's launcher each rank would be a job of its own.
    other = tmp_path / "other"
    other.write_text('#!/bin/sh\necho "mpirun (Open MPI) 5.0.11"\n')
    other.chmod(0o755)
    code, _, errors = run(tmp_path, "-n", "2", "--host", str(other), "--dry-run", "--", "./app")
    assert code == 2 and f"./app is linked with {library} (mpich)" in errors and f"{other} (openmpi)" in errors


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--engine", "warp"], "use native, poll, thread or kernel"),
        (["--set", "NAPS=1"], "did you mean NAP_US?"),
        (["--algorithm", "bcast:help"], "it has binomial, knomial, chain, scatter_allgather"),
        (["--config", "none.toml"], "none.toml"),
    ],
)
def test_a_bad_option_is_2_before_anything_starts(tmp_path: Path, words: list[str], said: str) -> None:
    mpirun = launcher(tmp_path, "touch started")
    code, _, errors = run(tmp_path, "--host", mpirun, *words, "--", "./app")
    assert code == 2 and said in errors and not (tmp_path / "started").exists()


def test_a_host_that_is_not_there_is_2(tmp_path: Path) -> None:
    code, _, errors = run(tmp_path, "--host", "no-such-launcher", "--", "./app")
    assert code == 2 and "nor a launcher" in errors


def test_a_library_of_the_system_has_the_systems_launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And not that of the source tree, whose library is another one; a library elsewhere has the launcher beside it."""
    ours, elsewhere, system = tmp_path / "hosts" / "openmpi" / "bin", tmp_path / "opt" / "bin", tmp_path / "bin"
    for folder, name in ((ours, "mpirun"), (elsewhere, "mpirun"), (system, "mpirun.openmpi")):
        folder.mkdir(parents=True)
        (folder / name).touch(mode=0o755)
    monkeypatch.setenv("URA_HOSTS", str(tmp_path / "hosts"))
    monkeypatch.setenv("PATH", str(system))
    library = "lib/x86_64-linux-gnu/libmpi.so.40"
    of_system = Linked(f"/{library}", ("openmpi",))
    assert of_system.launcher() == system / "mpirun.openmpi"
    assert Linked(str(tmp_path / "opt" / "lib" / "libmpi.so.40"), ("openmpi",)).launcher() == elsewhere / "mpirun"
    (system / "mpirun.openmpi").unlink()
    assert of_system.launcher() == ours / "mpirun"


def test_a_folder_that_takes_no_file_is_refused_before_the_job(tmp_path: Path) -> None:
    """/proc, in which nobody can make one."""
    mpirun = launcher(tmp_path, "echo started")
    code, output, errors = run(tmp_path, "--host", mpirun, "--report", "/proc/self", "--", "./app")
    assert code == 2 and "started" not in output and "--report /proc/self" in errors
