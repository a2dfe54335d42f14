// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: a thread waits for a neighbourhood collective while the main thread disconnects its
// communicator. Rank 0 begins its own part some time later, so that both threads of the others wait. `any`: the thread
// waits for a receive from any source instead.
//
//     disconnect_while_another_waits [ROUNDS [any]]  exit code 77: the MPI library does not give MPI_THREAD_MULTIPLE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "need_threads.h"

enum { kIntegers = 100 };

static void* await(void* request) {
  MPI_Wait(request, MPI_STATUS_IGNORE);
  return NULL;
}

int main(int argc, char** argv) {
  need_threads(&argc, &argv);
  const int rounds = argc > 1 ? atoi(argv[1]) : 300;
  const int any = argc > 2;
  int rank;
  int size;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int before = (rank + size - 1) % size;
  const int after = (rank + 1) % size;
  const int weight = 1;
  const int counts[] = {kIntegers};
  const int displacements[] = {0};
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm ring;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &before, &weight, 1, &after, &weight, MPI_INFO_NULL, 0, &ring);
    int sent[kIntegers];
    int room[kIntegers];
    for (int i = 0; i < kIntegers; ++i) sent[i] = round + rank + i;
    if (rank == 0) {
      const double begin = MPI_Wtime();
      while (MPI_Wtime() < begin + 1e-5 * (round % 20)) {
      }
    }
    MPI_Request request;
    pthread_t thread;
    if (any) {
      MPI_Irecv(room, kIntegers, MPI_INT, MPI_ANY_SOURCE, 0, ring, &request);
      pthread_create(&thread, NULL, await, &request);
      MPI_Send(sent, kIntegers, MPI_INT, after, 0, ring);
    } else {
      MPI_Ineighbor_alltoallv(sent, counts, displacements, MPI_INT, room, counts, displacements, MPI_INT, ring,
                              &request);
      pthread_create(&thread, NULL, await, &request);
    }
    MPI_Comm_disconnect(&ring);
    pthread_join(thread, NULL);
    for (int i = 0; i < kIntegers; ++i) {
      if (room[i] == round + before + i) continue;
      fprintf(stderr, "round %d: integer %d is %d\n", round, i, room[i]);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return 0;
}
