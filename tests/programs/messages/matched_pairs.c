// SPDX-License-Identifier: BSD-3-Clause
// Persistent requests that are started again and again, mixed with everything that could take their messages or be
// taken by their receives: ordinary sends and receives, probes, wildcards, cancels, requests that are freed and made
// anew, senders that run ahead. Each message says who sent it, with what tag, and its number; a receiver checks every
// byte, and that messages of one sender with one tag come in the order in which they were sent.
//
// matched_pairs [--rounds N] [--seed S]
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"

enum { kRanks = 8, kTags = 3, kDeep = 12, kHeader = 16, kLargest = 70000, kMost = kRanks * kTags * kDeep };

static const int sizes[] = {16, 24, 48, 56, 200, 256, 300, 5000, 70000};

typedef struct {
  MPI_Request request;  // persistent; MPI_REQUEST_NULL: none yet
  int active;
  unsigned char* memory;
} Persistent;

typedef struct {
  MPI_Request request;
  unsigned char* memory;  // belongs to `of` where that is not NULL
  Persistent* of;
  MPI_Status status;
} Part;

static int rank, ranks;
static unsigned long long seed = 1;
static MPI_Comm comm;
static Persistent out[kRanks][kTags], in[kRanks][kTags];
static int sent[kRanks][kTags], received[kRanks][kTags];
static Part sends[kMost], receives[kMost];
static long checked;

static void fail(const char* what, int a, int b) {
  fprintf(stderr, "matched_pairs: rank %d, seed %llu: %s (%d, %d)\n", rank, seed, what, a, b);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned char* memory(int bytes) {
  unsigned char* made = malloc((size_t)bytes);
  if (made == NULL) fail("no memory", bytes, 0);
  return made;
}

static int size_of(int from, int to, int tag) {
  return sizes[(from * 7 + to * 3 + tag * 5) % (int)(sizeof sizes / sizeof *sizes)];
}

static unsigned char byte_of(int source, int tag, int number, int at) {
  return (unsigned char)(source * 53 + tag * 17 + number * 7 + at * 3 + at / 251);
}

static void compose(unsigned char* to, int dest, int tag) {
  const int bytes = size_of(rank, dest, tag), number = sent[dest][tag]++;
  const int header[4] = {rank, tag, number, bytes};
  for (int i = kHeader; i < bytes; ++i) to[i] = byte_of(rank, tag, number, i);
  memcpy(to, header, kHeader);
}

static void check(const Part* part) {
  int header[4], bytes;
  memcpy(header, part->memory, kHeader);
  MPI_Get_count(&part->status, MPI_BYTE, &bytes);
  if (header[0] != part->status.MPI_SOURCE) fail("source", header[0], part->status.MPI_SOURCE);
  if (header[1] != part->status.MPI_TAG) fail("tag", header[1], part->status.MPI_TAG);
  if (header[3] != bytes) fail("bytes", header[3], bytes);
  if (header[2] != received[header[0]][header[1]]++) fail("number of, tag", header[2], header[1]);
  for (int i = kHeader; i < bytes; ++i) {
    if (part->memory[i] != byte_of(header[0], header[1], header[2], i)) fail("payload at, of", i, bytes);
  }
  ++checked;
}

// A message of this rank's; by its persistent request, where that is free, in `calm` rounds nearly always.
static void start_send(int dest, int tag, int calm, Random* r, Part* part) {
  const int bytes = size_of(rank, dest, tag);
  Persistent* own = &out[dest][tag];
  memset(part, 0, sizeof *part);
  if (!own->active && (calm ? !one_in(r, 60) : one_in(r, 2))) {
    if (own->request == MPI_REQUEST_NULL) {
      own->memory = memory(bytes);
      if (one_in(r, 8)) {
        MPI_Ssend_init(own->memory, bytes, MPI_BYTE, dest, tag, comm, &own->request);
      } else {
        MPI_Send_init(own->memory, bytes, MPI_BYTE, dest, tag, comm, &own->request);
      }
    }
    part->of = own;
    part->memory = own->memory;
    compose(part->memory, dest, tag);
    own->active = 1;
    MPI_Start(&own->request);
    part->request = own->request;
    return;
  }
  part->memory = memory(bytes);
  compose(part->memory, dest, tag);
  if (one_in(r, 3)) {
    MPI_Issend(part->memory, bytes, MPI_BYTE, dest, tag, comm, &part->request);
  } else {
    MPI_Isend(part->memory, bytes, MPI_BYTE, dest, tag, comm, &part->request);
  }
}

static void probe(int source, int tag) {
  int flag;
  MPI_Status found;
  MPI_Iprobe(source, tag, comm, &flag, &found);
  if (!flag || source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG) return;
  int bytes;
  MPI_Get_count(&found, MPI_BYTE, &bytes);
  if (bytes != size_of(source, rank, tag)) fail("probed bytes", bytes, size_of(source, rank, tag));
}

// A receive of a message from `source`; both may be wildcards.
static void start_receive(int source, int tag, int calm, Random* r, Part* part) {
  memset(part, 0, sizeof *part);
  const int wild = source == MPI_ANY_SOURCE || tag == MPI_ANY_TAG;
  Persistent* own = wild ? NULL : &in[source][tag];
  if (!wild && !own->active && (calm ? !one_in(r, 60) : one_in(r, 2))) {
    if (own->request == MPI_REQUEST_NULL) {
      own->memory = memory(kLargest);
      MPI_Recv_init(own->memory, kLargest, MPI_BYTE, source, tag, comm, &own->request);
    }
    part->of = own;
    part->memory = own->memory;
    own->active = 1;
    if (one_in(r, 2)) {
      MPI_Start(&own->request);
    } else {
      MPI_Startall(1, &own->request);
    }
    part->request = own->request;
    return;
  }
  if (one_in(r, 8)) probe(source, one_in(r, 2) ? tag : MPI_ANY_TAG);
  part->memory = memory(kLargest);
  MPI_Irecv(part->memory, kLargest, MPI_BYTE, source, tag, comm, &part->request);
}

static void complete(Part* parts, int n, Random* r) {
  static MPI_Request requests[kMost];
  static MPI_Status statuses[kMost];
  static int indices[kMost];
  for (int i = 0; i < n; ++i) requests[i] = parts[i].request;
  const int way = below(r, 5);
  int flag = 0;
  if (way == 0) {
    for (int i = n - 1; i >= 0; --i) MPI_Wait(&requests[i], &statuses[i]);
  } else if (way == 1) {
    while (!flag) MPI_Testall(n, requests, &flag, statuses);
  } else if (way == 2) {
    for (int left = n; left > 0;) {
      MPI_Status some[kMost];
      int done;
      MPI_Waitsome(n, requests, &done, indices, some);
      if (done == MPI_UNDEFINED) fail("nothing active", left, n);
      for (int k = 0; k < done; ++k) statuses[indices[k]] = some[k];
      left -= done;
    }
  } else if (way == 3) {
    for (int i = 0; i < n; ++i)
      for (flag = 0; !flag;) MPI_Test(&requests[i], &flag, &statuses[i]);
  } else {
    MPI_Waitall(n, requests, statuses);
  }
  for (int i = 0; i < n; ++i) parts[i].status = statuses[i];
}

static void drop(Part* part) {
  if (part->of != NULL) {
    part->of->active = 0;
  } else {
    free(part->memory);
  }
}

static void forget(Persistent* own) {
  if (own->request == MPI_REQUEST_NULL) return;
  MPI_Request_free(&own->request);
  free(own->memory);
}

// A start of an idle persistent receive that nothing is for is taken back.
static void cancel_one(int source, int tag) {
  Persistent* own = &in[source][tag];
  if (own->request == MPI_REQUEST_NULL) return;
  int cancelled;
  MPI_Status status;
  MPI_Start(&own->request);
  MPI_Cancel(&own->request);
  MPI_Wait(&own->request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  if (!cancelled) fail("a receive that nothing matches was not cancelled", source, tag);
}

static void play_round(Random shared, Random* own) {
  // In a wild round wildcards take any message of that round; the rounds beside it are kept apart.
  const int wild = one_in(&shared, 25), calm = !wild && !one_in(&shared, 8);
  int order[kMost][3], mine = 0, outgoing = 0, incoming = 0;
  if (wild) MPI_Barrier(comm);
  for (int from = 0; from < ranks; ++from) {
    for (int to = 0; to < ranks; ++to) {
      for (int tag = 0; tag < kTags; ++tag) {
        int n = calm ? !one_in(&shared, 4) : below(&shared, 4);
        if (one_in(&shared, 100)) n = kDeep;
        for (int i = 0; i < n; ++i) {
          if (from == rank) order[mine][0] = 0, order[mine][1] = to, order[mine++][2] = tag;
          if (to == rank) order[mine][0] = 1, order[mine][1] = from, order[mine++][2] = tag;
          if (mine + 2 > kMost) fail("too many messages", mine, kMost);
        }
      }
    }
  }
  // Messages of one kind stay in their order; sends and receives are mixed. Some ranks send first, some receive first.
  const int first = below(own, 3);
  for (int pass = 0; pass < 2; ++pass) {
    for (int i = 0; i < mine; ++i) {
      const int receive = order[i][0];
      if (first < 2 ? receive != (pass ^ first) : pass == 1) continue;
      if (receive) {
        start_receive(wild ? MPI_ANY_SOURCE : order[i][1], wild ? MPI_ANY_TAG : order[i][2], calm, own,
                      &receives[incoming++]);
      } else {
        start_send(order[i][1], order[i][2], calm, own, &sends[outgoing++]);
      }
    }
  }
  if (one_in(own, 2)) {
    complete(receives, incoming, own);
    complete(sends, outgoing, own);
  } else {
    complete(sends, outgoing, own);
    complete(receives, incoming, own);
  }
  for (int i = 0; i < incoming; ++i) check(&receives[i]);
  for (int i = 0; i < incoming; ++i) drop(&receives[i]);
  for (int i = 0; i < outgoing; ++i) drop(&sends[i]);
  if (one_in(own, 40)) forget(&out[below(own, ranks)][below(own, kTags)]);
  if (one_in(own, 40)) forget(&in[below(own, ranks)][below(own, kTags)]);
  if (wild) {
    MPI_Barrier(comm);
    cancel_one(below(own, ranks), below(own, kTags));
    MPI_Barrier(comm);
  }
}

int main(int argc, char** argv) {
  int rounds = 300;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--rounds") == 0) rounds = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
  }
  if (ranks > kRanks) fail("too many ranks", ranks, kRanks);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < kRanks * kTags; ++i) {
    out[i / kTags][i % kTags].request = in[i / kTags][i % kTags].request = MPI_REQUEST_NULL;
  }
  for (int round = 0; round < rounds; ++round) {
    Random own = random_of(seed, (uint64_t)round, (uint64_t)rank + 1);
    play_round(random_of(seed, (uint64_t)round, 0), &own);
  }
  for (int i = 0; i < ranks * kTags; ++i) {
    forget(&out[i / kTags][i % kTags]);
    if (i % 2 == 0) forget(&in[i / kTags][i % kTags]);  // the others are left to MPI_Finalize
  }
  MPI_Comm_free(&comm);
  long all = 0;
  MPI_Reduce(&checked, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%ld messages, seed %llu\n", all, seed);
  MPI_Finalize();
  return 0;
}
