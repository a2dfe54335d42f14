// SPDX-License-Identifier: BSD-3-Clause
// A promise that messages may overtake each other (mpi_assert_allow_overtaking), on a communicator with ranks outside
// the space: rank 0 receives from the last rank, which must be outside.
//
// 1. The promise outlasts a later info that does not mention it: a receive from the last rank goes to the MPI library
// at once
//    and gets the first message, although one from any source was posted before it.
// 2. A thread receives from any source what another receives from the last rank: each gets as many as it asks for.
//
// Exit code 77: the MPI library does not give MPI_THREAD_MULTIPLE.
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>

#include "need_threads.h"

enum { kMessages = 1000 };  // to each of the two

static MPI_Comm comm;
static int rank, last;

// Open MPI counts no messages of such a communicator: one that leaves for a rank that has not yet promised is lost
// there.
static void promise(const char* key, const char* value) {
  MPI_Info info;
  MPI_Info_create(&info);
  MPI_Info_set(info, key, value);
  MPI_Comm_set_info(comm, info);
  MPI_Info_free(&info);
  MPI_Barrier(MPI_COMM_WORLD);
}

static void promise_stays(void) {
  promise("mpi_assert_allow_overtaking", "true");
  promise("mpi_assert_exact_length", "true");
  int got[2] = {0, 0}, out[2] = {1, 2};
  MPI_Request requests[2];
  if (rank == 0) {
    MPI_Irecv(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &requests[0]);
    MPI_Irecv(&got[1], 1, MPI_INT, last, 1, comm, &requests[1]);
  }
  MPI_Barrier(comm);
  if (rank == last) {
    MPI_Send(&out[0], 1, MPI_INT, 0, 1, comm);
    MPI_Send(&out[1], 1, MPI_INT, 0, 1, comm);
  }
  if (rank != 0) return;
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (got[0] == 2 && got[1] == 1) return;
  fprintf(stderr, "any source got %d, the last rank's receive %d\n", got[0], got[1]);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void* from_any(void* unused) {
  int got;
  for (int i = 0; i < kMessages; ++i) MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, MPI_STATUS_IGNORE);
  return unused;
}

static void races(void) {
  int number = 0;
  if (rank == last) {
    for (int i = 0; i < 2 * kMessages; ++i) MPI_Send(&i, 1, MPI_INT, 0, 2, comm);
  } else if (rank == 0) {
    pthread_t other;
    pthread_create(&other, NULL, from_any, NULL);
    for (int i = 0; i < kMessages; ++i) {
      MPI_Message message;
      MPI_Mprobe(last, 2, comm, &message, MPI_STATUS_IGNORE);
      MPI_Mrecv(&number, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    }
    pthread_join(other, NULL);
  }
}

int main(int argc, char** argv) {
  need_threads(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &last);
  --last;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  promise_stays();
  races();
  MPI_Barrier(comm);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
