# SPDX-License-Identifier: BSD-3-Clause
"""Programs in one address space (urakata-exec --space): they run and end as ever, and nothing stays behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from jobs import FULL, compiled, drawn_seed, named, passes, run_job, source_of
from spaces import (
    EXEC,
    SPACE,
    compiled_text,
    nothing_stays,
    parent,
    pids,
    position_independent_python,
    running,
    space_job,
)

from urakata import hosts

__all__ = ["nothing_stays"]  # around every test here

MPIS = ("openmpi", "mpich")


def life(folder: Path) -> str:
    target = folder / "space_life"
    if not target.exists():
        compiler = shutil.which("c++") or pytest.skip("no C++ compiler")
        flags = ["-std=c++20", "-O1", "-g", "-pthread", "-fopenmp"]
        subprocess.run([compiler, *flags, str(source_of("space_life.cpp")), "-o", str(target), "-ldl"], check=True)
    return str(target)


# Running


@pytest.mark.parametrize("ranks", (1, 2, 4, 16, 64) if FULL else (2, 4, 16))
@pytest.mark.parametrize("name", MPIS)
def test_exit_codes_are_the_programs(folder: Path, name: str, ranks: int) -> None:
    mpi = named(name)
    program = str(compiled(mpi, "space_end", folder))
    good = space_job(mpi, ranks, [program, "code", "0"])
    assert good.code == 0 and len(pids(good.output)) == ranks, good.output
    assert space_job(mpi, ranks, [program, "code", "3"]).code == 3


@pytest.mark.skipif(not FULL, reason="takes minutes: URAKATA_TEST_FULL=1")
@pytest.mark.parametrize("name", MPIS)
def test_64_ranks_start_time_and_again(folder: Path, name: str) -> None:
    mpi = named(name)
    program = str(compiled(mpi, "space_end", folder))
    for _ in range(24):
        outcome = space_job(mpi, 64, [program, "code", "0"], seconds=120)
        assert outcome.code == 0 and len(pids(outcome.output)) == 64, outcome.output


def test_what_the_library_needs_is_set_unless_the_user_has_set_it() -> None:
    asked = ["OMPI_MCA_pml", "OMPI_MCA_btl", "PMIX_MCA_gds"]
    outcome = run_job(named("openmpi"), 2, [*SPACE, "printenv", *asked], environment={"OMPI_MCA_btl": "self,sm,tcp"})
    assert outcome.code == 0
    assert [outcome.output.count(value) for value in ("ob1\n", "self,sm,tcp\n", "hash\n")] == [2, 2, 2], outcome.output


@pytest.mark.parametrize("name", MPIS)
def test_collectives_are_right(folder: Path, name: str) -> None:
    mpi = named(name)
    program = [str(compiled(mpi, "random_nbc", folder)), "--cases", "300"]
    passes(space_job(mpi, 4, program, seconds=180))


@pytest.mark.parametrize("ranks", (2, 5))
@pytest.mark.parametrize("name", MPIS)
def test_blocking_collectives_are_right(folder: Path, name: str, ranks: int) -> None:
    """MPICH's own Allgatherv and Gather of derived types fail in some cases, also without Urakata."""
    mpi = named(name)
    derived = ["--no-derived"] if name == "mpich" else []
    program = [str(compiled(mpi, "random_nbc", folder)), "--blocking", *derived, "--seed", drawn_seed()]
    passes(space_job(mpi, ranks, [*program, "--cases", "5000" if FULL else "300"], seconds=600 if FULL else 180))


@pytest.mark.parametrize(("blocking", "algorithm"), (("auto", "shared memory"), ("never", "")))
def test_blocking_collectives_go_directly_unless_switched_off(
    folder: Path, tmp_path: Path, blocking: str, algorithm: str
) -> None:
    """All operations: this seed has each of them."""
    program = [str(compiled(mpi := named("openmpi"), "random_nbc", folder)), "--blocking", "--no-derived"]
    options = ["--report", str(tmp_path), "--set", f"BLOCKING={blocking}"]
    passes(run_job(mpi, 2, [EXEC, "--space", *options, "--", *program, "--seed", "5", "--cases", "150"]))
    report = json.loads((tmp_path / "rank-0.json").read_text())
    rows = {(row["operation"], row["algorithm"]) for row in report["call_sites"]}
    names = "Barrier Bcast Gather Gatherv Scatter Scatterv Allgather Allgatherv Alltoall Alltoallv Alltoallw Reduce"
    names += " Allreduce Reduce_scatter Reduce_scatter_block Scan Exscan"
    assert rows == ({(name, algorithm) for name in names.split()} if algorithm else set()), rows


@pytest.mark.parametrize("name", MPIS)
def test_ranks_share_one_address_space(folder: Path, name: str) -> None:
    """All have the space daemon as their parent, and its memory."""
    with running(named(name), folder, "wait", 3) as (_, tasks):
        parents = {parent(task) for task in tasks}
        assert len(parents) == 1
        maps = {Path(f"/proc/{task}/maps").read_text() for task in (*tasks, *parents)}
        assert len(maps) == 1


@pytest.mark.parametrize("name", MPIS)
def test_a_program_lives_in_a_space_as_anywhere(folder: Path, name: str) -> None:
    outcome = space_job(named(name), 4, [life(folder), "20" if FULL else "3"], seconds=120)
    assert (outcome.code, outcome.output.count("right")) == (0, 4), outcome.output


def test_the_report_names_the_program_and_not_the_daemon(folder: Path, tmp_path: Path) -> None:
    """The place of its calls too, so that their source lines are found."""
    program = [str(compiled(named("mpich"), "random_nbc", folder)), "--cases", "3"]
    passes(run_job(named("mpich"), 2, [*SPACE[:-1], "--report", str(tmp_path), "--", *program]))
    report = json.loads((tmp_path / "rank-0.json").read_text())
    assert report["program"].split() == program
    assert {site["module"] for site in report["call_sites"]} == {program[0]}


def test_two_jobs_at_once(folder: Path) -> None:
    first, second = named("openmpi"), named("mpich")
    with running(first, folder, "wait", 2) as (_, tasks), running(second, folder, "wait", 2) as (_, others):
        assert {parent(task) for task in tasks}.isdisjoint(parent(task) for task in others)


def test_python(tmp_path: Path) -> None:
    """Its script, arguments and environment are those of any program."""
    script = tmp_path / "script.py"
    # One write a rank, so that the lines of two ranks do not mix.
    line = "f'sum {sum(range(10))} {sys.argv[1:]} {\"URAKATA_SPACE_AT\" in os.environ}\\n'.encode()"
    script.write_text(f"import os, sys\nos.write(1, {line})\n")
    outcome = space_job(named("mpich"), 2, [position_independent_python(), str(script), "x"])
    assert outcome.code == 0 and outcome.output.count("sum 45 ['x'] True") == 2, outcome.output


def test_numpy(tmp_path: Path) -> None:
    """Each rank's NumPy, with its threads, works on its own arrays."""
    pytest.importorskip("numpy")
    script = tmp_path / "script.py"
    script.write_text(
        "import os, numpy\nrandom = numpy.random.default_rng(os.getpid())\na = random.random((200, 200))\n"
        "x = random.random(200)\nok = numpy.allclose(numpy.linalg.solve(a, a @ x), x, atol=1e-5)\n"
        "os.write(1, f'solved {ok}\\n'.encode())\n"
    )
    outcome = space_job(named("mpich"), 2, [position_independent_python(), str(script)])
    assert outcome.code == 0 and outcome.output.count("solved True") == 2, outcome.output


def test_a_preloaded_library_of_somebody_else(tmp_path: Path) -> None:
    """It is loaded into every rank, and its functions come first."""
    third = 'const char* gnu_get_libc_version(void) { return "third"; }\n'
    library = compiled_text(tmp_path, "third.so", third, "-shared", "-fPIC")
    program = compiled_text(
        tmp_path,
        "main",
        "#include <gnu/libc-version.h>\n#include <stdio.h>\n"
        "int main(void) { return puts(gnu_get_libc_version()) < 0; }\n",
    )
    outcome = space_job(named("mpich"), 3, [program], environment={"LD_PRELOAD": library})
    assert outcome.code == 0 and outcome.output.count("third") == 3, outcome.output


# What a task inherits


STATE = r"""
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
int main(int count, char** words) {
  struct rlimit files;
  getrlimit(RLIMIT_NOFILE, &files);
  sigset_t blocked;
  sigprocmask(SIG_BLOCK, NULL, &blocked);
  struct sigaction hup;
  sigaction(SIGHUP, NULL, &hup);
  char folder[4096];
  cpu_set_t cpus;
  sched_getaffinity(0, sizeof cpus, &cpus);
  char text[10] = "";
  const long got = read(7, text, 5);
  printf("%s %s mask %o nice %d files %lu usr2 %d hup %d cpus %d read %ld %s in %s", words[0], words[count - 1],
         umask(0), getpriority(PRIO_PROCESS, 0), (unsigned long)files.rlim_cur, sigismember(&blocked, SIGUSR2),
         hup.sa_handler == SIG_IGN, CPU_COUNT(&cpus), got, text, getcwd(folder, sizeof folder));
  return 0;
}
"""


def test_a_task_inherits_what_a_program_inherits(tmp_path: Path) -> None:
    """State, descriptor 7, and argv[0] are the same in a space and out of it."""
    compiled_text(tmp_path, "state", STATE, "-D_GNU_SOURCE")
    (tmp_path / "input").write_text("hello and more")
    before = "umask 027; ulimit -S -n 200; trap '' HUP; exec 7<input; exec nice -n 3 taskset -c 0 "
    outcomes = [
        subprocess.run(
            ["/bin/sh", "-c", before + " ".join([*prefix, "./state", "'last word'"])],
            capture_output=True,
            text=True,
            timeout=60,
            cwd=tmp_path,
            check=True,
        )
        for prefix in ([], SPACE)
    ]
    outside, inside = (outcome.stdout for outcome in outcomes)
    assert inside == outside and "ordinary process" not in outcomes[1].stderr, outcomes[1].stderr
    assert f"nice {os.nice(0) + 3} files 200" in outside and "hup 1 cpus 1 read 5 hello" in outside


def test_origin_is_the_programs_folder(tmp_path: Path) -> None:
    """$ORIGIN in a program's RUNPATH, although /proc/self/exe is the space daemon."""
    (tmp_path / "lib").mkdir()
    compiled_text(tmp_path, "lib/libpart.so", "int part(void) { return 42; }\n", "-shared", "-fPIC")
    main = "int part(void);\nint main(void) { return part(); }\n"
    compiled_text(tmp_path, "main", main, "-Llib", "-lpart", "-Wl,-rpath,$ORIGIN/lib")
    done = subprocess.run([*SPACE, "./main"], capture_output=True, text=True, timeout=60, cwd=tmp_path, check=False)
    assert done.returncode == 42 and "ordinary process" not in done.stderr, done.stderr


# Several nodes


@pytest.mark.parametrize("name", MPIS)
def test_each_node_has_a_space_of_its_own(folder: Path, name: str) -> None:
    """Two ranks on each of two hosts: each shares its space with one other."""
    usable, why = hosts.available()
    if not usable:
        pytest.skip(f"no test hosts here: {why}")
    program = str(compiled(named(name), "space_end", folder))
    with hosts.Hosts(count=2) as made:
        done = made.run(
            [EXEC, "--space", "--set", "VERBOSE=3", "--", program, "code", "0"],
            ranks_per_host=2,
            mpi_name=name,
            timeout=120,
        )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-3000:]
    assert said.count("2 of 4 ranks share this rank's space") == 4, said[-3000:]
