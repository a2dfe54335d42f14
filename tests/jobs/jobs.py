# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries, programs compiled with them, and jobs with and without Urakata, for the tests in this folder."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import shutil
import signal
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from urakata import paths

PROGRAMS = Path(__file__).resolve().parents[1] / "programs"
FULL = os.environ.get("URAKATA_TEST_FULL") == "1"
# Without these Open MPI's launchers start nothing for root.
AS_ROOT = {f"{tool}_ALLOW_RUN_AS_ROOT{word}": "1" for tool in ("OMPI", "PRTE") for word in ("", "_CONFIRM")}
# The engine None is the MPI library alone: it shows that the program itself is right.
ENGINES = (None, "poll", "thread")


def cases(short: int, full: int, name: str, ranks: int) -> str:
    """How many random cases a test has of its kind on that MPI library: with --full all of them where four ranks are on
    one of those that every machine has, elsewhere a tenth. All of them everywhere would take days on a few cores."""
    whole = ranks == 4 and name in ("openmpi", "mpich")
    return str((full if whole else full // 10) if FULL else short)


def drawn_seed() -> str:
    """The seed of a random test: URAKATA_TEST_SEED, else another in each run. It is printed, so a failure shows it."""
    seed = os.environ.get("URAKATA_TEST_SEED") or str(random.SystemRandom().randrange(1 << 31))
    print(f"URAKATA_TEST_SEED={seed}")
    return seed


@dataclass(frozen=True)
class Mpi:
    """An MPI library: how to compile for it and how to start a job."""

    name: str
    family: str
    launcher: str
    compiler: str
    fortran77: str | None = None
    fortran: str | None = None
    environment: dict[str, str] = field(default_factory=dict, compare=False, hash=False)

    def launch(self, ranks: int) -> list[str]:
        oversubscribe = ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"] if self.family == "openmpi" else []
        return [self.launcher, *oversubscribe, "-n", str(ranks)]


def _wheels() -> list[Mpi]:
    folder = paths.hosts()
    found = []
    for family in ("openmpi", "mpich", "impi"):
        binaries = folder / family / "bin" if folder else None
        if binaries is None or not (binaries / "mpicc").is_file():
            continue
        environment = {"PATH": f"{binaries}{os.pathsep}{os.environ.get('PATH', os.defpath)}"}
        if family == "impi":
            environment["I_MPI_ROOT"] = str(folder / family)  # where its wrappers look for mpi.h
        found.append(Mpi(family, family, str(binaries / "mpirun"), str(binaries / "mpicc"), environment=environment))
        if (binaries / "mpicc_abi").is_file():
            found.append(
                Mpi("mpich-abi", family, str(binaries / "mpirun"), str(binaries / "mpicc_abi"), environment=environment)
            )
    return found


def compiles(compiler: str) -> bool:
    """Is that wrapper there, and with it mpi.h? Debian's openmpi-bin has the one without the other."""
    if shutil.which(compiler) is None:
        return False
    read = [compiler, "-E", "-x", "c", "-include", "mpi.h", os.devnull]
    return subprocess.run(read, capture_output=True, check=False, timeout=60).returncode == 0


def _distribution() -> list[Mpi]:
    found = []
    for family, launcher in (("openmpi", "mpirun.openmpi"), ("mpich", "mpiexec.mpich")):
        if shutil.which(launcher) and compiles(f"mpicc.{family}"):
            fortran77, fortran = (shutil.which(f"{name}.{family}") for name in ("mpif77", "mpif90"))
            found.append(Mpi(f"system-{family}", family, launcher, f"mpicc.{family}", fortran77, fortran))
    return found


MPIS = {mpi.name: mpi for mpi in _wheels() + _distribution()}
MPI_NAMES = ("openmpi", "mpich", "mpich-abi", "impi", "system-openmpi", "system-mpich")
# For tests that take long. What they test does not depend on the binary interface, so but for --full two will do.
LONG_TEST_NAMES = MPI_NAMES if FULL else ("openmpi", "mpich")


def named(name: str) -> Mpi:
    """The MPI library of that name; skips the test where it is not installed, unless it must be (REQUIRED_HOSTS)."""
    if name not in MPIS and name in os.environ.get("REQUIRED_HOSTS", "").split():
        pytest.fail(f"{name} is not installed, and no test may be skipped for that: ./dev setup")
    if name not in MPIS:
        pytest.skip(f"{name} is not installed here (./dev setup; Debian's libopenmpi-dev and libmpich-dev)")
    return MPIS[name]


def source_of(name: str) -> Path:
    """tests/programs/SUBJECT/NAME, whatever its subject: a file, or the folder of a program of several files."""
    (found,) = PROGRAMS.glob(f"*/{name}")
    return found


def c_files(name: str) -> list[str]:
    """What a C program of tests/programs is compiled from, and with: its files, and where the shared headers are."""
    shared = ["-iquote", str(PROGRAMS / "common")]  # not by -I: the C library has a features.h, too
    if any(PROGRAMS.glob(f"*/{name}")):
        return [*shared, *sorted(map(str, source_of(name).glob("*.c")))]
    return [*shared, str(source_of(f"{name}.c"))]


def compiled_outside(mpi: Mpi, name: str, folder: Path) -> Path:
    """The program NAME in C as a program that cannot live in a space, since it is not position-independent."""
    target = folder / f"{name}.outside.{mpi.name}"
    if target.exists():
        return target
    flags = ["-std=c11", "-D_DEFAULT_SOURCE", "-O1", "-g", "-pthread", "-fno-pie", "-no-pie"]
    flags.append(f"-I{PROGRAMS.parents[1] / 'include'}")
    return _run_compiler([mpi.compiler, *flags, *c_files(name)], target, mpi)


def compiled_extension(mpi: Mpi, name: str, folder: Path) -> Path:
    """The program NAME.c as a module NAME of this Python."""
    include = sysconfig.get_paths()["include"]
    if not (Path(include) / "Python.h").is_file():
        pytest.skip("no Python.h (Debian's python3-dev)")
    flags = ["-std=c11", "-D_DEFAULT_SOURCE", "-O1", "-g", "-pthread", "-shared", "-fPIC", f"-I{include}"]
    return _run_compiler([mpi.compiler, *flags, *c_files(name)], folder / f"{name}.so", mpi)


def _run_compiler(command: list[str], target: Path, mpi: Mpi) -> Path:
    made = subprocess.run(
        [*command, "-o", str(target)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **mpi.environment},
    )
    assert made.returncode == 0, made.stderr
    return target


def compiled(mpi: Mpi, name: str, folder: Path) -> Path:
    """The program NAME (a folder of C files, NAME.c, NAME.f or NAME.f90) compiled with the MPI library's wrapper."""
    target = folder / f"{name}.{mpi.name}"
    if target.exists():
        return target
    if any(PROGRAMS.glob(f"*/{name}.f")):
        if mpi.fortran77 is None:
            pytest.skip(f"{mpi.name} has no Fortran here (Debian's gfortran with libopenmpi-dev or libmpich-dev)")
        return _run_compiler([mpi.fortran77, "-g", "-std=legacy", str(source_of(f"{name}.f"))], target, mpi)
    if any(PROGRAMS.glob(f"*/{name}.f90")):
        if mpi.fortran is None:
            pytest.skip(f"{mpi.name} has no Fortran here (Debian's gfortran with libopenmpi-dev or libmpich-dev)")
        persistent = ["-DPERSISTENT"] if mpi.family == "mpich" else []
        return _run_compiler([mpi.fortran, "-g", "-cpp", *persistent, str(source_of(f"{name}.f90"))], target, mpi)
    flags = ["-std=c11", "-D_DEFAULT_SOURCE", "-O1", "-g", "-pthread", f"-I{PROGRAMS.parents[1] / 'include'}"]
    if mpi.fortran is not None:
        flags.append("-DFORTRAN")
    return _run_compiler([mpi.compiler, *flags, *c_files(name)], target, mpi)


def compiled_example(mpi: Mpi, name: str, folder: Path, words: Sequence[str] = ()) -> Path:
    """examples/NAME.c compiled with the MPI library's wrapper and urakata.h, and with what else the compiler is
    told."""
    target = folder / f"{name}.{mpi.name}"
    if target.exists():
        return target
    tree = PROGRAMS.parents[1]
    flags = ["-std=c11", "-O1", "-g", f"-I{tree / 'include'}"]
    return _run_compiler([mpi.compiler, *flags, str(tree / "examples" / f"{name}.c"), *words], target, mpi)


def compiled_library(mpi: Mpi, source: str, folder: Path) -> Path:
    """A C text compiled to a library that stands in front of the MPI library's."""
    name = hashlib.sha256(source.encode()).hexdigest()[:10]
    file, target = folder / f"{name}.c", folder / f"{name}.{mpi.name}.so"
    if target.exists():
        return target
    file.write_text(source)
    return _run_compiler([mpi.compiler, "-std=c11", "-O1", "-shared", "-fPIC", str(file)], target, mpi)


@dataclass
class Outcome:
    code: int | None  # None: it did not end in time and was killed
    output: str


def under(engine: str | None, command: list[str]) -> list[str]:
    """The command as one rank is to be started: alone, or under urakata-exec. Engine `thread` with its progress
    thread, although all ranks are on one node."""
    if engine is None:
        return command
    options = ["--engine", engine, *(["--placement", "shared"] if engine == "thread" else [])]
    return [str(paths.program("urakata-exec")), *options, "--", *command]


@contextlib.contextmanager
def temporary_files() -> Iterator[dict[str, str]]:
    """Variables that give a job a folder of its own for these, which goes with it.

    A launcher that was killed leaves files that another one of the same pid stumbles over ("The PMIx server's listener
    thread failed to start").
    """
    with tempfile.TemporaryDirectory(prefix="job-", ignore_cleanup_errors=True) as folder:
        yield {"TMPDIR": folder}


def run_job(
    mpi: Mpi,
    ranks: int,
    command: list[str],
    engine: str | None = None,
    seconds: float = 60,
    environment: dict[str, str] | None = None,
    directory: Path | None = None,
) -> Outcome:
    """Runs a job to its end, or kills the whole of it after `seconds`."""
    variables = {name: value for name, value in os.environ.items() if not name.startswith("URAKATA_")}
    variables |= mpi.environment | AS_ROOT
    # MPICH's blocking collectives on types of many pieces fail with more pieces than process_vm_readv takes.
    variables["MPIR_CVAR_CH4_CMA_ENABLE"] = "0"
    variables |= environment or {}
    with temporary_files() as files:
        return _run([*mpi.launch(ranks), *under(engine, command)], {**variables, **files}, directory, seconds)


def _run(command: list[str], environment: dict[str, str], directory: Path | None, seconds: float) -> Outcome:
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env=environment,
        cwd=directory,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=seconds)
        return Outcome(process.returncode, output)
    except subprocess.TimeoutExpired:
        process.terminate()  # a launcher that is asked takes its ranks along
        try:
            output, _ = process.communicate(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
        return Outcome(None, output)


def passes(outcome: Outcome) -> None:
    """Asserts that the job ended well; 77 means that the program itself found that the MPI library cannot do it."""
    if outcome.code == 77:
        pytest.skip("the MPI library does not offer what this program needs")
    what = "did not end in time" if outcome.code is None else f"ended with {outcome.code}"
    assert outcome.code == 0, f"the job {what}:\n{outcome.output[-4000:]}"


def cache(*words: str) -> Path:
    """A folder below the build for things that are dear to make; named after what they are made from."""
    tree = paths.source_tree()
    root = tree / "build" if tree else Path.home() / ".cache" / "urakata"
    folder = root / "tests" / f"{words[0]}-{hashlib.sha256(' '.join(words).encode()).hexdigest()[:10]}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
