# SPDX-License-Identifier: BSD-3-Clause
"""The measuring programs: built by `./dev build` for the tree's hosts, else compiled with the MPI library's own
mpicc."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from contextlib import suppress
from pathlib import Path

from urakata import paths
from urakata.launcher import Mpi

FLAGS = ["-std=gnu11", "-O2", "-fopenmp", "-pthread"]
_METIS = ("-DURAKATA_METIS", "-lmetis")
_WITH = {"solver": (_METIS, ())}
"""What else a program is built with: what is tried first, and what where that is not installed."""


def _built(mpi: Mpi, name: str) -> Path | None:
    folder = paths.hosts()
    if not folder or not mpi.launcher.resolve().is_relative_to((folder / mpi.family).resolve()):
        return None
    try:
        return paths.program(f"bench/{mpi.family}/{name}")
    except paths.NotFoundError:
        return None


def _source(name: str) -> Path | None:
    tree = paths.source_tree()
    folders = [tree / "bench"] if tree else []
    with suppress(paths.NotFoundError):
        folders.append(paths.prefix() / "share" / "urakata" / "bench")
    candidates = (folder / file for folder in folders for file in (f"{name}/{name}.c", f"{name}.c"))
    return next((one for one in candidates if one.is_file()), None)


def _parts(source: Path) -> tuple[list[Path], Path]:
    """The files of the program whose main file this is, and bench/common/ with the headers of several programs."""
    if source.parent.name == source.stem:
        return sorted(source.parent.glob("*.c")), source.parent.parent / "common"
    return [source], source.parent / "common"


def _compiler(mpi: Mpi) -> Path | None:
    # /usr/bin/mpirun.openmpi belongs to mpicc.openmpi.
    suffix = mpi.launcher.suffix if mpi.launcher.suffix in (".openmpi", ".mpich") else ""
    beside = mpi.launcher.parent / f"mpicc{suffix}"
    return beside if beside.is_file() else None


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "urakata" / "bench"


def _lacks_header(errors: str) -> bool:
    return "mpi.h: No such file" in errors or "'mpi.h' file not found" in errors


def _compile(mpi: Mpi, compiler: Path, source: Path) -> Path:
    sources, common = _parts(source)
    headers = [*sorted(common.glob("*.h")), *sorted(source.parent.glob("*.h"))]
    text = b"".join(part.read_bytes() for part in [*sources, *headers])
    key = hashlib.sha256(text + f"{compiler.resolve()} {mpi.version} {FLAGS}".encode()).hexdigest()[:16]
    program = _cache() / key / source.stem
    if program.is_file():
        return program
    program.parent.mkdir(parents=True, exist_ok=True)
    environment = mpi.environment()
    if mpi.family == "impi":
        environment.setdefault("I_MPI_ROOT", str(compiler.parent.parent))
    # Compiled under another name first: two commands may do this at the same time.
    partial = program.with_name(f"{source.stem}.{os.getpid()}")
    for more in _WITH.get(source.stem, ((),)):
        done = subprocess.run(
            [str(compiler), *FLAGS, f"-I{common}", "-o", str(partial), *map(str, sources), *more, "-lm", "-ldl"],
            capture_output=True,
            text=True,
            env=environment,
            check=False,
        )
        if done.returncode == 0:
            break
    else:
        hint = (
            "\n(install the headers of this MPI, such as Debian's libopenmpi-dev)" if _lacks_header(done.stderr) else ""
        )
        raise paths.NotFoundError(f"{compiler} could not build {source}:\n{done.stderr.strip()}{hint}")
    partial.replace(program)
    return program


def find_program(mpi: Mpi, named: Path | None = None, name: str = "overlap") -> Path:
    """bench/NAME for this MPI library; compiled now where it has to be. Raises NotFoundError with what to do."""
    if named:
        if not os.access(named, os.X_OK):
            raise paths.NotFoundError(f"--program {named}: no such program")
        return named.absolute()
    if built := _built(mpi, name):
        return built
    compiler, source = _compiler(mpi), _source(name)
    if compiler and source and shutil.which("cc"):
        return _compile(mpi, compiler, source)
    missing = "there is no mpicc beside it" if not compiler else f"the source of bench/{name} is not installed"
    raise paths.NotFoundError(
        f"bench/{name} is not built for {mpi.launcher}, and {missing}: build bench/{name} with mpicc -O2 "
        "-fopenmp -Ibench/common and give it by --program"
    )
