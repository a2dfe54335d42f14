// SPDX-License-Identifier: BSD-3-Clause
// Random halos of urakata.h against packed Isend and Irecv: neighbours named twice, the own rank, edges that go one
// way, none at all, MPI_PROC_NULL; elements sent twice; one vector for both sides, or two, or others each time; lists,
// or datatypes that are freed at once. Several are under way at once. Each element is looked at when it is said to be
// here.
//
//     random_halos [cases [seed [first]]]
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <urakata.h>

#include "features.h"
#include "random.h"

enum { kMostRanks = 8, kMostEdges = 2 * kMostRanks + 1, kMostHalos = 4, kVectors = 2 };

typedef struct {
  int neighbours, ranks[kMostEdges], nth[kMostEdges], counts[kMostEdges], first[kMostEdges];
  int *indices, total;
} Side;

typedef struct {
  ura_halo* halo;
  Side send, receive;
  int bytes, owned, length, separate;
  unsigned char *vectors[2][kVectors], *expected;  // of both sides, sets in turn
  int set, seen[kMostEdges];
} Halo;

static int wrong = 0;
static unsigned long long seed = 1;
static int current = 0;

static void complain(const char* what) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  fprintf(stderr, "random_halos: seed %llu, case %d, rank %d: %s\n", seed, current, rank, what);
  wrong = 1;
}

static void expect(int code, const char* what) {
  if (code != MPI_SUCCESS) {
    complain(what);
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
}

// How many elements go along the nth edge between two ranks: both can say it.
static int elements(uint64_t draw, int longest, int from, int to, int nth) {
  Random r = random_of(draw, (uint64_t)from * 64 + (uint64_t)to, (uint64_t)nth + 1);
  return one_in(&r, 5) ? 0 : between(&r, 1, longest);
}

static void add(Side* side, int rank) { side->ranks[side->neighbours++] = rank; }

// In another order on each rank, but for those of one rank among themselves.
static void mix(Side* side, uint64_t draw, int longest, int own, int sends, Random* r) {
  shuffle(r, side->ranks, side->neighbours);
  int used[kMostRanks] = {0};
  for (int i = 0; i < side->neighbours; ++i) {
    const int peer = side->ranks[i];
    side->first[i] = side->total;
    side->nth[i] = peer == MPI_PROC_NULL ? 0 : used[peer]++;
    if (peer == MPI_PROC_NULL) {
      side->counts[i] = between(r, 0, 3);
    } else {
      side->counts[i] = elements(draw, longest, sends ? own : peer, sends ? peer : own, side->nth[i]);
    }
    side->total += side->counts[i];
  }
  side->indices = malloc(((size_t)side->total + 1) * sizeof(int));
}

static void make(Halo* h, MPI_Comm comm, Random* shared, Random* own) {
  memset(h, 0, sizeof *h);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  static const int sizes[] = {1, 4, 8, 24};
  h->bytes = sizes[below(shared, 4)];
  const int longest = one_in(shared, 10) ? 12000 : one_in(shared, 3) ? 700 : 9;
  const int symmetric = one_in(shared, 3), sparse = one_in(shared, 2);
  const uint64_t draw = random_next(shared);
  for (int i = 0; i < ranks; ++i) {
    for (int j = 0; j < ranks; ++j) {
      Random r =
          symmetric && j < i ? random_of(draw, (uint64_t)j, (uint64_t)i) : random_of(draw, (uint64_t)i, (uint64_t)j);
      const int edges = one_in(&r, sparse ? 2 : 6) ? 0 : one_in(&r, 4) ? 2 : 1;
      for (int e = 0; e < edges; ++e) {
        if (i == rank) add(&h->send, j);
        if (j == rank) add(&h->receive, i);
      }
    }
  }
  if (one_in(own, 4)) add(&h->send, MPI_PROC_NULL);
  if (one_in(own, 4)) add(&h->receive, MPI_PROC_NULL);
  mix(&h->send, draw, longest, rank, 1, own);
  mix(&h->receive, draw, longest, rank, 0, own);

  h->separate = one_in(own, 3);
  h->owned = between(own, 1, 40) + (one_in(own, 4) ? 2000 : 0);
  const int ghosts = h->receive.total + below(own, 5);
  h->length = h->owned + ghosts;
  const int run = one_in(own, 2);
  for (int i = 0; i < h->send.total; ++i) {
    h->send.indices[i] =
        run && i != 0 && h->send.indices[i - 1] + 1 < h->owned ? h->send.indices[i - 1] + 1 : below(own, h->owned);
  }
  int* places = malloc(((size_t)ghosts + 1) * sizeof(int));
  for (int i = 0; i < ghosts; ++i) places[i] = h->owned + i;
  if (!one_in(own, 3)) shuffle(own, places, ghosts);
  memcpy(h->receive.indices, places, (size_t)h->receive.total * sizeof(int));
  free(places);

  const size_t room = (size_t)h->length * (size_t)h->bytes + 1;
  for (int s = 0; s < kVectors; ++s) {
    h->vectors[0][s] = malloc(room);
    h->vectors[1][s] = h->separate ? malloc(room) : h->vectors[0][s];
  }
  h->expected = malloc(room);
}

static void make_types(const Side* side, int bytes, MPI_Datatype* types) {
  MPI_Datatype element;
  MPI_Type_contiguous(bytes, MPI_BYTE, &element);
  for (int i = 0; i < side->neighbours; ++i) {
    MPI_Type_create_indexed_block(side->counts[i], 1, side->indices + side->first[i], element, &types[i]);
    MPI_Type_commit(&types[i]);
  }
  MPI_Type_free(&element);
}

static void create(Halo* h, MPI_Comm comm, Random* own) {
  if (one_in(own, 2)) {
    const ura_halo_side send = {h->send.neighbours, h->send.ranks, h->send.counts, h->send.indices, h->length};
    const ura_halo_side receive = {h->receive.neighbours, h->receive.ranks, h->receive.counts, h->receive.indices,
                                   h->length};
    expect(ura_halo_create(comm, h->bytes, &send, &receive, &h->halo), "ura_halo_create");
  } else {
    MPI_Datatype send[kMostEdges], receive[kMostEdges];
    make_types(&h->send, h->bytes, send);
    make_types(&h->receive, h->bytes, receive);
    expect(ura_halo_create_types(comm, h->send.neighbours, h->send.ranks, send, h->receive.neighbours, h->receive.ranks,
                                 receive, &h->halo),
           "ura_halo_create_types");
    for (int i = 0; i < h->send.neighbours; ++i) MPI_Type_free(&send[i]);
    for (int i = 0; i < h->receive.neighbours; ++i) MPI_Type_free(&receive[i]);
  }
  if (one_in(own, 3)) expect(ura_halo_name(h->halo, "random halo"), "ura_halo_name");
}

static unsigned char* element(const Halo* h, unsigned char* vector, int index) {
  return vector + (size_t)index * (size_t)h->bytes;
}

// What the exchange is to bring, by other means.
static void bring(Halo* h, MPI_Comm comm) {
  MPI_Request requests[2 * kMostEdges];
  unsigned char *packed[2 * kMostEdges], *from = h->vectors[0][h->set];
  int count = 0;
  for (int i = 0; i < h->receive.neighbours; ++i, ++count) {
    packed[count] = malloc((size_t)(h->receive.counts[i] * h->bytes) + 1);
    MPI_Irecv(packed[count], h->receive.counts[i] * h->bytes, MPI_BYTE, h->receive.ranks[i], h->receive.nth[i], comm,
              &requests[count]);
  }
  for (int i = 0; i < h->send.neighbours; ++i, ++count) {
    packed[count] = malloc((size_t)(h->send.counts[i] * h->bytes) + 1);
    for (int k = 0; k < h->send.counts[i]; ++k) {
      memcpy(packed[count] + (size_t)k * (size_t)h->bytes, element(h, from, h->send.indices[h->send.first[i] + k]),
             (size_t)h->bytes);
    }
    MPI_Isend(packed[count], h->send.counts[i] * h->bytes, MPI_BYTE, h->send.ranks[i], h->send.nth[i], comm,
              &requests[count]);
  }
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  memcpy(h->expected, h->vectors[1][h->set], (size_t)h->length * (size_t)h->bytes);
  for (int i = 0; i < h->receive.neighbours; ++i) {
    if (h->receive.ranks[i] == MPI_PROC_NULL) continue;
    for (int k = 0; k < h->receive.counts[i]; ++k) {
      memcpy(element(h, h->expected, h->receive.indices[h->receive.first[i] + k]),
             packed[i] + (size_t)k * (size_t)h->bytes, (size_t)h->bytes);
    }
  }
  for (int i = 0; i < count; ++i) free(packed[i]);
}

static void look_at(const Halo* h, int neighbour, const char* what) {
  if (h->receive.ranks[neighbour] == MPI_PROC_NULL) return;
  const int* list = h->receive.indices + h->receive.first[neighbour];
  for (int k = 0; k < h->receive.counts[neighbour]; ++k) {
    if (memcmp(element(h, h->vectors[1][h->set], list[k]), element(h, h->expected, list[k]), (size_t)h->bytes) != 0) {
      complain(what);
      return;
    }
  }
}

static void finish(Halo* h, Random* own) {
  const int way = below(own, 4), n = h->receive.neighbours;
  memset(h->seen, 0, sizeof h->seen);
  if (way == 1 || way == 2) {
    int left = way == 1 ? n : below(own, n + 1), which = -1;  // sometimes not all
    while (left > 0) {
      expect(ura_halo_ready_any(h->halo, &which), "ura_halo_ready_any");
      if (which < 0) continue;
      if (which >= n || h->seen[which]++ != 0) complain("ura_halo_ready_any tells of a neighbour twice");
      look_at(h, which, "an element is not here when ura_halo_ready_any says so");
      --left;
    }
    if (way == 1) {
      expect(ura_halo_ready_any(h->halo, &which), "ura_halo_ready_any");
      if (which != -1) complain("ura_halo_ready_any tells of more neighbours than there are");
    }
  }
  for (int i = 0; way == 3 && n > 0 && i < 3; ++i) {
    const int which = below(own, n);
    for (int flag = 0; flag == 0;) expect(ura_halo_ready(h->halo, which, &flag), "ura_halo_ready");
    look_at(h, which, "an element is not here when ura_halo_ready says so");
  }
  expect(ura_halo_end(h->halo), "ura_halo_end");
  if (memcmp(h->vectors[1][h->set], h->expected, (size_t)h->length * (size_t)h->bytes) != 0)
    complain("the vector is wrong");
  memset(h->vectors[0][h->set], 0x33, (size_t)h->owned * (size_t)h->bytes);  // it is ours again
}

static void discard(Halo* h) {
  expect(ura_halo_free(&h->halo), "ura_halo_free");
  if (h->halo != NULL) complain("ura_halo_free leaves a pointer");
  for (int s = 0; s < kVectors; ++s) {
    free(h->vectors[0][s]);
    if (h->separate) free(h->vectors[1][s]);
  }
  free(h->expected);
  free(h->send.indices);
  free(h->receive.indices);
}

static MPI_Comm draw_communicator(Random* shared) {
  int rank = 0;
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  switch (below(shared, 4)) {
    case 0:
      MPI_Comm_split(MPI_COMM_WORLD, rank % 2, -rank, &made);
      break;
    case 1:
      MPI_Comm_dup(MPI_COMM_SELF, &made);
      break;
    case 2:
      MPI_Comm_split(MPI_COMM_WORLD, rank < 2, rank, &made);
      break;
    default:
      MPI_Comm_dup(MPI_COMM_WORLD, &made);
  }
  return made;
}

static void run(void) {
  int world = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &world);
  Random shared = random_of(seed, (uint64_t)current, 0), own = random_of(seed, (uint64_t)current, (uint64_t)world + 1);
  MPI_Comm comm = draw_communicator(&shared);
  const int halos = between(&shared, 1, kMostHalos), exchanges = between(&shared, 1, 6);
  Halo all[kMostHalos];
  int order[kMostHalos];
  for (int i = 0; i < halos; ++i) {
    order[i] = i;
    make(&all[i], comm, &shared, &own);
    create(&all[i], comm, &own);
  }
  for (int s = 0; s < exchanges; ++s) {
    if (one_in(&own, 3)) usleep((useconds_t)below(&own, 300));  // some are late
    for (int i = 0; i < halos; ++i) {
      Halo* h = &all[i];
      h->set = below(&own, kVectors);
      for (int k = 0; k < h->length * h->bytes; ++k) h->vectors[0][h->set][k] = (unsigned char)random_next(&own);
      if (h->separate) memset(h->vectors[1][h->set], 0x55, (size_t)h->length * (size_t)h->bytes);
      bring(h, comm);
    }
    shuffle(&own, order, halos);
    for (int i = 0; i < halos; ++i) {
      const Halo* h = &all[order[i]];
      expect(ura_halo_begin(h->halo, h->vectors[0][h->set], h->vectors[1][h->set]), "ura_halo_begin");
    }
    shuffle(&own, order, halos);
    for (int i = 0; i < halos; ++i) {
      finish(&all[order[i]], &own);
      if (s + 1 == exchanges) discard(&all[order[i]]);  // neighbours may be in it yet
    }
  }
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  const int cases = argc > 1 ? atoi(argv[1]) : 50;
  seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  const int first = argc > 3 ? atoi(argv[3]) : 0;
  int rank = 0, ranks = 0, any = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks > kMostRanks) MPI_Abort(MPI_COMM_WORLD, 2);
  if (rank == 0) printf("random_halos: seed %llu, %d cases\n", seed, cases);
  for (current = first; current < first + cases; ++current) run();
  MPI_Allreduce(&wrong, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  if (rank == 0) printf("random_halos: %s\n", any ? "WRONG" : "right");
  MPI_Finalize();
  return any;
}
