"""The table of collectives that Urakata may carry; generate.py makes the entry points from it, and the list of the
host's functions for them.

Each row: the operation's name in the standard, our operation, the parameters before the communicator in order, and
which forms are generated beside the non-blocking and the persistent one. A parameter is a kind, written as below; `s`
and `r` are the send and the receive side.
"""

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
    blocking: bool = False  # Urakata may carry the blocking form, too


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
    Collective("neighbor_allgather", "neighbor_alltoallv", "s sca st r rc rt", blocking=True),
    Collective("neighbor_allgatherv", "neighbor_alltoallv", "s sca st r rcs rds rt", blocking=True),
    Collective("neighbor_alltoall", "neighbor_alltoallv", "s sc st r rc rt", blocking=True),
    Collective("neighbor_alltoallv", "neighbor_alltoallv", "s scs sds st r rcs rds rt", blocking=True),
    Collective("neighbor_alltoallw", "neighbor_alltoallv", "s scs sbs sts r rcs rbs rts", blocking=True),
    Collective("reduce", "reduce", "s r c t op root"),
    Collective("allreduce", "allreduce", "s r c t op"),
    Collective("reduce_scatter", "reduce_scatter", "s r rcs t op"),
    Collective("reduce_scatter_block", "reduce_scatter_block", "s r rc t op"),
    Collective("scan", "scan", "s r c t op"),
    Collective("exscan", "exscan", "s r c t op"),
]
