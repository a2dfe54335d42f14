// SPDX-License-Identifier: BSD-3-Clause
// How a rank waits.
//
//     wait_properties fair wait|test       what is always done keeps nobody out of MPI_Waitany and MPI_Testany (2 ranks)
//     wait_properties asleep any|some|all  a rank of a space sleeps while it waits for a message and a collective: rank 0
//                                          does its part only once the kernel says that it does (2 ranks)
//     wait_properties order wait|test      who waits for a collective moves its other messages on (2 ranks or more)
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank;

static void until_done(MPI_Request request) {
  for (int flag = 0; !flag;) MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
}

enum { kArrays = 2, kRequests = 4 };

static void poll_any(int test, MPI_Request* requests) {
  int index = MPI_UNDEFINED;
  int flag = 1;
  if (test) {
    MPI_Testany(kRequests, requests, &index, &flag, MPI_STATUS_IGNORE);
  } else {
    MPI_Waitany(kRequests, requests, &index, MPI_STATUS_IGNORE);
  }
}

// At each test of an array one of its first `renewed` requests, barriers that are begun in turn, is done. So are the
// receive and the barrier behind them, which are begun once. The arrays are tested in turn.
static int check_fair(int test, int renewed, int arrays) {
  enum { kTests = 300 };
  int got[kArrays];
  MPI_Request requests[kArrays][kRequests];
  for (int i = 0; i < arrays; ++i) {
    for (int j = 0; j < kRequests; ++j) requests[i][j] = MPI_REQUEST_NULL;
    MPI_Irecv(&got[i], 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD, &requests[i][renewed]);
    MPI_Send(&rank, 1, MPI_INT, 1 - rank, i, MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[i][renewed + 1]);
    until_done(requests[i][renewed]);
    until_done(requests[i][renewed + 1]);
  }
  for (int done = 0; done < kTests; ++done) {
    for (int i = 0; i < arrays; ++i) {
      MPI_Request* barrier = &requests[i][done % renewed];
      MPI_Ibarrier(MPI_COMM_WORLD, barrier);
      until_done(*barrier);
      poll_any(test, requests[i]);
      MPI_Wait(barrier, MPI_STATUS_IGNORE);
    }
  }
  int failed = 0;
  for (int i = 0; i < arrays; ++i) {
    for (int j = renewed; j < kRequests; ++j) {
      if (requests[i][j] == MPI_REQUEST_NULL) continue;
      fprintf(stderr, "wait_properties: of %d arrays, %d renewed: request %d was never found in %d tests\n", arrays,
              renewed, j, kTests);
      MPI_Wait(&requests[i][j], MPI_STATUS_IGNORE);
      failed = 1;
    }
  }
  return failed;
}

static int check_all_fair(int test) {
  int failed = 0;
  for (int arrays = 1; arrays <= kArrays; ++arrays) {
    for (int renewed = 1; renewed <= 2; ++renewed) failed |= check_fair(test, renewed, arrays);
  }
  return failed;
}

// How often the thread has gone to sleep.
static long sleeps(int pid) {
  char path[64];
  char line[256];
  long count = -1;
  snprintf(path, sizeof path, "/proc/%d/task/%d/status", pid, pid);
  FILE* file = fopen(path, "r");
  while (file != NULL && fgets(line, sizeof line, file) != NULL) sscanf(line, "voluntary_ctxt_switches: %ld", &count);
  if (file != NULL) fclose(file);
  return count;
}

// A rank that does not sleep makes this program hang.
static int check_asleep(const char* how) {
  enum { kSleeps = 20 };
  int got = 0;
  int done = 0;
  int which[2];
  int pid = (int)getpid();
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  if (rank == 0) {
    MPI_Recv(&pid, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (const long before = sleeps(pid); sleeps(pid) < before + kSleeps;) sched_yield();
    MPI_Send(&pid, 1, MPI_INT, 1, 1, MPI_COMM_WORLD);
    MPI_Ibarrier(MPI_COMM_WORLD, &requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    return 0;
  }
  MPI_Irecv(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[0]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[1]);
  MPI_Send(&pid, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
  if (strcmp(how, "any") == 0) MPI_Waitany(2, requests, &done, MPI_STATUS_IGNORE);
  if (strcmp(how, "some") == 0) MPI_Waitsome(2, requests, &done, which, MPI_STATUSES_IGNORE);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  return got != pid;
}

// Rank 1 comes to the collective only when it has rank 0's message.
static int check_order(int test) {
  enum { kBytes = 8 << 20, kRounds = 5 };
  char* data = calloc(kBytes, 1);
  for (int round = 0; round < kRounds; ++round) {
    const int one = 1;
    int sum = 0;
    MPI_Request send = MPI_REQUEST_NULL;
    MPI_Request request;
    if (rank == 0) MPI_Isend(data, kBytes, MPI_BYTE, 1, 0, MPI_COMM_WORLD, &send);
    if (rank == 1) MPI_Recv(data, kBytes, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    for (int flag = 0; test && !flag;) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
  }
  free(data);
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* what = argc > 1 ? argv[1] : "";
  const char* how = argc > 2 ? argv[2] : "";
  int failed = 2;
  if (strcmp(what, "fair") == 0) failed = check_all_fair(strcmp(how, "test") == 0);
  if (strcmp(what, "asleep") == 0) failed = check_asleep(how);
  if (strcmp(what, "order") == 0) failed = check_order(strcmp(how, "test") == 0);
  MPI_Finalize();
  return failed;
}
