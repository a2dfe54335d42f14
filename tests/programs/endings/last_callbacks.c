// SPDX-License-Identifier: BSD-3-Clause
// The delete callbacks of MPI_COMM_SELF are a program's last moment in MPI (MPI-4.1, 11.2.4). Each rank starts much
// before MPI_Finalize and ends it in them; MPI_Finalized is false there, and the last attribute's callback comes first.
// With the word `error` the last callback of rank 0 returns one, so Open MPI calls no other ones there.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features.h"

enum { kMany = 1 << 18, kCallbacks = 3 };

static int rank, ranks, next, previous, failing;
static int calls;
static MPI_Comm comm;
static MPI_Datatype spaced;
static MPI_Request listening, persistent[2], pending[2], collective;
static int heard, from_previous, summands[kMany], sums[kMany], large[2][kMany];

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void check_sums(int each, const char* what) {
  for (int i = 0; i < kMany; ++i) check(sums[i] == each * ranks, what);
}

// Messages: one that came before, from any source; a large one that was under way; a receive that nobody answers.
static void messages(void) {
  int word = -1, flag = 0, cancelled = 0;
  MPI_Status status, many[2];
  MPI_Message message;
  MPI_Probe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &status);
  check(status.MPI_SOURCE == previous, "the probe");
  MPI_Mprobe(MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(&word, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
  check(word == 500 + previous, "the message that came before");
  MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 6, comm, &status);
  check(word == 600 + previous && status.MPI_SOURCE == previous, "the message from any source");
  MPI_Waitall(2, pending, many);
  for (int i = 0; i < kMany; ++i) check(large[1][i] == previous + i, "the large message");
  MPI_Test(&listening, &flag, &status);
  check(!flag, "nobody answers");
  MPI_Cancel(&listening);
  MPI_Wait(&listening, &status);
  MPI_Test_cancelled(&status, &cancelled);
  check(cancelled && listening == MPI_REQUEST_NULL, "the receive is not cancelled");
}

// Collectives: one that was under way, blocking and non-blocking ones, a persistent one, and one without a request.
static void collectives(void) {
  MPI_Wait(&collective, MPI_STATUS_IGNORE);
  check_sums(1, "the sum that was under way");
  MPI_Allreduce(summands, sums, kMany, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  check_sums(1, "the blocking sum");
  MPI_Iallreduce(summands, sums, kMany, MPI_INT, MPI_SUM, comm, &collective);
  for (int flag = 0; !flag;) MPI_Test(&collective, &flag, MPI_STATUS_IGNORE);
  check_sums(1, "the non-blocking sum");
  // Rank 0 is blocked in a receive whose message is sent when the others have its part of the sum.
  int word = 800 + rank;
  MPI_Iallreduce(summands, sums, kMany, MPI_INT, MPI_SUM, comm, &collective);
  if (rank == 0) MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 8, comm, MPI_STATUS_IGNORE);
  MPI_Wait(&collective, MPI_STATUS_IGNORE);
  if (rank == 1) MPI_Send(&word, 1, MPI_INT, 0, 8, comm);
  check_sums(1, "the sum beside a blocking receive");
#if HAVE_PERSISTENT
  MPI_Request again;
  PERSISTENT(Allreduce)(summands, sums, kMany, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL, &again);
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Start(&again);
    MPI_Wait(&again, MPI_STATUS_IGNORE);
    check_sums(1, "the persistent sum");
  }
  MPI_Request_free(&again);
#endif
}

// What exists: persistent requests, types and communicators, new ones and old ones.
static void objects(void) {
  MPI_Comm half, again;
  int word = 700 + rank, got[2] = {-1, -1};
  MPI_Startall(2, persistent);
  MPI_Waitall(2, persistent, MPI_STATUSES_IGNORE);
  check(from_previous == previous, "the persistent messages");
  MPI_Comm_split(comm, 0, -rank, &half);
  MPI_Comm_dup(half, &again);
  MPI_Sendrecv(&word, 1, MPI_INT, ranks - 1 - next, 7, got, 2, MPI_INT, ranks - 1 - previous, 7, again,
               MPI_STATUS_IGNORE);
  check(got[0] == 700 + previous && got[1] == -1, "the new communicator");
  MPI_Comm_free(&again);
  MPI_Comm_disconnect(&half);
  MPI_Type_free(&spaced);
  MPI_Request_free(&persistent[0]);
  MPI_Comm_free(&comm);
  MPI_Request_free(&persistent[1]);
}

static int at_end(MPI_Comm of, int key, void* value, void* extra) {
  const int which = (int)(size_t)value;
  int finalized = 1, size = 0;
  (void)key;
  (void)extra;
  MPI_Finalized(&finalized);
  MPI_Comm_size(of, &size);
  check(!finalized && size == 1, "MPI is over in a callback");
  check(which == kCallbacks - 1 - calls, "the order of the callbacks");
  ++calls;
  if (which == 2) messages();
  if (which == 1) collectives();
  if (which == 1 && failing) return MPI_ERR_OTHER;
  if (which == 0) objects();
  return MPI_SUCCESS;
}

int main(int argc, char** argv) {
  int provided, key;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  next = (rank + 1) % ranks;
  previous = (rank + ranks - 1) % ranks;
  failing = argc > 1 && strcmp(argv[1], "error") == 0 && rank == 0;
  const int fewest = argc > 1 ? 1 : 0;  // callbacks: the failing one is the last
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Type_vector(2, 1, 2, MPI_INT, &spaced);
  MPI_Type_commit(&spaced);
  for (int i = 0; i < kMany; ++i) summands[i] = 1, large[0][i] = rank + i;
  for (size_t i = (size_t)fewest; i < kCallbacks; ++i) {
    MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &key, NULL);
    MPI_Comm_set_attr(MPI_COMM_SELF, key, (void*)i);
    MPI_Comm_free_keyval(&key);
  }
  static int own;
  own = rank;
  MPI_Irecv(&heard, 1, MPI_INT, MPI_ANY_SOURCE, 1, comm, &listening);
  MPI_Send_init(&own, 1, MPI_INT, next, 2, comm, &persistent[0]);
  MPI_Recv_init(&from_previous, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, &persistent[1]);
  MPI_Irecv(large[1], kMany, MPI_INT, previous, 3, MPI_COMM_WORLD, &pending[0]);
  const int words[2] = {500 + rank, 600 + rank};
  MPI_Send(&words[0], 1, MPI_INT, next, 5, MPI_COMM_WORLD);
  MPI_Send(&words[1], 1, MPI_INT, next, 6, comm);
  MPI_Isend(large[0], kMany, MPI_INT, next, 3, MPI_COMM_WORLD, &pending[1]);
  MPI_Iallreduce(summands, sums, kMany, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &collective);
  MPI_Finalize();
  check(calls == kCallbacks - fewest, "callbacks are left");
  if (rank == 0) printf("%d callbacks\n", calls);
  return 0;
}
