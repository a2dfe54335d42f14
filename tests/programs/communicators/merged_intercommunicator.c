// SPDX-License-Identifier: BSD-3-Clause
// The halves of MPI_COMM_WORLD, joined again by MPI_Intercomm_create and MPI_Intercomm_merge with the upper one first:
// messages between all of its ranks, and collectives, on it and on what is made from it. Of 4 ranks, 2 3 0 1 of
// MPI_COMM_WORLD are 0 1 2 3 of it. Each rank says what it got, as a number made from all of it.
//     merged_intercommunicator [COMMAND WORDS...]
// With a command MPI_COMM_WORLD is the lower half, and the upper one as many ranks that MPI_Comm_spawn starts with it.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

// To the next, in each mode; the one before is asked for by name, looked for, and taken out.
static void modes(MPI_Comm comm, int length, int* out, int* in) {
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  MPI_Request sent[3], ready;
  MPI_Status status;
  MPI_Message message;
  const int bytes = 2 * (length * (int)sizeof(int) + MPI_BSEND_OVERHEAD);
  void* room = malloc((size_t)bytes);
  if (room == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Buffer_attach(room, bytes);
  fill(out, length, length, next);
  MPI_Irecv(in, length, MPI_INT, before, 11, comm, &ready);
  MPI_Barrier(comm);
  MPI_Rsend(out, length, MPI_INT, next, 11, comm);
  MPI_Wait(&ready, MPI_STATUS_IGNORE);
  take(in, length, length, before, rank);
  MPI_Issend(out, length, MPI_INT, next, 12, comm, &sent[0]);
  MPI_Ibsend(out, length, MPI_INT, next, 13, comm, &sent[1]);
  MPI_Isend(out, length, MPI_INT, next, 14, comm, &sent[2]);
  MPI_Probe(MPI_ANY_SOURCE, 13, comm, &status);
  MPI_Recv(in, length, MPI_INT, status.MPI_SOURCE, 13, comm, &status);
  take(in, length, length, before, rank);
  MPI_Mprobe(before, MPI_ANY_TAG, comm, &message, &status);
  wrong += status.MPI_TAG != 12;
  MPI_Mrecv(in, length, MPI_INT, &message, &status);
  take(in, length, length, before, rank);
  MPI_Recv(in, length, MPI_INT, before, 14, comm, &status);
  take(in, length, length, before, rank);
  MPI_Waitall(3, sent, MPI_STATUSES_IGNORE);
  MPI_Sendrecv(out, length, MPI_INT, next, 15, in, length, MPI_INT, before, 15, comm, MPI_STATUS_IGNORE);
  take(in, length, length, before, rank);
  memcpy(in, out, (size_t)length * sizeof *in);
  MPI_Sendrecv_replace(in, length, MPI_INT, next, 16, before, 16, comm, MPI_STATUS_IGNORE);
  take(in, length, length, before, rank);
  MPI_Buffer_detach(&room, &(int){0});
  free(room);
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

// The ring of all: of each round what both neighbours sent.
static void neighbours(MPI_Comm comm, int* out, int* in) {
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, length = lengths[1];
  const int sources[2] = {before, next}, destinations[2] = {next, before};
  MPI_Comm ring;
  MPI_Request request;
  MPI_Dist_graph_create_adjacent(comm, 2, sources, MPI_UNWEIGHTED, 2, destinations, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &ring);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 2; ++i) fill(out + i * length, length, round, destinations[i]);
    if (round % 2 == 0) {
      MPI_Neighbor_alltoall(out, length, MPI_INT, in, length, MPI_INT, ring);
    } else {
      MPI_Ineighbor_alltoall(out, length, MPI_INT, in, length, MPI_INT, ring, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 2; ++i) take(in + i * length, length, round, sources[i], rank);
  }
#if HAVE_PERSISTENT
  PERSISTENT(Neighbor_alltoall)(out, length, MPI_INT, in, length, MPI_INT, ring, MPI_INFO_NULL, &request);
  for (int round = 0; round < kRounds; ++round) {
    for (int i = 0; i < 2; ++i) fill(out + i * length, length, round, destinations[i]);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int i = 0; i < 2; ++i) take(in + i * length, length, round, sources[i], rank);
  }
  MPI_Request_free(&request);
#endif
  MPI_Comm_free(&ring);
}

static void all_on(MPI_Comm comm, int* out, int* in) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  for (int i = 0; i < kLengths; ++i) {
    messages(comm, lengths[i], out, in);
    modes(comm, lengths[i], out, in);
    collectives(comm, lengths[i], out, in);
  }
  persistent_messages(comm, out, in);
  if (ranks > 2) neighbours(comm, out, in);  // hosts differ about a neighbour that is named twice
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int world = 0, lower = 0, size = 0;
  MPI_Comm half = MPI_COMM_NULL, between, merged, odd_or_even, same;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_get_parent(&between);
  const int spawned = between != MPI_COMM_NULL, spawns = !spawned && argc > 1;
  int upper = spawned;
  if (spawned || spawns) {
    lower = ranks;
    ranks *= 2;
    if (spawned) world += lower;
  }
  if (spawns) {
    MPI_Comm_spawn(argv[1], argv + 2, lower, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between, MPI_ERRCODES_IGNORE);
  } else if (!spawned) {
    lower = ranks / 2;
    upper = world >= lower;
    MPI_Comm_split(MPI_COMM_WORLD, upper, world, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, upper ? 0 : lower, 9, &between);
  }
  MPI_Intercomm_merge(between, !upper, &merged);
  MPI_Comm_rank(merged, &rank);
  MPI_Comm_size(merged, &size);
  const int merged_rank = rank;
  printf("rank %d has merged\n", world);
  fflush(stdout);
  wrong += size != ranks || rank != (world + ranks - lower) % ranks;
  int* out = malloc((size_t)size * kMost * sizeof *out);
  int* in = malloc((size_t)size * kMost * sizeof *in);
  if (out == NULL || in == NULL) return 2;
  MPI_Comm_split(merged, rank % 2, 0, &odd_or_even);
  MPI_Comm_dup(merged, &same);
  all_on(merged, out, in);
  all_on(odd_or_even, out, in);
  all_on(same, out, in);
  printf("rank %d is rank %d of the merged ones and got %016llx\n", world, merged_rank, (unsigned long long)got);
  free(out);
  free(in);
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, merged);
  MPI_Comm_free(&same);
  MPI_Comm_free(&odd_or_even);
  MPI_Comm_free(&merged);
  if (half != MPI_COMM_NULL) {
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
  } else {
    MPI_Comm_disconnect(&between);
  }
  MPI_Finalize();
  return wrong == 0 ? 0 : 1;
}
