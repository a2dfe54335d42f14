"""Writes the entry points of the profile: python3 generate.py ENTRIES FORTRAN HEADER COMPILER...

ENTRIES is C++; FORTRAN is the assembly of those for Fortran's routines (fortran.hpp).

HEADER is the MPI's; COMPILER... a C compiler with the flags under which it finds it. What it makes of the header is
read for the functions' prototypes, so the profile knows every function that a program compiled with it can call.

Left out is what only reads or writes what the process has at hand (LOCAL), of which timing would be most of the time.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

# Names begin with these, or are these.
LOCAL = re.compile(
    r"""(Abi|Add_error|Aint|Attr|Errhandler|Error|Get|Group|Grequest|Info|Keyval|Op|Remove_error|Status|T|Type)_
    (?!accumulate)
    |Comm_(call|compare|create_err|create_key|delete_attr|free_key|get|group|rank|remote|set|size|test_inter)
    |File_(call|create_err|get|set_atomicity|set_err)
    |Win_(call|create_err|create_key|delete_attr|free_key|get|set|shared_query)
    |Session_(call|create_err|get|set)
    |Cart_(coords|get|map|rank|shift)|Cartdim_get|Dims_create|Dist_graph_neighbors|Graph_(get|map|neighbors)|Graphdims_get
    |(Address|Alloc_mem|Finalized|Free_mem|Initialized|Is_thread_main|Pack_size|Pack_external_size|Pcontrol|Query_thread
    |Register_datarep|Topo_test|Test_cancelled)(_c)?$
    |\w*_(c2f|f2c|f2c08|c2f08|f082c|f082f|f2f08|toint|fromint)$
    """,
    re.VERBOSE,
)
# Written by hand, in profile.cpp.
BY_HAND = {"Init", "Init_thread", "Finalize", "Abort"}


class Function(NamedTuple):
    name: str  # without MPI_
    parameters: list[str]  # as declared

    @property
    def arguments(self) -> list[str]:
        return [name_of(parameter) for parameter in self.parameters]


def name_of(parameter: str) -> str:
    return re.sub(r"\[\w*\]", "", parameter).split()[-1].lstrip("*")


def functions(header: str, compiler: list[str]) -> list[Function]:
    """Those that return a code, in the order of the header."""
    command = [*compiler, "-E", "-P", "-x", "c", "-include", header, "/dev/null"]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    found = re.findall(r"\bint\s+MPI_(\w+)\s*\(([^;{}]*)\)\s*;", text)
    return [Function(name, split(parameters)) for name, parameters in found]


def split(parameters: str) -> list[str]:
    words = " ".join(parameters.split())
    return [] if words == "void" else [part.strip() for part in words.split(",")]


def payload(function: Function) -> str:
    """An expression for what a call that has succeeded sends, or reads or writes of a file, in bytes; "": not known.

    Only what the standard has significant in that call may be looked at.
    """
    name, names = function.name, function.arguments
    base = name.removesuffix("_c")
    if re.match(r"(I?(m?recv|neighbor)|R?get_accumulate|(un)?pack|reduce_local|win_)|.*_init$", base, re.IGNORECASE):
        return ""
    scalar = {name_of(parameter) for parameter in function.parameters if not re.search(r"[*\[]", parameter)}
    conditions, in_place = [], ""
    if base.lower().lstrip("i") in ("scatter", "scatterv"):  # the root's own block stays where it is
        count, of_type, in_place = "recvcount", "recvtype", "recvbuf == MPI_IN_PLACE ? 0 : "
    elif "sendtype" in names:
        count, of_type = "sendcount", "sendtype"
        if "gather" in base.lower() and "root" in names:
            in_place = "sendbuf == MPI_IN_PLACE ? 0 : "
        elif "sendbuf" in names and "dest" not in names:
            own = "bytes_of(recvcount, recvtype)" if {"recvcount", "recvtype"} <= scalar else "CallProfile::kNotKnown"
            in_place = f"sendbuf == MPI_IN_PLACE ? {own} : "
    elif "origin_datatype" in names:
        count, of_type = "origin_count", "origin_datatype"
    else:
        count, of_type = ("recvcount" if "recvcount" in scalar else "count"), "datatype"
    if count not in scalar or of_type not in scalar:
        return ""
    conditions += [f"{peer} == MPI_PROC_NULL" for peer in ("dest", "target_rank") if peer in names]
    if "root" in names:
        conditions.append("root < 0")  # MPI_ROOT, MPI_PROC_NULL
    expression = f"{in_place}bytes_of({count}, {of_type})"
    if re.fullmatch(r"I?(alltoall|reduce_scatter_block)", base, re.IGNORECASE):
        expression = f"ranks_of(comm) * ({expression})"
    return f"{' || '.join(conditions)} ? 0 : {expression}" if conditions else expression


def entry(function: Function) -> str:
    name = function.name
    signature = ", ".join(function.parameters) or "void"
    lines = [
        f"URAKATA_EXPORT int MPI_{name}({signature}) {{",
        f"  ProfiledCall call(k{name}, caller_in_program(__builtin_return_address(0)));",
        f"  auto* const next = call.next<decltype(&MPI_{name})>();",
        "  if (next == nullptr) return MPI_ERR_OTHER;",
        f"  const int code = next({', '.join(function.arguments)});",
    ]
    if expression := payload(function):
        lines.append(f"  if (call.ended() && code == MPI_SUCCESS) call.moved({expression});")
    lines += [
        "  return code;",
        "}",
        f'extern "C" int PMPI_{name}({signature}) __attribute__((alias("MPI_{name}"), visibility("default")));',
    ]
    return "\n".join(lines) + "\n\n"


def fortran_routines(function: Function) -> list[str]:
    """Those of mpif.h and `use mpi`, and of `use mpi_f08` as Open MPI and MPICH call them; named as gfortran does."""
    name = function.name.lower()
    return [f"mpi_{name}_", f"mpi_{name}_f08_", f"mpi_{name}_f08ts_"]


def main() -> None:
    target, fortran, header, *compiler = sys.argv[1:]
    known = [function for function in functions(header, compiler) if not LOCAL.match(function.name)]
    wrapped = [function for function in known if function.name not in BY_HAND]
    names = [function.name for function in wrapped]
    if len(names) < 150 or "Allreduce" not in names:
        sys.exit(f"generate.py: only {len(names)} functions were found in {header}; how does it declare them?")
    text = '// Generated by generate.py from the MPI\'s header.\n#include "profile/profiled_call.hpp"\n'
    text += '#include "profile/fortran.hpp"\n\n'
    text += "namespace urakata::profile {\nnamespace {\n"
    text += "".join(f'constinit Function k{name}{{"{name}"}};\n' for name in names)
    text += "\n}  // namespace\n}  // namespace urakata::profile\n\n"
    text += "using namespace urakata::profile;\nusing urakata::observe::CallProfile;\n\n"
    routines = [routine for function in wrapped for routine in fortran_routines(function)]
    text += "FortranRoutine urakata::profile::fortran_routines[] = {\n"
    text += "".join(f'    {{"{routine}"}},\n' for routine in routines) + "};\n\n"
    Path(target).write_text(text + "".join(entry(function) for function in wrapped))
    stubs = "".join(f"\tfortran_entry {routine}, {number}\n" for number, routine in enumerate(routines))
    end = '\n\t.section .note.GNU-stack, "", %progbits\n'
    Path(fortran).write_text('// Generated by generate.py.\n#include "profile/fortran_entry.inc"\n\n' + stubs + end)


if __name__ == "__main__":
    main()
