# SPDX-License-Identifier: BSD-3-Clause
"""Which libraries of a program urakata-exec takes for MPI tools and preloads in front of Urakata's own.

No MPI is needed: an empty library with the name of Open MPI's stands for it.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from test_exec import run

from urakata import paths

if not (paths.preload_libraries() / "liburakata-openmpi.so").is_file():
    pytest.skip("liburakata-openmpi.so is not built", allow_module_level=True)

TOOL = "int MPI_Init(int *c, char ***v) { (void)c, (void)v; return 0; }\n"
# Shows what is loaded, in the linker's order, and what a child would be given, and ends with 7.
MAIN = """
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
static int show(struct dl_phdr_info *one, size_t size, void *data) { return puts(one->dlpi_name) < 0; }
int main(void) {
  const char *list = getenv("LD_PRELOAD");
  puts(list == NULL ? "none" : list);
  dl_iterate_phdr(show, NULL);
  return 7;
}
"""
OURS = "liburakata-openmpi.so"


class Folder:
    """Compiles libraries and a program, which need each other in a given order, whatever they use of each other."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.library("libmpi.so.40", "")

    def _compile(self, name: str, text: str, words: list[str], needs: tuple[str, ...]) -> str:
        target = self.folder / name
        target.parent.mkdir(exist_ok=True)
        source = target.with_suffix(".c")
        source.write_text(text)
        needed = [str(self.folder / need) for need in needs]
        command = ["cc", *words, str(source), "-o", str(target), "-Wl,--no-as-needed", "-Wl,--allow-shlib-undefined"]
        subprocess.run([*command, *needed], check=True, timeout=60)
        return str(target)

    def library(self, name: str, text: str, *needs: str, flags: tuple[str, ...] = ()) -> str:
        words = ["-shared", "-fPIC", f"-Wl,-soname,{Path(name).name}", *flags]
        return self._compile(name, text, words, needs)

    def program(self, *needs: str, folders: str = "") -> str:
        return self._compile("program", MAIN, [f"-Wl,--enable-new-dtags,-rpath,{folders or self.folder}"], needs)


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


def in_front(program: str, **environment: str) -> tuple[list[str], list[str], str]:
    """What stands in front of the MPI library, of the program's folder and of Urakata's; the warnings; and what a child
    would be given."""
    answer = run(program, **environment)
    assert answer.returncode == 7, answer.stderr
    child, *loaded = answer.stdout.splitlines()
    names = [os.path.basename(path) for path in loaded if str(Path(program).parent) in path or path.endswith(OURS)]
    # These programs never come to MPI, which is told at their end.
    told = [line for line in answer.stderr.splitlines() if "without a call of MPI_Init" not in line]
    return names[: names.index("libmpi.so.40")], told, child


def test_tools_come_in_the_order_of_look_up_and_only_those_in_front_of_the_mpi(folder: Folder) -> None:
    """Breadth first, as the linker looks. A tool behind the MPI library sees nothing without Urakata either."""
    folder.library("libdeep.so", TOOL, "libmpi.so.40")
    folder.library("libsolver.so", "", "libdeep.so", "libmpi.so.40")
    folder.library("libfirst.so", TOOL, "libmpi.so.40")
    folder.library(
        "libnone.so", "int MPI_my_own(void) { return 0; }\nstatic int MPI_Wait(void) { return MPI_my_own(); }\n"
    )
    folder.library("libmpifort.so.40", TOOL)
    folder.library("libbehind.so", TOOL)
    # The program needs no MPI itself: after its own needs those of libsolver.so come, and with them the MPI library.
    program = folder.program("libsolver.so", "libfirst.so", "libnone.so", "libmpifort.so.40")
    where = str(folder.folder)
    assert in_front(program, LD_LIBRARY_PATH=where) == (
        ["libfirst.so", "libdeep.so", OURS, "libsolver.so", "libnone.so", "libmpifort.so.40"],
        [],
        "none",
    )
    program = folder.program("libfirst.so", "libsolver.so", "libmpi.so.40", "libbehind.so")
    assert in_front(program, LD_LIBRARY_PATH=where) == (["libfirst.so", OURS, "libsolver.so"], [], "none")


def test_a_tool_that_the_user_preloads_stays_where_it_is(folder: Folder) -> None:
    """It is handed on to children, as without Urakata; a tool behind it in the program's needs is not."""
    first = folder.library("libfirst.so", TOOL, "libmpi.so.40")
    folder.library("libsecond.so", TOOL, "libmpi.so.40")
    program = folder.program("libfirst.so", "libsecond.so", "libmpi.so.40")
    assert in_front(program, LD_PRELOAD=first) == (["libfirst.so", "libsecond.so", OURS], [], first)


def test_a_preloaded_tool_brings_the_mpi_to_a_program_that_is_not_linked_to_one(folder: Folder) -> None:
    tool = folder.library("libtool.so", TOOL, "libmpi.so.40")
    program = folder.program()
    where = str(folder.folder)
    assert in_front(program, LD_PRELOAD=tool, LD_LIBRARY_PATH=where) == (["libtool.so", OURS], [], tool)


def test_urakata_stands_in_front_of_an_mpi_library_that_the_user_preloads(folder: Folder) -> None:
    """A tool that is preloaded before it stays in front; one that the program is linked to is behind it in any case."""
    first = folder.library("libfirst.so", TOOL, "libmpi.so.40")
    folder.library("libsecond.so", TOOL, "libmpi.so.40")
    list_of_two = f"{first}:{folder.folder}/libmpi.so.40"
    for program in (folder.program(), folder.program("libsecond.so", "libmpi.so.40")):
        assert in_front(program, LD_PRELOAD=list_of_two) == (["libfirst.so", OURS], [], list_of_two)


def test_a_path_that_cannot_be_preloaded_is_told(folder: Folder) -> None:
    tool = folder.library("with blank/libtool.so", TOOL, "libmpi.so.40")
    program = folder.program(
        "with blank/libtool.so", "libmpi.so.40", folders=f"{folder.folder}/with blank:{folder.folder}"
    )
    names, told, _ = in_front(program)
    assert names == [OURS, "libtool.so"] and len(told) == 1
    assert f"the MPI tool {tool}, which {program} is linked to, sees no call" in told[0]
    assert "blank or colon" in told[0]


def test_a_tool_whose_own_needs_would_be_lost_is_told(folder: Folder) -> None:
    """libsolver.so has an RPATH, by which libtool.so finds libpart.so; preloaded, libtool.so would not."""
    folder.library("apart/libpart.so", "")
    folder.library("apart/libtool.so", TOOL, "apart/libpart.so", "libmpi.so.40")
    old = ("-Wl,--disable-new-dtags", f"-Wl,-rpath,{folder.folder}/apart")
    folder.library("libsolver.so", "", "apart/libtool.so", flags=old)
    program = folder.program("libsolver.so", folders=str(folder.folder))
    names, told, _ = in_front(program, LD_LIBRARY_PATH=str(folder.folder))
    assert names == [OURS, "libsolver.so", "libtool.so", "libpart.so"] and len(told) == 1
    assert f"found only by the RPATH of {folder.folder}/libsolver.so" in told[0]
    with_path = f"{folder.folder}:{folder.folder}/apart"
    order = ["libtool.so", OURS, "libsolver.so", "libpart.so"]
    assert in_front(program, LD_LIBRARY_PATH=with_path) == (order, [], "none")
