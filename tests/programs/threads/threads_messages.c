// SPDX-License-Identifier: BSD-3-Clause
// MPI_THREAD_MULTIPLE: the threads of each rank exchange messages at once on one communicator, thread t with the
// threads t of all ranks, by a tag for each round: from any source and from one, probed and not. Every byte is checked,
// and that messages of one sender come in the order in which they were sent.
//
//     threads_messages [THREADS [ROUNDS]]        exit code 77: the MPI library does not give MPI_THREAD_MULTIPLE
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "need_threads.h"
#include "random.h"

enum { kMostThreads = 8, kMostRanks = 16, kMost = 64, kLargest = 300000 };

typedef struct {
  int number, tag, rounds;
  long wrong, received;
} Work;

static int rank, ranks;

static unsigned char byte_of(int source, int tag, int number, int at) {
  return (unsigned char)(source * 53 + tag * 17 + number * 7 + at * 3 + at / 251);
}

static int bytes_of(Random* r) {
  if (one_in(r, 60)) return between(r, 100000, kLargest);
  if (one_in(r, 6)) return between(r, 250, 5000);
  return between(r, 8, 80);
}

static void fill(unsigned char* to, int tag, int number, int bytes) {
  memcpy(to, &rank, 4);
  memcpy(to + 4, &number, 4);
  for (int i = 8; i < bytes; ++i) to[i] = byte_of(rank, tag, number, i);
}

static void check(Work* work, const unsigned char* from, const MPI_Status* status, int* next) {
  int source, number, bytes;
  memcpy(&source, from, 4);
  memcpy(&number, from + 4, 4);
  MPI_Get_count(status, MPI_BYTE, &bytes);
  int wrong = source != status->MPI_SOURCE || status->MPI_TAG != work->tag || number < next[status->MPI_SOURCE];
  for (int i = 8; i < bytes && !wrong; ++i) wrong = from[i] != byte_of(source, work->tag, number, i);
  next[status->MPI_SOURCE] = number + 1;
  work->wrong += wrong;
  ++work->received;
}

// Each rank sends the planned messages, and receives those for it: first some from any source, then the rest by source.
static void play(Work* work, int round, unsigned char** out, unsigned char** in) {
  work->tag = round * kMostThreads + work->number;
  Random shared = random_of(7, (uint64_t)round, (uint64_t)work->number);
  Random own = random_of(8, (uint64_t)(round * kMostRanks + rank), (uint64_t)work->number);
  MPI_Request requests[2 * kMost];
  MPI_Status statuses[2 * kMost];
  const int n = between(&shared, 1, kMost);
  int left[kMostRanks] = {0}, next[kMostRanks] = {0};
  int sends = 0, receives = 0, mine = 0;
  for (int i = 0; i < n; ++i) {
    const int source = below(&shared, ranks), dest = below(&shared, ranks), bytes = bytes_of(&shared);
    if (source == rank) {
      fill(out[sends], work->tag, i, bytes);
      if (one_in(&own, 4)) {
        MPI_Issend(out[sends], bytes, MPI_BYTE, dest, work->tag, MPI_COMM_WORLD, &requests[kMost + sends]);
      } else {
        MPI_Isend(out[sends], bytes, MPI_BYTE, dest, work->tag, MPI_COMM_WORLD, &requests[kMost + sends]);
      }
      ++sends;
    }
    if (dest == rank) {
      ++left[source];
      ++mine;
    }
  }
  const int wild = below(&own, mine + 1);
  for (; receives < wild; ++receives) {
    MPI_Irecv(in[receives], kLargest, MPI_BYTE, MPI_ANY_SOURCE, work->tag, MPI_COMM_WORLD, &requests[receives]);
  }
  // Whatever the wild ones take, so many of each source remain.
  for (int s = 0; s < ranks; ++s) {
    for (int i = wild; i < left[s]; ++i, ++receives) {
      MPI_Irecv(in[receives], kLargest, MPI_BYTE, s, work->tag, MPI_COMM_WORLD, &requests[receives]);
    }
  }
  MPI_Waitall(receives, requests, statuses);
  for (int i = 0; i < receives; ++i) check(work, in[i], &statuses[i], next);
  for (; receives < mine; ++receives) {
    MPI_Message message;
    MPI_Status status;
    MPI_Mprobe(MPI_ANY_SOURCE, work->tag, MPI_COMM_WORLD, &message, &status);
    MPI_Mrecv(in[0], kLargest, MPI_BYTE, &message, &status);
    check(work, in[0], &status, next);
  }
  MPI_Waitall(sends, requests + kMost, MPI_STATUSES_IGNORE);
}

static void* work(void* argument) {
  Work* work = argument;
  unsigned char *out[kMost], *in[kMost];
  for (int i = 0; i < kMost; ++i) {
    out[i] = malloc(kLargest);
    in[i] = malloc(kLargest);
  }
  for (int round = 0; round < work->rounds; ++round) play(work, round, out, in);
  for (int i = 0; i < kMost; ++i) {
    free(out[i]);
    free(in[i]);
  }
  return NULL;
}

int main(int argc, char** argv) {
  need_threads(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int threads = argc > 1 ? atoi(argv[1]) : 3;
  if (ranks > kMostRanks || threads > kMostThreads) MPI_Abort(MPI_COMM_WORLD, 2);
  pthread_t running[kMostThreads];
  Work works[kMostThreads];
  long sums[2] = {0}, all[2] = {0};
  for (int t = 0; t < threads; ++t) {
    works[t] = (Work){t, 0, argc > 2 ? atoi(argv[2]) : 20, 0, 0};
    pthread_create(&running[t], NULL, work, &works[t]);
  }
  for (int t = 0; t < threads; ++t) {
    pthread_join(running[t], NULL);
    sums[0] += works[t].wrong;
    sums[1] += works[t].received;
  }
  MPI_Allreduce(sums, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%ld messages, %ld wrong\n", all[1], all[0]);
  MPI_Finalize();
  return all[0] != 0;
}
