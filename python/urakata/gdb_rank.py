# SPDX-License-Identifier: BSD-3-Clause
"""Runs inside gdb: of all ranks in the address space, shows only the one that gdb is attached to.

    gdb -p PID -x gdb_rank.py          (what `urakata debug PID` starts)

gdb finds the programs and libraries of all ranks of a space, since they are one address space. A name then stands for
one address in each rank: gdb may print another rank's variable, and would write a breakpoint into all of them, where it
kills the ranks that it is not attached to. So this takes all symbols away and gives back those of the rank's own
program and libraries. The command `urakata-rank` does it again, for libraries opened meanwhile.
"""

from __future__ import annotations

import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass

import gdb

AT_PHDR, AT_PHNUM = 3, 5
PT_LOAD, PT_DYNAMIC, PT_PHDR = 1, 2, 6
DT_DEBUG = 21
HEADER_BYTES = 56
ELF = 0x464C457F  # the first four bytes of every program and library
CHAINED = 2  # r_version from which lists of loaded objects have a successor


def read(address: int, form: str) -> tuple[int, ...]:
    """What lies at the address, as struct.unpack gives it. Raises gdb.MemoryError."""
    memory = gdb.selected_inferior().read_memory(address, struct.calcsize(form))
    return struct.unpack(form, memory.tobytes())


def text(address: int) -> str:
    return str(gdb.Value(address).cast(gdb.lookup_type("char").pointer()).string()) if address else ""


@dataclass(frozen=True)
class Loaded:
    """A program or library: its file and what was added to its addresses."""

    file: str
    base: int

    def holds(self, address: int) -> bool:
        """Whether the address lies in it, as its own headers say."""
        try:
            magic, offset, count = read(self.base, "=I28xQ16xH")
            if magic != ELF:
                return False
            headers = [read(self.base + offset + i * HEADER_BYTES, "=IIQQQQQQ") for i in range(count)]
        except gdb.MemoryError:
            return False
        return address < self.base + max(one[3] + one[6] for one in headers if one[0] == PT_LOAD) and (
            address >= self.base
        )


def daemon_list() -> int:
    """The address of the space daemon's r_debug, where the chain of all lists begins. Raises gdb.GdbError."""
    shown = gdb.execute("info auxv", to_string=True)
    kinds = {
        int(kind): int(value, 0)
        for kind, value in re.findall(r"^(\d+)\s+AT_\w+ .*?(\S+)$", shown, re.M)
        if value[0].isdigit()
    }
    headers = [read(kinds[AT_PHDR] + i * HEADER_BYTES, "=IIQQQQQQ") for i in range(kinds[AT_PHNUM])]
    base = next((kinds[AT_PHDR] - one[3] for one in headers if one[0] == PT_PHDR), 0)
    at = base + next(one[3] for one in headers if one[0] == PT_DYNAMIC)
    while True:
        tag, value = read(at, "QQ")
        if tag == DT_DEBUG:
            return value
        if tag == 0:
            raise gdb.GdbError("the process has no list of loaded objects")
        at += 16


def lists() -> Iterator[list[Loaded]]:
    """The lists of the chain, each with what it holds."""
    at = daemon_list()
    while at:
        version, first = read(at, "i4xQ")
        found = []
        while first:
            base, name, _, following = read(first, "QQQQ")
            found.append(Loaded(text(name), base))
            first = following
        yield found
        (at,) = read(at + 40, "Q") if version >= CHAINED else (0,)


def programs() -> Iterator[list[Loaded]]:
    """Each rank's program and libraries. A list of one, which names the program, stands before the linker's own."""
    named: Loaded | None = None
    for number, one in enumerate(lists()):
        if number == 0:
            continue  # the space daemon's
        if named is not None and one and one[0].base == named.base:
            yield [named, *one[1:]]
            named = None
        else:
            named = one[0] if one else None


def own() -> list[Loaded]:
    """Those of the rank whose code the selected thread runs. Raises gdb.GdbError."""
    everybody = list(programs())
    if not everybody:
        raise gdb.GdbError("this process is no rank of a space")
    frame = gdb.newest_frame()
    while frame is not None:
        for one in everybody:
            if any(loaded.holds(frame.pc()) for loaded in one):
                return one
        frame = frame.older()
    raise gdb.GdbError("the thread is in no rank's code; select another thread, then: urakata-rank")


class Rank(gdb.Command):  # type: ignore[misc]
    """Take only the symbols of the rank that the selected thread belongs to."""

    def __init__(self) -> None:
        super().__init__("urakata-rank", gdb.COMMAND_FILES)

    def invoke(self, _argument: str, _from_tty: bool) -> None:
        program, *libraries = own()
        gdb.execute("set auto-solib-add off")
        gdb.execute("nosharedlibrary")
        gdb.execute("symbol-file")  # the space daemon's
        for one in (program, *libraries):
            if os.path.isfile(one.file):
                gdb.execute(f"add-symbol-file {one.file} -o {one.base:#x}", to_string=True)
        print(f"symbols of {program.file} at {program.base:#x} and of its {len(libraries)} libraries only")


Rank()
gdb.execute("urakata-rank")
