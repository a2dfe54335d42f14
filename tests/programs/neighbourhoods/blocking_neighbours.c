// SPDX-License-Identifier: BSD-3-Clause
// Blocking neighbourhood collectives by several threads at once, each on a ring of its own, while each has a
// non-blocking and a persistent one under way there; then what the MPI library refuses, in each form of the call, by
// the error handler of its communicator.
//
//     blocking_neighbours [THREADS [ROUNDS]]        exit code 77: the MPI library does not give MPI_THREAD_MULTIPLE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "features.h"
#include "need_threads.h"

enum { kMostThreads = 8, kIntegers = 3000 };

typedef struct {
  MPI_Comm ring;
  int number, rounds, wrong;
} Work;

// From the left and from the right each rank gets what that one sends it: number, round, sender, and the side it is
// sent to.
static int value(int number, int round, int sender, int side, int i) {
  return ((number * 1000 + round) * 64 + sender) * 2 + side + i;
}

static void* work(void* argument) {
  Work* w = argument;
  int size = 0, rank = 0, left = 0, right = 0;
  MPI_Comm_size(w->ring, &size);
  MPI_Comm_rank(w->ring, &rank);
  MPI_Cart_shift(w->ring, 0, 1, &left, &right);
  int* out = malloc(2 * kIntegers * sizeof(int));
  int* in = malloc(2 * kIntegers * sizeof(int));
  int* later = malloc(2 * kIntegers * sizeof(int));
  int* again = malloc(2 * kIntegers * sizeof(int));
  int* all = malloc(2 * kIntegers * sizeof(int));
  MPI_Request persistent = MPI_REQUEST_NULL;
#if HAVE_PERSISTENT
  PERSISTENT(Neighbor_alltoall)
  (all, kIntegers, MPI_INT, again, kIntegers, MPI_INT, w->ring, MPI_INFO_NULL, &persistent);
#endif
  for (int round = 0; round < w->rounds; ++round) {
    const int n = round % 3 == 0 ? kIntegers : 1 + round % 50;
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < n; ++i) out[side * n + i] = value(w->number, round, rank, side, i);
    }
    for (int side = 0; side < 2; ++side) {
      for (int i = 0; i < kIntegers; ++i) all[side * kIntegers + i] = value(w->number, round, rank, side, i);
    }
    if (persistent != MPI_REQUEST_NULL) MPI_Start(&persistent);
    MPI_Request request;
    MPI_Ineighbor_alltoall(out, n, MPI_INT, later, n, MPI_INT, w->ring, &request);
    MPI_Neighbor_alltoall(out, n, MPI_INT, in, n, MPI_INT, w->ring);
    for (int i = 0; i < n; ++i) {
      w->wrong += in[i] != value(w->number, round, left, 1, i) || in[n + i] != value(w->number, round, right, 0, i);
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i) {
      w->wrong += later[i] != value(w->number, round, left, 1, i);
      w->wrong += later[n + i] != value(w->number, round, right, 0, i);
    }
    MPI_Wait(&persistent, MPI_STATUS_IGNORE);
    for (int i = 0; persistent != MPI_REQUEST_NULL && i < kIntegers; ++i) {
      w->wrong += again[i] != value(w->number, round, left, 1, i);
      w->wrong += again[kIntegers + i] != value(w->number, round, right, 0, i);
    }
    MPI_Neighbor_allgather(out, n, MPI_INT, in, n, MPI_INT, w->ring);
    for (int i = 0; i < n; ++i) {
      w->wrong += in[i] != value(w->number, round, left, 0, i) || in[n + i] != value(w->number, round, right, 0, i);
    }
  }
  if (persistent != MPI_REQUEST_NULL) MPI_Request_free(&persistent);
  free(out);
  free(in);
  free(later);
  free(again);
  free(all);
  return NULL;
}

static MPI_Comm told_of = MPI_COMM_NULL;
static int told = 0, told_class = MPI_SUCCESS;

static void handler(MPI_Comm* comm, int* code, ...) {
  told_of = *comm;
  ++told;
  MPI_Error_class(*code, &told_class);
}

// Prints what is the MPI library's to say (MPICH returns success where it has called a handler); returns whether
// something is wrong.
static int refuse(MPI_Comm ring, int rank) {
  MPI_Errhandler made;
  MPI_Comm_create_errhandler(handler, &made);
  MPI_Comm_set_errhandler(ring, made);
  MPI_Errhandler_free(&made);
  int out[2] = {0, 0}, in[2] = {0, 0}, class = MPI_SUCCESS;
  MPI_Error_class(MPI_Neighbor_alltoall(out, 1, MPI_DATATYPE_NULL, in, 1, MPI_INT, ring), &class);
  if (rank == 0) printf("refused: class %d, handler told %d times, of class %d\n", class, told, told_class);
  const int before = told;
  return told_class != MPI_ERR_TYPE || told == 0 || told_of != ring ||
         MPI_Neighbor_alltoall(out, 1, MPI_INT, in, 1, MPI_INT, ring) != MPI_SUCCESS || told != before;
}

enum { kForms = HAVE_PERSISTENT ? 3 : 2 };
static const char* const forms[] = {"blocking", "non-blocking", "persistent"};

typedef enum { ALLTOALL, ALLTOALLV, ALLTOALLW, ALLGATHER, ALLGATHERV, OPERATIONS } Operation;
static const char* const operations[] = {"alltoall", "alltoallv", "alltoallw", "allgather", "allgatherv"};

// For both neighbours; a form with fewer counts and types takes the last.
typedef struct {
  int counts[2];
  MPI_Datatype types[2];
} Side;

#if HAVE_PERSISTENT
#define MAKE(name, ...) PERSISTENT(Neighbor_##name)(__VA_ARGS__, comm, MPI_INFO_NULL, &request)
#else
#define MAKE(name, ...) MPI_SUCCESS
#endif
#define CALL(name, ...)                                            \
  (form == 0   ? MPI_Neighbor_##name(__VA_ARGS__, comm)            \
   : form == 1 ? MPI_Ineighbor_##name(__VA_ARGS__, comm, &request) \
               : MAKE(name, __VA_ARGS__))

static int try_form(int form, Operation operation, const Side* send, const Side* receive, MPI_Comm comm) {
  static int out[2], in[2];
  static const int places[] = {0, 1};
  static const MPI_Aint addresses[] = {0, sizeof(int)};
  MPI_Request request = MPI_REQUEST_NULL;
  const int *so_many = send->counts, *as_many = receive->counts;
  const MPI_Datatype *sent = send->types, *got = receive->types;
  switch (operation) {
    case ALLTOALL:
      return CALL(alltoall, out, so_many[1], sent[1], in, as_many[1], got[1]);
    case ALLTOALLV:
      return CALL(alltoallv, out, so_many, places, sent[1], in, as_many, places, got[1]);
    case ALLTOALLW:
      return CALL(alltoallw, out, so_many, addresses, sent, in, as_many, addresses, got);
    case ALLGATHER:
      return CALL(allgather, out, so_many[1], sent[1], in, as_many[1], got[1]);
    default:
      return CALL(allgatherv, out, so_many[1], sent[1], in, as_many, places, got[1]);
  }
}

// Prints what the MPI library, or who stands before it, says to a call that is wrong in what is told of the second
// neighbour, or on a communicator without a topology.
static void refuse_one(int form, Operation operation, const char* what, const Side* send, const Side* receive,
                       MPI_Comm comm, int rank) {
  int class = MPI_SUCCESS;
  told = 0;
  told_class = MPI_SUCCESS;
  MPI_Error_class(try_form(form, operation, send, receive, comm), &class);
  if (rank != 0) return;
  printf("refused: %s, %s, %s: class %d, handler told %d times, of class %d, of %s\n", forms[form],
         operations[operation], what, class, told, told_class, told != 0 && told_of != comm ? "another" : "its own");
}

static void refuse_all(MPI_Comm ring, int rank) {
  const Side right = {{1, 1}, {MPI_INT, MPI_INT}};
  const Side no_type = {{1, 1}, {MPI_INT, MPI_DATATYPE_NULL}}, below = {{1, -1}, {MPI_INT, MPI_INT}};
  MPI_Errhandler made;
  MPI_Comm flat;
  MPI_Comm_dup(MPI_COMM_WORLD, &flat);
  MPI_Comm_create_errhandler(handler, &made);
  MPI_Comm_set_errhandler(flat, made);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, made);  // which Open MPI tells of a communicator without a topology
  for (int form = 0; form < kForms; ++form) {
    for (Operation operation = 0; operation < OPERATIONS; ++operation) {
      refuse_one(form, operation, "no type to send", &no_type, &right, ring, rank);
      refuse_one(form, operation, "no type to receive", &right, &no_type, ring, rank);
      refuse_one(form, operation, "a count below 0 to send", &below, &right, ring, rank);
      // Open MPI does not look at these two.
      if (form == 0 || operation != ALLGATHERV) {
        refuse_one(form, operation, "a count below 0 to receive", &right, &below, ring, rank);
      }
      if (operation != ALLGATHER) refuse_one(form, operation, "no topology", &right, &right, flat, rank);
    }
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
  MPI_Errhandler_free(&made);
  MPI_Comm_free(&flat);
}

int main(int argc, char** argv) {
  need_threads(&argc, &argv);
  int threads = argc > 1 ? atoi(argv[1]) : 2, size = 0, rank = 0;
  if (threads > kMostThreads) threads = kMostThreads;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  pthread_t thread[kMostThreads];
  Work works[kMostThreads];
  const int periodic = 1;
  MPI_Comm ring;
  MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &periodic, 0, &ring);
  for (int t = 0; t < threads; ++t) {
    works[t] = (Work){.number = t, .rounds = argc > 2 ? atoi(argv[2]) : 200};
    MPI_Comm_dup(ring, &works[t].ring);
  }
  for (int t = 0; t < threads; ++t) pthread_create(&thread[t], NULL, work, &works[t]);
  int wrong = 0;
  for (int t = 0; t < threads; ++t) {
    pthread_join(thread[t], NULL);
    wrong += works[t].wrong;
    MPI_Comm_free(&works[t].ring);
  }
  wrong += refuse(ring, rank);
  refuse_all(ring, rank);
  MPI_Comm_free(&ring);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("blocking_neighbours: %d threads, %d wrong\n", threads, wrong);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
