/* SPDX-License-Identifier: BSD-3-Clause */
/* Urakata's own calls, for programs that want more than to run unmodified.
 *
 * Include mpi.h first (or let this header do it). There is nothing to link: the functions come from the preload
 * library, and are weak, so that the same program runs without Urakata. Ask ura_available() first.
 *
 * All functions may be called by any thread between MPI_Init and MPI_Finalize, as far as the program's thread level
 * allows, and return MPI_SUCCESS or an MPI error code; a message on standard error says more.
 */
#ifndef URAKATA_H
#define URAKATA_H

#if !defined(MPI_VERSION) /* also after the MPI-5 header mpi_abi.h */
#include <mpi.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

#if !defined(URAKATA_API)
#define URAKATA_API __attribute__((weak))
#endif

/* Chooses who runs the collectives of a communicator from now on: "native", "poll" or "thread". Collective: all ranks
 * of the communicator call it at the same point of their order of collectives; "native" must be chosen by all or by
 * none. Fails with MPI_ERR_PENDING while non-blocking collectives are pending, and with MPI_ERR_ARG for an engine that
 * does not exist or is not to be had in this run, or where another rank cannot change; then no rank's engine changes.
 * */
URAKATA_API int ura_engine(MPI_Comm comm, const char* engine);

/* Says that `op`, which MPI_Op_create made, computes what the eBPF code does that an administrator has attached under
 * this name (`urakata kernel attach INTERFACE --op NAME=FILE`, urakata_op.bpf.h). With engine kernel, small
 * MPI_Iallreduce and MPI_Ireduce by it are then computed by the kernel at the nodes' network interfaces, in the order
 * of ranks, where that eBPF code is attached on all nodes of the communicator for elements of the datatype's size,
 * which has no holes; else they go the ways they went. Where a rank's own data come last it is the operation's function
 * that computes. Collective over MPI_COMM_WORLD, and waits for the others; holds until MPI_Op_free. MPI_ERR_OP: not
 * such an operation. MPI_ERR_ARG, on all ranks and with nothing changed: ranks give different names, one with no
 * characters or more than 27, or the operation has another. */
URAKATA_API int ura_op_kernel(MPI_Op op, const char* name);

/* --- Collectives of your own ---
 *
 * A schedule says what one rank does in a collective: nodes (send, recv, copy, reduce) and their order. It is built
 * once, started any number of times, also while earlier starts still run, and is progressed like MPI's own collectives.
 * The request goes to any MPI_Wait or MPI_Test.
 *
 * Data lie in buffers, which have numbers: 0 .. buffers-1 are those that ura_start() gets, ura_temp() adds temporaries.
 * A place is a buffer and an offset in bytes. Nodes run as soon as the nodes that they were put after are finished.
 * The k-th message that rank a sends to rank b on a channel (0..255) meets the k-th that b receives from a on it; order
 * such nodes by ura_after().
 *
 *     ura_schedule* s;
 *     int in, out;
 *     ura_begin(comm, 1, &s);                               // one buffer: number 0
 *     if (rank > 0) ura_recv(s, rank - 1, 0, 0, bytes, 0, &in);
 *     if (rank + 1 < size) ura_send(s, rank + 1, 0, 0, bytes, 0, &out);
 *     if (rank > 0 && rank + 1 < size) ura_after(s, in, out);
 *     ura_commit(s);                                        // all ranks of comm
 *     ura_start(s, (void*[]){buffer}, &request);            // a broadcast down a chain
 *
 * A schedule is used by one thread at a time until it is committed. The node's number is returned in the last argument,
 * which may be null. */
typedef struct ura_schedule ura_schedule;

URAKATA_API int ura_begin(MPI_Comm comm, int buffers, ura_schedule** schedule);
URAKATA_API int ura_temp(ura_schedule* schedule, MPI_Count bytes, int* buffer);
URAKATA_API int ura_send(ura_schedule* schedule, int peer, int buffer, MPI_Aint offset, MPI_Count bytes, int channel,
                         int* node);
URAKATA_API int ura_recv(ura_schedule* schedule, int peer, int buffer, MPI_Aint offset, MPI_Count bytes, int channel,
                         int* node);
URAKATA_API int ura_copy(ura_schedule* schedule, int from_buffer, MPI_Aint from_offset, int to_buffer,
                         MPI_Aint to_offset, MPI_Count bytes, int* node);

/* right = left (op) right on `count` elements. A predefined type, and an operation that is defined for it; the same for
 * all reductions of a schedule. */
URAKATA_API int ura_reduce(ura_schedule* schedule, int left_buffer, MPI_Aint left_offset, int right_buffer,
                           MPI_Aint right_offset, MPI_Count count, MPI_Datatype datatype, MPI_Op op, int* node);

/* The name under which the schedule's starts stand in the report, instead of "ura_start"; copied. At any time. */
URAKATA_API int ura_name(ura_schedule* schedule, const char* name);

/* `then` starts when `first` is finished. */
URAKATA_API int ura_after(ura_schedule* schedule, int first, int then);

/* Collective over the communicator, in order with its other collectives, without waiting for the others. Checks what
 * one rank's schedule can be checked for: MPI_ERR_ARG, and the message names the node. */
URAKATA_API int ura_commit(ura_schedule* schedule);

/* Starts the schedule, buffer i being at buffers[i]; all ranks of the communicator start it in the same order.
 * MPI_ERR_BUFFER: a buffer is in memory of a device. */
URAKATA_API int ura_start(ura_schedule* schedule, void* const* buffers, MPI_Request* request);

/* MPI_ERR_PENDING while a start of it is not completed. Sets the pointer to null. */
URAKATA_API int ura_free(ura_schedule** schedule);

/* --- Exchanges with neighbours ---
 *
 * A halo sends the same elements of a vector to the same neighbours again and again, and receives others: what a solver
 * does before each product of its matrix with a vector. Where each rank shares a space with its neighbours, or
 * transport wire joins their nodes, an exchange is a put into each neighbour's memory or a copy out of it, or a frame
 * on its connection, without handshakes; where that is not so for all ranks of the communicator, it is the MPI
 * library's persistent messages. Between nodes payloads of more than 128 KiB to or from a neighbour move on while the
 * program computes where the run has progress threads (--engine thread), otherwise in calls of MPI and of these
 * functions.
 *
 *     ura_halo* halo;
 *     ura_halo_side send = {n, ranks, counts, owned_indices, length};
 *     ura_halo_side receive = {n, ranks, counts, ghost_indices, length};
 *     ura_halo_create(comm, sizeof(double), &send, &receive, &halo);   // all ranks of comm
 *     for (...) {
 *       ura_halo_begin(halo, x, x);
 *       ... rows that need no ghost element ...
 *       ura_halo_end(halo);
 *       ... the other rows ...
 *     }
 *     ura_halo_free(&halo);
 *
 * Several halos may be under way at once, on one communicator too. One is used by one thread at a time. */
typedef struct ura_halo ura_halo;

/* The neighbours of one side, and the elements that go to each of them, or come from it. */
typedef struct ura_halo_side {
  int neighbours;
  const int* ranks;   /* one for each neighbour: of the communicator, also the own; one may stand more than once, as
                         several neighbours; MPI_PROC_NULL: nothing goes there */
  const int* counts;  /* how many elements, for each neighbour; may be 0 */
  const int* indices; /* of the elements: neighbour 0's first, then neighbour 1's, ... */
  MPI_Count length;   /* of the vector, in elements: all indices are below */
} ura_halo_side;

/* Collective over an intracommunicator; waits for the others. What is given is copied. An element is `element_bytes`
 * bytes. An index may stand several times on the sending side, and once on the receiving one. Where rank a names b k
 * times as one that it sends to, b names a k times as one that it receives from, with the same counts in that order.
 * MPI_ERR_ARG, on all ranks and with nothing made, where that is not so or an index is outside of its vector; the rank
 * where it is wrong says which. MPI_ERR_COMM: not an intracommunicator.
 * For elements that lie otherwise, or longer vectors: with a datatype for each neighbour, one element of which is what
 * goes there or comes from there. The types may be freed afterwards. */
URAKATA_API int ura_halo_create(MPI_Comm comm, MPI_Aint element_bytes, const ura_halo_side* send,
                                const ura_halo_side* receive, ura_halo** halo);
URAKATA_API int ura_halo_create_types(MPI_Comm comm, int send_neighbours, const int* send_ranks,
                                      const MPI_Datatype* send_types, int receive_neighbours, const int* receive_ranks,
                                      const MPI_Datatype* receive_types, ura_halo** halo);

/* The name under which its exchanges stand in the report, instead of "ura_halo"; copied. Not while one is under way. */
URAKATA_API int ura_halo_name(ura_halo* halo, const char* name);

/* Starts an exchange: of elements of `send_vector` into elements of `receive_vector`, which may be the same vector, and
 * others each time. Returns without waiting. Until the exchange is ended the elements that are sent are not written,
 * and those that come are not touched but as ura_halo_ready() says; an element that comes is none of those that are
 * sent. All ranks of the communicator begin the same number of exchanges. MPI_ERR_PENDING: the last one is not ended.
 * MPI_ERR_BUFFER: a vector is in memory of a device, and the halo, made before the program used one, has a plan. */
URAKATA_API int ura_halo_begin(ura_halo* halo, const void* send_vector, void* receive_vector);

/* Is everything here that comes from this neighbour of the receiving side? Then the program may use those elements. To
 * be called between begin and end, any number of times; does not wait. Neighbours that are one rank may be ready
 * together only. */
URAKATA_API int ura_halo_ready(ura_halo* halo, int neighbour, int* flag);

/* A neighbour of the receiving side of whom everything is here, each once in an exchange; -1: none now, or no more. */
URAKATA_API int ura_halo_ready_any(ura_halo* halo, int* neighbour);

/* Waits until everything is here and what is sent may be written again. MPI_ERR_OTHER, as from ura_halo_ready() and
 * ura_halo_ready_any(), and the communicator's error handler is told: a neighbour on another node is lost, to this rank
 * or to one that it exchanges with. What came is not to be used, and every later exchange of the halo ends likewise. */
URAKATA_API int ura_halo_end(ura_halo* halo);

/* Collective, as MPI_Comm_free is, but does not wait: neighbours may still be in their last exchange. MPI_ERR_PENDING:
 * this rank's is not ended. Sets the pointer to null. */
URAKATA_API int ura_halo_free(ura_halo** halo);

/* Is Urakata loaded? Without it the functions above must not be called. */
static inline int ura_available(void) {
  int (*volatile function)(MPI_Comm, int, ura_schedule**) = ura_begin;
  return function != 0; /* NOLINT(modernize-use-nullptr): this is C, too */
}

#ifdef __cplusplus
}
#endif

#endif
