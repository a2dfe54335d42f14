// SPDX-License-Identifier: BSD-3-Clause
// Messages of every kind, each of which has a number of bytes of its own, for the time line. Three ranks or more; every
// rank sends to the next one. Prints "message SENDER RECEIVER BYTES TAG" for each; then rank 1 comes late to
// collectives.
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { kRoom = 1 << 16, kAtATime = 4, kRounds = 6 };
static char out[kAtATime][kRoom], in[kAtATime][kRoom];
static int world_rank, world_size, rank, size, next_bytes;

// The bytes of the next message from a rank are the same as the receiver thinks.
static int bytes_from(int from, int number) { return 8 + (from * 997 + number * 13) * 4 % (kRoom / 2) + number; }

static void told(int bytes, int tag, int to_world) {
  printf("message %d %d %d %d\n", world_rank, to_world, bytes, tag);
}

static void round_on(MPI_Comm comm, int kind) {
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int to = (rank + 1) % size;
  const int from = (rank + size - 1) % size;
  MPI_Group own;
  MPI_Group all;
  MPI_Comm_group(comm, &own);
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  int worlds[2];
  MPI_Group_translate_ranks(own, 2, (int[]){to, from}, all, worlds);
  MPI_Group_free(&own);
  MPI_Group_free(&all);
  int bytes[kAtATime];
  int coming[kAtATime];
  const int tag = kind % 3;
  for (int i = 0; i < kAtATime; ++i, ++next_bytes) {
    bytes[i] = bytes_from(world_rank, next_bytes);
    coming[i] = bytes_from(worlds[1], next_bytes);
    told(bytes[i], tag, worlds[0]);
  }
  MPI_Request requests[2 * kAtATime];
  MPI_Status statuses[2 * kAtATime];
  switch (kind) {
    case 0:  // one after the other, found by Test in another order than they were posted in
      for (int i = 0; i < kAtATime; ++i) MPI_Irecv(in[i], coming[i], MPI_BYTE, from, tag, comm, &requests[i]);
      for (int i = 0; i < kAtATime; ++i) MPI_Send(out[i], bytes[i], MPI_BYTE, to, tag, comm);
      for (int i = kAtATime - 1; i >= 0; --i) {
        for (int flag = 0; !flag; sched_yield()) MPI_Test(&requests[i], &flag, MPI_STATUS_IGNORE);
      }
      break;
    case 1:  // all at once, from any source with any tag
      for (int i = 0; i < kAtATime; ++i) {
        MPI_Irecv(in[i], kRoom, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, &requests[i]);
        MPI_Isend(out[i], bytes[i], MPI_BYTE, to, tag, comm, &requests[kAtATime + i]);
      }
      MPI_Waitall(2 * kAtATime, requests, MPI_STATUSES_IGNORE);
      break;
    case 2:
      for (int i = 0; i < kAtATime; ++i) {
        MPI_Sendrecv(out[i], bytes[i], MPI_BYTE, to, tag, in[i], coming[i], MPI_BYTE, from, tag, comm,
                     MPI_STATUS_IGNORE);
      }
      break;
    case 3:  // persistent, by Waitany
      for (int i = 0; i < kAtATime; ++i) {
        MPI_Recv_init(in[i], coming[i], MPI_BYTE, from, tag, comm, &requests[i]);
        MPI_Send_init(out[i], bytes[i], MPI_BYTE, to, tag, comm, &requests[kAtATime + i]);
      }
      MPI_Startall(kAtATime, requests);
      for (int i = 0; i < kAtATime; ++i) MPI_Start(&requests[kAtATime + i]);
      for (int i = 0; i < 2 * kAtATime; ++i) {
        int index;
        MPI_Waitany(2 * kAtATime, requests, &index, MPI_STATUS_IGNORE);
      }
      for (int i = 0; i < 2 * kAtATime; ++i) MPI_Request_free(&requests[i]);
      break;
    case 4:  // synchronous ones, by Testsome and Waitsome
      for (int i = 0; i < kAtATime; ++i) {
        MPI_Issend(out[i], bytes[i], MPI_BYTE, to, tag, comm, &requests[i]);
        MPI_Irecv(in[i], coming[i], MPI_BYTE, from, tag, comm, &requests[kAtATime + i]);
      }
      for (int done = 0, turn = 0; done < 2 * kAtATime; ++turn) {
        int count;
        int indices[2 * kAtATime];
        (turn % 2 ? MPI_Waitsome : MPI_Testsome)(2 * kAtATime, requests, &count, indices, statuses);
        done += count;
      }
      break;
    default:  // blocking receives
      for (int i = 0; i < kAtATime; ++i) {
        MPI_Isend(out[i], bytes[i], MPI_BYTE, to, tag, comm, &requests[i]);
        MPI_Recv(in[i], coming[i], MPI_BYTE, from, tag, comm, i % 2 ? &statuses[0] : MPI_STATUS_IGNORE);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      }
  }
}

int main(int count, char** argument) {
  MPI_Init(&count, &argument);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &world_size);
  MPI_Comm same;
  MPI_Comm turned;
  MPI_Comm_dup(MPI_COMM_WORLD, &same);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -world_rank, &turned);
  for (int kind = 0; kind < kRounds; ++kind) {
    // What is sent on two communicators meets in another order than it was sent in.
    MPI_Request early;
    const int to = (world_rank + 1) % world_size;
    const int from = (world_rank + world_size - 1) % world_size;
    const int bytes = kRoom / 2 + 100 * world_rank + kind;
    MPI_Isend(out[0], bytes, MPI_BYTE, to, kind % 3, same, &early);
    told(bytes, kind % 3, to);
    round_on(MPI_COMM_WORLD, kind);
    round_on(turned, kind);
    MPI_Recv(in[0], kRoom, MPI_BYTE, from, kind % 3, same, MPI_STATUS_IGNORE);
    MPI_Wait(&early, MPI_STATUS_IGNORE);
  }
  MPI_Comm_free(&turned);
  MPI_Comm_free(&same);
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank == 1) usleep(60000);  // no event is waited for: being late is what the time line is to show
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (world_rank == 1) usleep(40000);
  MPI_Request request;
  MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Finalize();
  return sum != world_size * world_size;
}
