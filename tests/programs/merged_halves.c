// The halves of MPI_COMM_WORLD, joined again by MPI_Intercomm_create and MPI_Intercomm_merge with the upper one first:
// messages between all of its ranks, and collectives. Of 4 ranks, 2 3 0 1 of MPI_COMM_WORLD are 0 1 2 3 of it. Each
// rank says what it got, as a number made from all of it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "features.h"

enum { kLengths = 3, kRounds = 5, kMost = 30000 };
static const int lengths[kLengths] = {1, 50, kMost};

static int rank, ranks, wrong = 0;
static uint64_t got = 14695981039346656037U;  // FNV-1a

static int value(int round, int from, int to, int i) { return ((round * 64 + from) * 64 + to) * 31 + i; }

static void take(const int* data, int count, int round, int from, int to) {
  for (int i = 0; i < count; ++i) {
    got = (got ^ (uint64_t)(uint32_t)data[i]) * 1099511628211U;
    wrong += data[i] != value(round, from, to, i);
  }
}

static void fill(int* data, int count, int round, int to) {
  for (int i = 0; i < count; ++i) data[i] = value(round, rank, to, i);
}

// Each to each, of a length; then to the next, who asks for anybody's.
static void messages(MPI_Comm comm, int length, int* out, int* in) {
  MPI_Request* requests = malloc((size_t)(2 * ranks) * sizeof *requests);
  for (int peer = 0; peer < ranks; ++peer) {
    fill(out + peer * length, length, length, peer);
    MPI_Irecv(in + peer * length, length, MPI_INT, peer, 5, comm, &requests[peer]);
  }
  for (int peer = 0; peer < ranks; ++peer) {
    MPI_Isend(out + peer * length, length, MPI_INT, peer, 5, comm, &requests[ranks + peer]);
  }
  MPI_Waitall(2 * ranks, requests, MPI_STATUSES_IGNORE);
  for (int peer = 0; peer < ranks; ++peer) take(in + peer * length, length, length, peer, rank);
  free(requests);
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  MPI_Request sent;
  MPI_Status status;
  MPI_Isend(out + next * length, length, MPI_INT, next, 6, comm, &sent);
  MPI_Recv(in, length, MPI_INT, MPI_ANY_SOURCE, 6, comm, &status);
  MPI_Wait(&sent, MPI_STATUS_IGNORE);
  wrong += status.MPI_SOURCE != before;
  take(in, length, length, before, rank);
  MPI_Barrier(comm);  // whose messages from anybody are all here
}

static void persistent_messages(MPI_Comm comm, int* out, int* in) {
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, length = lengths[1];
  MPI_Request requests[2];
  MPI_Recv_init(in, length, MPI_INT, before, 7, comm, &requests[0]);
  MPI_Send_init(out, length, MPI_INT, next, 7, comm, &requests[1]);
  for (int round = 0; round < kRounds; ++round) {
    fill(out, length, round, next);
    MPI_Startall(2, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    take(in, length, round, before, rank);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
}

static void collectives(MPI_Comm comm, int length, int* out, int* in) {
  MPI_Request requests[2];
  int mine = rank * rank, sum = 0, expected = 0;
  for (int peer = 0; peer < ranks; ++peer) {
    fill(out + peer * length, length, length, peer);
    expected += peer * peer;
  }
  MPI_Ialltoall(out, length, MPI_INT, in, length, MPI_INT, comm, &requests[0]);
  MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  for (int peer = 0; peer < ranks; ++peer) take(in + peer * length, length, length, peer, rank);
  wrong += sum != expected;
  const int root = ranks - 1;
  if (rank == root) fill(in, length, 1, root);
  MPI_Bcast(in, length, MPI_INT, root, comm);
  take(in, length, 1, root, root);
#if HAVE_PERSISTENT
  PERSISTENT(Bcast)(in, length, MPI_INT, 0, comm, MPI_INFO_NULL, &requests[0]);
  for (int round = 0; round < kRounds; ++round) {
    if (rank == 0) fill(in, length, round, 0);
    MPI_Start(&requests[0]);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    take(in, length, round, 0, 0);
  }
  MPI_Request_free(&requests[0]);
#endif
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int world = 0, order = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int lower = ranks / 2, upper = world >= lower;
  MPI_Comm half, between, merged;
  MPI_Comm_split(MPI_COMM_WORLD, upper, world, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : lower, 9, &between);
  MPI_Intercomm_merge(between, !upper, &merged);
  MPI_Comm_rank(merged, &rank);
  MPI_Comm_size(merged, &order);
  wrong += order != ranks || rank != (world + ranks - lower) % ranks;
  int* out = malloc((size_t)ranks * kMost * sizeof *out);
  int* in = malloc((size_t)ranks * kMost * sizeof *in);
  if (out == NULL || in == NULL) return 2;
  for (int i = 0; i < kLengths; ++i) {
    messages(merged, lengths[i], out, in);
    collectives(merged, lengths[i], out, in);
  }
  persistent_messages(merged, out, in);
  printf("rank %d is rank %d of the merged ones and got %016llx\n", world, rank, (unsigned long long)got);
  free(out);
  free(in);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&between);
  MPI_Comm_free(&half);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
