# SPDX-License-Identifier: BSD-3-Clause
"""Writes the entry points of the profile: python3 generate.py ENTRIES FORTRAN HEADER OWN_HEADER COMPILER...

ENTRIES is C++; FORTRAN is the assembly of the entry points for Fortran's routines (fortran.hpp).

HEADER is the MPI library's, OWN_HEADER is urakata.h. COMPILER... is a C compiler with the flags to find both. The
prototypes are read from the preprocessed headers, so the profile knows every function that a program can call.

Functions that only read or write data of this process (LOCAL) get no entry point: timing takes longer than they do.
"""

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

# Functions without an entry point: their names begin so, or (with $) are so.
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
# Functions of urakata.h without an entry point: their whole names.
OWN_LOCAL = re.compile(r"ura_(begin|temp|send|recv|copy|reduce|name|after|halo_name)")
# Functions whose entry points are written by hand, in profile.cpp.
BY_HAND = {"Init", "Init_thread", "Finalize", "Abort"}


# Collectives that the time line numbers (time_line.hpp).
COLLECTIVE = re.compile(
    r"I?(barrier|bcast|(all)?gatherv?|scatterv?|alltoall[vw]?|(all)?reduce|reduce_scatter(_block)?|scan|exscan)",
    re.IGNORECASE,
)
_SENT = "line.sent({dest, tag, comm}, bytes_of(count, datatype), call.began_at());"
_SEND_AT_ONCE = re.compile(r"[BSR]?send", re.IGNORECASE)
# By name without _c: C++ that tells the time line of a successful call. {n}: name of argument n, from 0.
_RECEIVED = "line.received({source, tag, comm}, *status, call.ended_at());"
TOLD = {
    "Recv": _RECEIVED,
    "Mprobe": _RECEIVED,
    "Improbe": f"if (*flag != 0) {_RECEIVED}",
    "Irecv": "line.posted(*request, {source, tag, comm});",
    "Sendrecv": "line.sent({dest, sendtag, comm}, bytes_of(sendcount, sendtype), call.began_at()); "
    "line.received({source, recvtag, comm}, *status, call.ended_at());",
    "Sendrecv_replace": "line.sent({dest, sendtag, comm}, bytes_of(count, datatype), call.began_at()); "
    "line.received({source, recvtag, comm}, *status, call.ended_at());",
    "Isendrecv": "line.sent({dest, sendtag, comm}, bytes_of(sendcount, sendtype), call.began_at()); "
    "line.posted(*request, {source, recvtag, comm});",
    "Isendrecv_replace": "line.sent({dest, sendtag, comm}, bytes_of(count, datatype), call.began_at()); "
    "line.posted(*request, {source, recvtag, comm});",
    "Recv_init": "line.prepared_receive(*request, {source, tag, comm});",
    "Start": "line.started(*{0}, call.began_at());",
    "Startall": "for (int i = 0; i < {0}; ++i) line.started({1}[i], call.began_at());",
}
_ALL = "for (int i = 0; i < {0}; ++i) completion.ended(i, i);"
_SOME = "for (int i = 0; i < *{2}; ++i) completion.ended({3}[i], i);"
# Functions that complete requests: number of requests; arguments with the requests and the statuses, from 0; C++ that
# tells the time line of a successful call.
ENDING = {
    "Wait": ("1", 0, 1, "completion.ended(0, 0);"),
    "Test": ("1", 0, 2, "if (*{1} != 0) completion.ended(0, 0);"),
    "Waitall": ("{0}", 1, 2, _ALL),
    "Testall": ("{0}", 1, 3, f"if (*{{2}} != 0) {_ALL}"),
    "Waitany": ("{0}", 1, 3, "if (*{2} >= 0) completion.ended(*{2}, 0);"),
    "Testany": ("{0}", 1, 4, "if (*{3} != 0 && *{2} >= 0) completion.ended(*{2}, 0);"),
    "Waitsome": ("{0}", 1, 4, _SOME),
    "Testsome": ("{0}", 1, 4, _SOME),
}
# C++ before the call, while the handle is still valid.
FORGOTTEN = {
    "Request_free": "if (request != nullptr) forget(*request);",
    "Comm_free": "forget_members(comm);",
    "Comm_disconnect": "forget_members(comm);",
}
OPTIONAL = {"Isendrecv", "Isendrecv_replace"}  # of MPI 4: a header may lack them
# Functions that test: the C++ condition of a successful call that found nothing complete.
IN_VAIN = {
    **dict.fromkeys(("Test", "Testall", "Testany", "Iprobe", "Improbe", "ura_halo_ready"), "*flag == 0"),
    "Testsome": "*outcount == 0",
    "ura_halo_ready_any": "*neighbour < 0",
}


class Function(NamedTuple):
    name: str  # without MPI_; of urakata.h with ura_
    parameters: list[str]  # as declared

    @property
    def symbol(self) -> str:
        return self.name if self.name.startswith("ura_") else f"MPI_{self.name}"

    @property
    def arguments(self) -> list[str]:
        return [name_of(parameter) for parameter in self.parameters]


def name_of(parameter: str) -> str:
    return re.sub(r"\[\w*\]", "", parameter).split()[-1].lstrip("*")


def functions(header: str, compiler: list[str], prefix: str = "MPI_") -> list[Function]:
    """Functions of the header that return an error code, in the header's order."""
    command = [*compiler, "-E", "-P", "-x", "c", "-include", header, "/dev/null"]
    text = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    text = re.sub(r"__attribute__\s*\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    found = re.findall(rf"\bint\s+({prefix}\w+)\s*\(([^;{{}}]*)\)\s*;", text)
    return [Function(name.removeprefix("MPI_"), split(parameters)) for name, parameters in found]


def split(parameters: str) -> list[str]:
    words = " ".join(parameters.split())
    return [] if words == "void" else [part.strip() for part in words.split(",")]


def payload(function: Function) -> str:
    """A C++ expression for the bytes that a successful call sends, or reads or writes of a file; "": not known.

    The expression may only use arguments that the MPI standard calls significant at the calling rank.
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


def filled(text: str, function: Function) -> str:
    for number, argument in enumerate(function.arguments):
        text = text.replace(f"{{{number}}}", argument)
    return text


def told(function: Function) -> str:
    """C++ that tells the time line more of a successful call than its begin and end; "": nothing more."""
    base = function.name.removesuffix("_c")
    if COLLECTIVE.fullmatch(base):
        return "call.collective(comm);"
    if _SEND_AT_ONCE.fullmatch(base) or _SEND_AT_ONCE.fullmatch(base.removeprefix("I")):
        return _SENT
    if _SEND_AT_ONCE.fullmatch(base.removesuffix("_init")):
        return "line.prepared_send(*request, {dest, tag, comm}, bytes_of(count, datatype));"
    return filled(TOLD.get(base, ""), function)


def before(function: Function) -> list[str]:
    """Lines of C++ for the time line, before the call."""
    name = function.name
    if gone := FORGOTTEN.get(name):
        return [f"  {gone}"]
    if name in ENDING:
        count, handles, statuses, _ = ENDING[name]
        own = function.arguments[statuses]
        ignored = "MPI_STATUSES_IGNORE" if re.search("all|some", name) else "MPI_STATUS_IGNORE"
        return [
            f"  Completion completion(call, {filled(count, function)}, {function.arguments[handles]});",
            f"  {own} = completion.statuses({own}, {ignored});",
        ]
    if "*status" in told(function):
        return ["  MPI_Status own_status;", "  if (call.lined() && status == MPI_STATUS_IGNORE) status = &own_status;"]
    return []


def after(function: Function) -> list[str]:
    """Lines of C++ for the time line, after the call."""
    lines = []
    text = told(function)
    returned = any(re.search(r"\*\s*request$", parameter) for parameter in function.parameters)
    makes = returned and function.name not in (*ENDING, *FORGOTTEN, "Start", "Cancel")
    if makes and "*request" not in text:
        lines.append("  if (code == MPI_SUCCESS) forget(*request);")
    if function.name in ENDING:
        text = filled(ENDING[function.name][3], function)
    elif "line." in text:
        text = f"call.line([&](TimeLine& line) {{ {text} }});"
    if text:
        lines.append(f"  if (call.ended() && call.lined() && code == MPI_SUCCESS) {{ {text} }}")
    if in_vain := IN_VAIN.get(function.name):
        lines.append(f"  if (call.lined() && code == MPI_SUCCESS && {in_vain}) call.in_vain();")
    return lines


def entry(function: Function) -> str:
    name, symbol = function.name, function.symbol
    signature = ", ".join(function.parameters) or "void"
    lines = [
        f"URAKATA_EXPORT int {symbol}({signature}) {{",
        f"  ProfiledCall call(k{name}, caller_in_program(__builtin_return_address(0)));",
        f"  auto* const next = call.next<decltype(&{symbol})>();",
        "  if (next == nullptr) return MPI_ERR_OTHER;",
    ]
    lines += before(function)
    lines.append(f"  const int code = next({', '.join(function.arguments)});")
    if expression := payload(function):
        lines.append(f"  if (call.ended() && code == MPI_SUCCESS) call.moved({expression});")
    lines += after(function)
    lines += ["  return code;", "}"]
    if symbol.startswith("MPI_"):
        lines.append(
            f'extern "C" int P{symbol}({signature}) __attribute__((alias("{symbol}"), visibility("default")));'
        )
    return "\n".join(lines) + "\n\n"


def fortran_routines(function: Function) -> list[str]:
    """Names, as gfortran has them, of the routines for mpif.h, `use mpi`, and `use mpi_f08` (Open MPI, MPICH)."""
    name = function.name.lower()
    return [f"mpi_{name}_", f"mpi_{name}_f08_", f"mpi_{name}_f08ts_"]


def main() -> None:
    target, fortran, header, own_header, *compiler = sys.argv[1:]
    known = [function for function in functions(header, compiler) if not LOCAL.match(function.name)]
    wrapped = [function for function in known if function.name not in BY_HAND]
    own = [one for one in functions(own_header, compiler, "ura_") if not OWN_LOCAL.fullmatch(one.name)]
    names = [function.name for function in wrapped]
    if missing := (TOLD.keys() | FORGOTTEN.keys() | ENDING.keys()) - OPTIONAL - set(names):
        sys.exit(f"generate.py: {header} lacks {', '.join(sorted(missing))}")
    if "ura_start" not in {function.name for function in own}:
        sys.exit(f"generate.py: no ura_start was found in {own_header}; how does it declare it?")
    if len(names) < 150 or "Allreduce" not in names:
        sys.exit(f"generate.py: only {len(names)} functions were found in {header}; how does it declare them?")
    text = '// Generated by generate.py from the MPI\'s header.\n#include "profile/call_completion.hpp"\n'
    text += '#include "profile/fortran.hpp"\n#include "urakata.h"\n\n'
    text += "namespace urakata::profile {\nnamespace {\n"
    text += "".join(f'constinit Function k{name}{{"{name}"}};\n' for name in [*names, *(one.name for one in own)])
    text += "\n}  // namespace\n}  // namespace urakata::profile\n\n"
    text += "using namespace urakata::profile;\nusing urakata::observe::CallProfile;\n\n"
    routines = [routine for function in wrapped for routine in fortran_routines(function)]
    text += "FortranRoutine urakata::profile::fortran_routines[] = {\n"
    text += "".join(f'    {{"{routine}"}},\n' for routine in routines) + "};\n\n"
    Path(target).write_text(text + "".join(entry(function) for function in wrapped + own))
    stubs = "".join(f"\tfortran_entry {routine}, {number}\n" for number, routine in enumerate(routines))
    end = '\n\t.section .note.GNU-stack, "", %progbits\n'
    Path(fortran).write_text('// Generated by generate.py.\n#include "profile/fortran_entry.inc"\n\n' + stubs + end)


if __name__ == "__main__":
    main()
