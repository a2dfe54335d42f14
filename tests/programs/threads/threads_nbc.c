// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: several threads start and complete collectives, each on a communicator of its own, at once. All
// use a new user-defined operation for the first time at once in each round, which is freed while they do.
//
//     threads_nbc [THREADS [ROUNDS]]        exit code 77: the MPI library does not give MPI_THREAD_MULTIPLE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "need_threads.h"

enum { kMaxThreads = 8, kIntegers = 5000 };

static pthread_barrier_t meeting;
static MPI_Op shared;

static void add(void* in, void* inout, int* n, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *n; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

typedef struct {
  MPI_Comm comm;
  int number;
  int rounds;
  int wrong;
} Work;

static void* work(void* argument) {
  Work* w = argument;
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(w->comm, &rank);
  MPI_Comm_size(w->comm, &size);
  int* mine = malloc(kIntegers * sizeof(int));
  int* sum = malloc(kIntegers * sizeof(int));
  int* own_sum = malloc(kIntegers * sizeof(int));
  int* readiness = malloc(kIntegers * sizeof(int));
  int* all = malloc((size_t)size * sizeof(int));
  for (int round = 0; round < w->rounds; ++round) {
    const int n = round % 3 == 0 ? kIntegers : 1 + round % 50;
    const int root = (round + w->number) % size;
    const int own = 1000 * w->number + round + rank;
    for (int i = 0; i < n; ++i) {
      mine[i] = own + i;
      readiness[i] = rank == root ? w->number + round + i : -1;
      sum[i] = own_sum[i] = -1;
    }
    MPI_Request requests[5];
    if (w->number == 0) MPI_Op_create(add, 1, &shared);
    pthread_barrier_wait(&meeting);
    MPI_Iallreduce(mine, own_sum, n, MPI_INT, shared, w->comm, &requests[4]);
    pthread_barrier_wait(&meeting);
    if (w->number == 0) MPI_Op_free(&shared);
    MPI_Iallreduce(mine, sum, n, MPI_INT, MPI_SUM, w->comm, &requests[0]);
    MPI_Ibcast(readiness, n, MPI_INT, root, w->comm, &requests[1]);
    MPI_Iallgather(&own, 1, MPI_INT, all, 1, MPI_INT, w->comm, &requests[2]);
    MPI_Ibarrier(w->comm, &requests[3]);
    if (round % 2 == 0) {
      MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
    } else {
      for (int done = 0; !done;) MPI_Testall(5, requests, &done, MPI_STATUSES_IGNORE);
    }
    for (int i = 0; i < n; ++i) {
      const int expected = size * (1000 * w->number + round + i) + size * (size - 1) / 2;
      w->wrong += sum[i] != expected || own_sum[i] != expected || readiness[i] != w->number + round + i;
    }
    for (int r = 0; r < size; ++r) w->wrong += all[r] != 1000 * w->number + round + r;
  }
  free(mine);
  free(sum);
  free(own_sum);
  free(readiness);
  free(all);
  return NULL;
}

int main(int argc, char** argv) {
  need_threads(&argc, &argv);
  int threads = argc > 1 ? atoi(argv[1]) : 4;
  if (threads > kMaxThreads) threads = kMaxThreads;
  pthread_t thread[kMaxThreads];
  Work works[kMaxThreads];
  for (int t = 0; t < threads; ++t) {
    works[t] = (Work){.number = t, .rounds = argc > 2 ? atoi(argv[2]) : 200};
    MPI_Comm_dup(MPI_COMM_WORLD, &works[t].comm);
  }
  pthread_barrier_init(&meeting, NULL, (unsigned)threads);
  for (int t = 0; t < threads; ++t) pthread_create(&thread[t], NULL, work, &works[t]);
  int wrong = 0;
  for (int t = 0; t < threads; ++t) {
    pthread_join(thread[t], NULL);
    wrong += works[t].wrong;
    MPI_Comm_free(&works[t].comm);
  }
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf("threads_nbc: %d threads, %d wrong\n", threads, wrong);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
