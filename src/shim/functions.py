"""The table of collectives that Urakata may carry; generate.py makes the entry points from it, and the list of the
host's functions for them.

Each row: the operation's name in the standard, our operation, and the parameters between the communicator and its
neighbours in order. A parameter is a kind, written as below; `s` and `r` are the send and the receive side.
"""

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

# name, operation, parameters, has a _c form
COLLECTIVES = [
    ("barrier", "barrier", "", False),
    ("bcast", "bcast", "b c t root", True),
    ("gather", "gather", "s sc st r rc rt root", True),
    ("gatherv", "gatherv", "s sc st r rcs rds rt root", True),
    ("scatter", "scatter", "s sc st r rc rt root", True),
    ("scatterv", "scatterv", "s scs sds st r rc rt root", True),
    ("allgather", "allgather", "s sc st r rc rt", True),
    ("allgatherv", "allgatherv", "s sc st r rcs rds rt", True),
    ("alltoall", "alltoall", "s sc st r rc rt", True),
    ("alltoallv", "alltoallv", "s scs sds st r rcs rds rt", True),
    ("alltoallw", "alltoallv", "s scs sds sts r rcs rds rts", True),
    ("neighbor_allgather", "neighbor_alltoallv", "s sca st r rc rt", True),
    ("neighbor_allgatherv", "neighbor_alltoallv", "s sca st r rcs rds rt", True),
    ("neighbor_alltoall", "neighbor_alltoallv", "s sc st r rc rt", True),
    ("neighbor_alltoallv", "neighbor_alltoallv", "s scs sds st r rcs rds rt", True),
    ("neighbor_alltoallw", "neighbor_alltoallv", "s scs sbs sts r rcs rbs rts", True),
    ("reduce", "reduce", "s r c t op root", True),
    ("allreduce", "allreduce", "s r c t op", True),
    ("reduce_scatter", "reduce_scatter", "s r rcs t op", True),
    ("reduce_scatter_block", "reduce_scatter_block", "s r rc t op", True),
    ("scan", "scan", "s r c t op", True),
    ("exscan", "exscan", "s r c t op", True),
]
