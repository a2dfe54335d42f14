// Blocking neighbourhood collectives by several threads at once, each on a ring of its own, while each has a
// non-blocking and a persistent one under way there; then what the host refuses, in each form of the call, by the error handler of its
// communicator.
//
//     blocking_neighbours [THREADS [ROUNDS]]        exit code 77: the host does not give MPI_THREAD_MULTIPLE
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

// From the left and from the right each rank gets what that one sends it: number, round, sender, and the side it is sent
// to.
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

// Prints what is the host's to say (MPICH returns success where it has called a handler); returns whether something is
// wrong.
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

static int try_form(int form, int count, MPI_Datatype type, MPI_Comm comm) {
  static int out[2], in[2];
  MPI_Request request = MPI_REQUEST_NULL;
  if (form == 0) return MPI_Neighbor_alltoall(out, count, type, in, count, MPI_INT, comm);
  if (form == 1) return MPI_Ineighbor_alltoall(out, count, type, in, count, MPI_INT, comm, &request);
#if HAVE_PERSISTENT
  return PERSISTENT(Neighbor_alltoall)(out, count, type, in, count, MPI_INT, comm, MPI_INFO_NULL, &request);
#else
  return MPI_SUCCESS;
#endif
}

// Prints what the host, or who stands before it, says. (A communicator without a topology is fatal to Open MPI.)
static void refuse_all(MPI_Comm ring, int rank) {
  const struct {
    const char* what;
    int count;
    MPI_Datatype type;
  } cases[] = {{"no type", 1, MPI_DATATYPE_NULL}, {"a count below 0", -1, MPI_INT}};
  for (int form = 0; form < kForms; ++form) {
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; ++i) {
      int class = MPI_SUCCESS;
      told = 0;
      told_class = MPI_SUCCESS;
      MPI_Error_class(try_form(form, cases[i].count, cases[i].type, ring), &class);
      if (rank != 0) continue;
      printf("refused: %s, %s: class %d, handler told %d times, of class %d, of %s\n", forms[form], cases[i].what,
             class, told, told_class, told != 0 && told_of != ring ? "another" : "its own");
    }
  }
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
