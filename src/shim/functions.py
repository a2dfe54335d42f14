# SPDX-License-Identifier: BSD-3-Clause
"""The functions of MPI that Urakata knows of: the collectives that it may handle, of which generate.py makes the
entry points, and the MPI library's functions that it calls.

Each row of COLLECTIVES: the operation's name in the standard, our operation, the parameters before the communicator in
order, and which forms are generated beside the non-blocking and the persistent one. A parameter is a kind, written as
below; `s` and `r` are the send and the receive side.
"""

from enum import Enum
from typing import NamedTuple

# kind -> (C type in the plain form, C type in the _c form, parameter name, what it sets in a Call)
KINDS = {
    "s": ("const void*", "const void*", "sendbuf", "call.send.address = sendbuf;"),
    "r": ("void*", "void*", "recvbuf", "call.recv.address = recvbuf;"),
    "b": ("void*", "void*", "buffer", "call.recv.address = buffer;"),
    "sc": ("int", "MPI_Count", "sendcount", "call.send.count = sendcount;"),
    "rc": ("int", "MPI_Count", "recvcount", "call.recv.count = recvcount;"),
    "c": ("int", "MPI_Count", "count", "call.send.count = call.recv.count = count;"),
    "scs": ("const int*", "const MPI_Count*", "sendcounts", "call.send.counts = {sendcounts, WIDE};"),
    "rcs": ("const int*", "const MPI_Count*", "recvcounts", "call.recv.counts = {recvcounts, WIDE};"),
    "sds": ("const int*", "const MPI_Aint*", "sdispls", "call.send.displacements = {sdispls, WIDE};"),
    "rds": ("const int*", "const MPI_Aint*", "rdispls", "call.recv.displacements = {rdispls, WIDE};"),
    "st": ("MPI_Datatype", "MPI_Datatype", "sendtype", "call.send.type = sendtype;"),
    "rt": ("MPI_Datatype", "MPI_Datatype", "recvtype", "call.recv.type = recvtype;"),
    # One block, which all neighbours get.
    "sca": ("int", "MPI_Count", "sendcount", "call.send.count = sendcount; call.send.for_all = true;"),
    # Displacements in bytes that are wide in the plain form, too.
    "sbs": ("const MPI_Aint*", "const MPI_Aint*", "sdispls", "call.send.displacements = {sdispls, true};"),
    "rbs": ("const MPI_Aint*", "const MPI_Aint*", "rdispls", "call.recv.displacements = {rdispls, true};"),
    "t": ("MPI_Datatype", "MPI_Datatype", "datatype", "call.send.type = call.recv.type = datatype;"),
    "sts": ("const MPI_Datatype*", "const MPI_Datatype*", "sendtypes", "call.send.types = sendtypes;"),
    "rts": ("const MPI_Datatype*", "const MPI_Datatype*", "recvtypes", "call.recv.types = recvtypes;"),
    "op": ("MPI_Op", "MPI_Op", "op", "call.op = op;"),
    "root": ("int", "int", "root", "call.root = root;"),
}


class Collective(NamedTuple):
    name: str
    operation: str
    parameters: str
    large: bool = True  # has a _c form


COLLECTIVES = [
    Collective("barrier", "barrier", "", large=False),
    Collective("bcast", "bcast", "b c t root"),
    Collective("gather", "gather", "s sc st r rc rt root"),
    Collective("gatherv", "gatherv", "s sc st r rcs rds rt root"),
    Collective("scatter", "scatter", "s sc st r rc rt root"),
    Collective("scatterv", "scatterv", "s scs sds st r rc rt root"),
    Collective("allgather", "allgather", "s sc st r rc rt"),
    Collective("allgatherv", "allgatherv", "s sc st r rcs rds rt"),
    Collective("alltoall", "alltoall", "s sc st r rc rt"),
    Collective("alltoallv", "alltoallv", "s scs sds st r rcs rds rt"),
    Collective("alltoallw", "alltoallv", "s scs sds sts r rcs rds rts"),
    Collective("neighbor_allgather", "neighbor_alltoallv", "s sca st r rc rt"),
    Collective("neighbor_allgatherv", "neighbor_alltoallv", "s sca st r rcs rds rt"),
    Collective("neighbor_alltoall", "neighbor_alltoallv", "s sc st r rc rt"),
    Collective("neighbor_alltoallv", "neighbor_alltoallv", "s scs sds st r rcs rds rt"),
    Collective("neighbor_alltoallw", "neighbor_alltoallv", "s scs sbs sts r rcs rbs rts"),
    Collective("reduce", "reduce", "s r c t op root"),
    Collective("allreduce", "allreduce", "s r c t op"),
    Collective("reduce_scatter", "reduce_scatter", "s r rcs t op"),
    Collective("reduce_scatter_block", "reduce_scatter_block", "s r rc t op"),
    Collective("scan", "scan", "s r c t op"),
    Collective("exscan", "exscan", "s r c t op"),
]


class When(Enum):
    """Where a function of the MPI library is known at all: what the preprocessor asks."""

    ALWAYS = ""
    MPI_4 = "MPI_VERSION >= 4"
    MPI_4_1 = "MPI_VERSION > 4 || (MPI_VERSION == 4 && MPI_SUBVERSION >= 1)"
    STANDARD_ABI = "defined(URAKATA_ABI_STANDARD)"
    OPEN_MPI = "defined(URAKATA_ABI_OPENMPI)"


class Look(Enum):
    """How it is looked for when the MPI library is found."""

    NEED = "it must be there"
    FIND = "nullptr where the MPI library lacks it"
    FIND_X = "likewise, also as MPIX_"


class NativeFunctions(NamedTuple):
    """Functions of the MPI library that Urakata calls, beside those of COLLECTIVES, without MPI_."""

    when: When
    look: Look
    names: str


NATIVE_FUNCTIONS = [
    # The program's own messages and communicators. First: what the entry points of messages jump to lies together.
    NativeFunctions(
        When.ALWAYS,
        Look.NEED,
        """
        Send Recv Ssend Rsend Bsend Issend Irsend Ibsend Send_init Ssend_init Rsend_init Bsend_init
        Recv_init Sendrecv Sendrecv_replace Probe Iprobe Mprobe Improbe Mrecv Imrecv Status_set_elements_x
        Status_set_cancelled Comm_dup_with_info Comm_split Comm_create Comm_create_group Cart_create
        Cart_sub Graph_create Dist_graph_create Dist_graph_create_adjacent Intercomm_merge Topo_test
        Cartdim_get Cart_shift Graph_neighbors_count Graph_neighbors Dist_graph_neighbors_count
        Dist_graph_neighbors
        """,
    ),
    # What Urakata itself needs.
    NativeFunctions(
        When.ALWAYS,
        Look.NEED,
        """
        Init_thread Abort Finalize Finalized Query_thread Get_library_version Wait Waitany Waitall Waitsome
        Test Testany Testall Testsome Request_free Request_get_status Cancel Start Startall Isend Irecv Pack
        Unpack Reduce_local Get_elements_x Comm_dup Comm_free Comm_disconnect Comm_rank Comm_size
        Comm_test_inter Comm_group Comm_call_errhandler Comm_set_errhandler Comm_get_errhandler
        Errhandler_free Comm_get_attr Comm_set_attr Comm_create_keyval Comm_free_keyval Comm_split_type
        Comm_set_info Comm_get_parent Group_translate_ranks Group_free Type_size_x Type_get_extent_x
        Type_get_true_extent_x
        Type_get_envelope Type_get_contents Type_contiguous Type_create_struct Type_indexed Type_dup
        Type_commit Type_free Op_commutative Op_free Info_get
        """,
    ),
    # Large counts.
    NativeFunctions(When.MPI_4, Look.FIND, "Type_get_envelope_c Type_get_contents_c Pack_c Unpack_c Isend_c Irecv_c"),
    # The program's own messages with large counts, and MPI_Isendrecv.
    NativeFunctions(
        When.MPI_4,
        Look.FIND,
        """
        Isendrecv Isendrecv_replace Isendrecv_c Isendrecv_replace_c Send_c Ssend_c Rsend_c Bsend_c Issend_c
        Irsend_c Ibsend_c Send_init_c Ssend_init_c Rsend_init_c Bsend_init_c Recv_c Recv_init_c Sendrecv_c
        Sendrecv_replace_c Mrecv_c Imrecv_c
        """,
    ),
    # Status of several requests.
    NativeFunctions(When.MPI_4_1, Look.FIND, "Request_get_status_any Request_get_status_all Request_get_status_some"),
    # Fortran's integers for requests: functions in Open MPI and Intel MPI, macros or other names elsewhere.
    NativeFunctions(When.STANDARD_ABI, Look.NEED, "Request_toint Request_fromint Message_toint Message_fromint"),
    # The same.
    NativeFunctions(When.OPEN_MPI, Look.NEED, "Request_c2f Request_f2c Message_c2f Message_f2c"),
]
