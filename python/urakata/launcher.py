# SPDX-License-Identifier: BSD-3-Clause
"""MPI libraries: finding one, knowing its family, and the command line that starts a job with it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from urakata import caller_path, paths

FAMILIES = ("openmpi", "mpich", "impi")

# Debian has both families beside those of the source tree, under these names.
_OF_DEBIAN = {"debian-openmpi": "mpirun.openmpi", "debian-mpich": "mpiexec.mpich"}

NAMES = (*FAMILIES, *_OF_DEBIAN)
"""What an MPI may be called; a launcher's path and an MPI's folder serve too."""

# What the MPI library of a family is called.
_SONAMES = {
    "openmpi": ("libmpi.so.40",),
    "mpich": ("libmpi.so.12", "libmpich.so.12"),
    "impi": ("libmpi.so.12",),
}

# How distributions call the launcher of one family where several are installed.
_SYSTEM_LAUNCHERS = {
    "openmpi": ("mpirun.openmpi",),
    "mpich": ("mpiexec.mpich", "mpiexec.hydra"),
    "impi": (),
}


# Where mpirun is found by everybody, and not since a virtual environment or a module was chosen.
_SYSTEM_FOLDERS = (Path("/usr/bin"), Path("/bin"))


@dataclass(frozen=True)
class Mpi:
    """An MPI library: its launcher and which family it belongs to (one of FAMILIES)."""

    launcher: Path
    family: str
    version: str

    def environment(self, space: bool = False) -> dict[str, str]:
        """The caller's environment with what this MPI library's launcher needs added, also for ranks in a space."""
        environment = dict(os.environ)
        if space and self.family == "openmpi":
            # Ranks in a space ask PMIx for this; a launcher that does otherwise crashes in MPI_Comm_spawn.
            environment.setdefault("PMIX_MCA_gds", "hash")
        before = environment[caller_path.VARIABLE] = caller_path.caller_path()
        # Wheels find their own parts (Intel's proxies, Open MPI's daemons) through PATH.
        environment["PATH"] = f"{self.launcher.parent}{os.pathsep}{before}"
        library = self.launcher.parent.parent / "lib"
        if self.family == "impi" and (library / "libfabric.so.1").is_file():  # which the wheel finds no other way
            environment["LD_LIBRARY_PATH"] = os.pathsep.join(
                filter(None, (str(library), environment.get("LD_LIBRARY_PATH")))
            )
        if self.family == "openmpi" and os.geteuid() == 0:
            for tool in ("OMPI", "PRTE"):
                environment[f"{tool}_ALLOW_RUN_AS_ROOT"] = "1"
                environment[f"{tool}_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
        return environment

    def command(self, ranks: int, program: list[str], launcher_arguments: list[str] | None = None) -> list[str]:
        """The command line that starts `program` on `ranks` ranks. More ranks than cores are allowed."""
        command = [str(self.launcher), "-n", str(ranks)]
        if self.family == "openmpi":
            if ranks > usable_cores():
                command += ["--map-by", ":OVERSUBSCRIBE", "--bind-to", "none"]
            command += taken_along([caller_path.VARIABLE])
        return command + (launcher_arguments or []) + program

    def run(
        self, ranks: int, program: list[str], launcher_arguments: list[str], limit: float
    ) -> subprocess.CompletedProcess[str]:
        """Runs `program` on every rank to its end, for `limit` seconds at most. Raises NotFoundError where it does not
        start or end."""
        try:
            return subprocess.run(
                self.command(ranks, program, launcher_arguments),
                env=self.environment(),
                capture_output=True,
                text=True,
                check=False,
                timeout=limit,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise paths.NotFoundError(f"{self.launcher} does not start a program: {error}") from error

    def binding(self, ranks: int) -> list[str]:
        """Arguments that bind as many ranks as there are cores to one each; more are left to the scheduler."""
        return ["--bind-to" if self.family == "openmpi" else "-bind-to", "core"] if ranks <= usable_cores() else []


def libraries(mpi: Mpi) -> list[str]:
    """The library's file: beside the launcher, else as the linker finds it."""
    prefix = mpi.launcher.resolve().parent.parent
    if prefix == Path("/usr"):
        return list(reversed(_SONAMES[mpi.family]))  # Debian's MPICH is libmpich, where libmpi may be anyone's
    folders = [prefix / "lib", prefix / "lib64"]
    beside = [folder / name for folder in folders for name in _SONAMES[mpi.family]]
    return [str(path) for path in beside if path.is_file()] or list(_SONAMES[mpi.family])


def taken_along(more: Iterable[str] = ()) -> list[str]:
    """Arguments for Open MPI, which takes only its own variables along to other nodes: Urakata's and `more`."""
    names = {*more, *(name for name in os.environ if name.startswith("URAKATA_"))}
    return [word for name in sorted(names) for word in ("-x", name)]


def usable_cores() -> int:
    """Cores, not hardware threads, that this process may use: what a launcher counts as slots."""
    cores = set()
    for cpu in os.sched_getaffinity(0):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.add(siblings.read_text() if siblings.is_file() else str(cpu))
    return len(cores)


def with_programs(path: str) -> str:
    """PATH, and after it the folder with urakata-exec, so that a job finds it by name."""
    try:
        return f"{path}{os.pathsep}{paths.prefix() / 'bin'}"
    except paths.NotFoundError:
        return path


def describe(launcher: Path) -> Mpi:
    """Asks a launcher for its version, and so for its family."""
    environment = {**os.environ, "PATH": f"{launcher.parent}{os.pathsep}{caller_path.caller_path()}"}
    try:
        answer = subprocess.run(
            [str(launcher), "--version"],
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            env=environment,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise paths.NotFoundError(f"{launcher} --version did not answer: {error}") from error
    text = answer.stdout + answer.stderr
    for pattern, family in (
        (r"\((?:Open MPI|OpenRTE)\) (\S+)", "openmpi"),
        (r"Intel\(R\) MPI Library.*Version (\S+)", "impi"),
        (r"HYDRA build details:\s*Version:\s*(\S+)", "mpich"),
    ):
        if found := re.search(pattern, text):
            return Mpi(launcher, family, found[1])
    raise paths.NotFoundError(
        f"{launcher} is not a launcher that Urakata knows (Open MPI, MPICH, Intel MPI). "
        "Start it yourself with urakata-exec before the program: LAUNCHER ... urakata-exec -- PROGRAM"
    )


def _launcher_in(folder: Path) -> Path | None:
    for name in ("mpirun", "mpiexec"):
        if (folder / "bin" / name).is_file():
            return folder / "bin" / name
    return None


def _of_tree(family: str) -> Path | None:
    folder = paths.hosts()
    return _launcher_in(folder / family) if folder else None


def _named(family: str) -> Path | None:
    return _of_tree(family) or _of_system(family)


def _of_caller(families: Iterable[str]) -> Mpi | None:
    """The mpirun on PATH, if it is of one of these families."""
    found = shutil.which("mpirun")
    try:
        mpi = describe(Path.cwd() / found) if found else None
    except paths.NotFoundError:
        return None
    return mpi if mpi and mpi.family in families else None


def _of_system(family: str) -> Path | None:
    for name in _SYSTEM_LAUNCHERS[family]:
        if found := shutil.which(name):
            return Path(found)
    if (found := shutil.which("mpirun")) and describe(Path(found)).family == family:
        return Path(found)
    return None


@dataclass(frozen=True)
class Linked:
    """The MPI library that a program is linked with."""

    path: str  # as the linker finds it; "not" where it does not
    families: tuple[str, ...]  # whose launchers can start the program

    def launcher(self) -> Path | None:
        # A distribution's /usr/bin/mpirun may be another family's: only a prefix of its own tells.
        launcher = _launcher_in(Path(self.path).parent.parent) if self.path.startswith("/") else None
        if launcher and launcher.parent != Path("/usr/bin"):
            return launcher
        own = self.path.startswith(("/lib", "/usr/lib"))
        if own and (launcher := _of_system(self.families[0])):
            return launcher
        caller = _of_caller(self.families)
        return caller.launcher if caller else _named(self.families[0])


_FAMILIES_OF = {"libmpi.so.40": ("openmpi",), "libmpi.so.12": ("mpich", "impi"), "libmpich.so.12": ("mpich", "impi")}


def _of_program(program: str) -> Linked | None:
    """None for scripts, for programs that load their MPI late, and the like."""
    path = shutil.which(program)
    if not path:
        return None
    with open(path, "rb") as opened:
        if opened.read(4) != b"\x7fELF":
            return None
    needed = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    library = re.search(r"(lib(?:mpi|mpich|mpi_abi)\.so\.\d+) => (\S+)", needed)
    if not library:
        return None
    return Linked(library[2], _FAMILIES_OF.get(library[1], ("mpich", "impi", "openmpi")))


def refuse_inside_a_job(command: str) -> None:
    """Raises NotFoundError where this process is one of several ranks: each would start a job of its own."""
    for name in ("OMPI_COMM_WORLD_SIZE", "PMI_SIZE"):  # set by mpirun of Open MPI, and by Hydra, MPICH's and Intel's
        size = os.environ.get(name, "")
        if size.isdigit() and int(size) > 1:
            raise paths.NotFoundError(
                f"{command} starts a job by itself, and here each of {size} ranks of a job would start one ({name} is "
                "set). Put urakata-exec in its place: mpirun -n 4 urakata-exec -- ./app"
            )


def find_mpi(wanted: str | None = None, program: str | None = None) -> Mpi:
    """The MPI to use.

    `wanted` is a name (NAMES), a launcher, or the folder that an MPI is installed in. Without it: the MPI that
    `program` is linked with, else the mpirun on PATH, else the source tree's Open MPI. Where both could run it, the
    choice is said. Raises NotFoundError, also where the program is linked with another family's library: each rank
    would be a job of its own.
    """
    linked = _of_program(program) if program else None
    if wanted:
        mpi = _wanted(wanted)
        _tell_other_of_caller(wanted, mpi)
        if linked and mpi.family not in linked.families:
            library = f"{linked.path} ({linked.families[0]})"
            raise paths.NotFoundError(
                f"--mpi {wanted}: {program} is linked with {library}, and under {mpi.launcher} ({mpi.family}) each "
                f"of its ranks would be a job of its own. " + _own_launcher(linked)
            )
        return mpi
    if linked and (launcher := linked.launcher()):
        return describe(launcher)
    of_tree = _of_tree("openmpi")
    if caller := _of_caller(FAMILIES):
        if of_tree and of_tree.resolve() != caller.launcher.resolve():
            print(
                f"urakata: {caller.launcher} ({caller.family} {caller.version}), the first mpirun on PATH, starts the "
                f"job; --mpi {of_tree} takes the source tree's",
                file=sys.stderr,
            )
        return caller
    if launcher := of_tree or _named("openmpi"):
        return describe(launcher)
    if found := shutil.which("mpirun"):
        return describe(Path(found))
    raise paths.NotFoundError("no mpirun was found. In the source tree, run ./dev setup; or say --mpi /path/to/mpirun")


def _own_launcher(linked: Linked) -> str:
    """What to type for a program with this library."""
    launcher = linked.launcher()
    return f"Leave --mpi out, or type --mpi {launcher}" if launcher else "Name the launcher that belongs to it"


def _tell_other_of_caller(wanted: str, mpi: Mpi) -> None:
    """One line where a family's name means the source tree's MPI, while the caller's environment has its own."""
    if wanted not in FAMILIES or mpi.launcher != _of_tree(wanted):
        return
    caller = _of_caller((wanted,))
    if caller is None or caller.launcher.parent in _SYSTEM_FOLDERS:
        return
    if caller.launcher.resolve() != mpi.launcher.resolve():
        print(
            f"urakata: --mpi {wanted} takes the source tree's {mpi.launcher}; --mpi {caller.launcher} takes the one "
            "on PATH",
            file=sys.stderr,
        )


def find_mpi_of_benchmarks(wanted: str | None) -> Mpi:
    """The MPI that is measured: the one wanted, else the source tree's Open MPI, for which the programs are built."""
    if wanted is None and (of_tree := _of_tree("openmpi")):
        return describe(of_tree)
    return find_mpi(wanted)


def _wanted(wanted: str) -> Mpi:
    if wanted in FAMILIES:
        if launcher := _named(wanted):
            return describe(launcher)
        raise paths.NotFoundError(
            f"no {wanted} was found. In the source tree, ./dev setup installs it; "
            "or name a launcher: --mpi /path/to/mpirun"
        )
    if program := _OF_DEBIAN.get(wanted):
        if found := shutil.which(program):
            return describe(Path(found))
        raise paths.NotFoundError(f"{wanted} is not installed: there is no {program} on PATH")
    path = Path(wanted)
    launcher = _launcher_in(path) if path.is_dir() else Path(found) if (found := shutil.which(wanted)) else None
    if launcher:
        return describe(launcher.absolute())
    raise paths.NotFoundError(
        f"--mpi {wanted}: neither one of {', '.join(NAMES)}, nor a launcher, nor a folder with bin/mpirun"
    )
