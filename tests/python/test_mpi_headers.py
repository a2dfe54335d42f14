# SPDX-License-Identifier: BSD-3-Clause
"""Where the build takes mpi.h from: one of another family, or one that is too old, is passed by."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from urakata import paths

OLD = "#define OMPI_MAJOR_VERSION 4\nint MPI_Init(int*, char***);\n"
NEW = "#define OMPI_MAJOR_VERSION 5\nint MPI_Session_init(void);\n"
MPICH = {"mpi.h": "#define MPICH_NUMVERSION 50000300\n", "mpi_abi.h": "int MPI_Abi_get_version(int*, int*);\n"}
PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(headers LANGUAGES NONE)
include({module})
message(STATUS "found ${{URAKATA_OPENMPI_INCLUDE}} and ${{URAKATA_MPICH_INCLUDE}}")
"""


def tree() -> Path:
    found = paths.source_tree()
    if found is None or not shutil.which("cmake"):
        pytest.skip("this is no source tree, or there is no cmake")
    return found


def folder(path: Path, files: dict[str, str]) -> Path:
    path.mkdir(parents=True)
    for name, text in files.items():
        (path / name).write_text(text)
    return path


def configured(place: Path, **variables: object) -> str:
    """What CMake says where these variables are set, in a project that needs nothing but the headers."""
    source = folder(place / "project", {"CMakeLists.txt": PROJECT.format(module=tree() / "cmake" / "MpiHeaders.cmake")})
    variables = {"URAKATA_HOSTS": place / "hosts", "URAKATA_FETCH_MPI_HEADERS": "OFF", **variables}
    words = [f"-D{name}={value}" for name, value in variables.items()]
    done = subprocess.run(
        ["cmake", "-S", source, "-B", place / "built", *words], capture_output=True, text=True, check=False
    )
    return " ".join((done.stdout + done.stderr).split())


def test_a_header_that_is_too_old_or_of_another_family_is_passed_by(tmp_path: Path) -> None:
    """Debian's Open MPI 4.1 lies there, and MPICH in the place of Open MPI; the one that serves is taken."""
    old, new = folder(tmp_path / "old", {"mpi.h": OLD}), folder(tmp_path / "new", {"mpi.h": NEW})
    mpich = folder(tmp_path / "mpich", MPICH)
    both = f"{old};{mpich};{new}"
    said = configured(tmp_path / "1", URAKATA_OPENMPI_INCLUDE_SYSTEM=both, URAKATA_MPICH_INCLUDE_SYSTEM=both)
    assert f"found {new} and {mpich}" in said
    said = configured(tmp_path / "2", URAKATA_OPENMPI_INCLUDE_SYSTEM=old, URAKATA_OPENMPI_INCLUDE=mpich)
    assert f"{old}: no mpi.h with MPI_Session_init" in said and f"{mpich}: no mpi.h with OMPI_MAJOR_VERSION" in said
    assert "-DURAKATA_FETCH_MPI_HEADERS=ON" in said


@pytest.mark.parametrize("abi", ["OPENMPI", "MPICH", "STANDARD"])
def test_a_header_that_a_variable_puts_first_is_not_taken(tmp_path: Path, abi: str) -> None:
    """Intel MPI's setvars.sh sets CPATH; the header is compiled as the preload library of this ABI is."""
    commands = paths.prefix() / "compile_commands.json"
    if not commands.is_file():
        pytest.skip("this is no build folder")
    entries = (entry for entry in json.loads(commands.read_text()) if "/src/shim/" in entry["file"])
    entry = next((entry for entry in entries if f"-DURAKATA_ABI_{abi} " in entry["command"]), None)
    if entry is None:
        pytest.skip(f"the preload library of {abi} is not built here")
    words = shlex.split(entry["command"])
    words = words[words[0].endswith("ccache") : words.index("-o")]
    names = ("mpi.h", "mpi_proto.h", "mpi_abi.h")
    other = folder(tmp_path / "other", dict.fromkeys(names, '#error "another mpi.h"\n'))
    (tmp_path / "unit.cpp").write_text('#include "shim/native/abi.hpp"\n')
    line = [*words, "-fsyntax-only", tmp_path / "unit.cpp"]
    environment = {**os.environ, "CPATH": str(other), "CPLUS_INCLUDE_PATH": str(other)}
    done = subprocess.run(
        line, env=environment, cwd=entry["directory"], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr
