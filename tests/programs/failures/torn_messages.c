// SPDX-License-Identifier: BSD-3-Clause
// All ranks exchange with all others, round after round: messages of all sizes, persistent ones, a persistent
// neighbourhood collective and a halo of urakata.h for each pair; and in each round all make a ring, whose plan is new.
// Now and then one of the TCP connections that carry these is torn down, in turn one of the messages' and one of the
// plans'. Whatever needed it ends with an error, everything else arrives whole, and nothing hangs. The host's own
// connections stay, so that its barrier keeps the rounds together.
//
//     torn_messages SEED TEARS
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <urakata.h>

enum { MOST_RANKS = 16, MESSAGES = 6, LARGEST = 1 << 20, MOST_FILES = 4096, RING_BYTES = 20000 };
enum { PERSISTENT_TAG = 98, NEVER_TAG = 99 };
// What else goes between a pair in each round, for byte_of(); and a round of which the sizes of these are.
enum { PERSISTENT = MESSAGES, EXCHANGE, HALO, RING, EVERY_ROUND = -1 };

static int rank, ranks;
static unsigned long long seed;
enum { OF_MESSAGES, OF_PLANS, OF_NATIVE };
static unsigned char kinds[MOST_FILES];  // of connections, by descriptor
static int lost[MOST_RANKS];
static unsigned char *out[MOST_RANKS][MESSAGES], *in[MOST_RANKS][MESSAGES];

// What stays from round to round, with each other rank.
typedef struct {
  MPI_Request send, receive;
  int sent, received;  // bytes of the persistent messages
  unsigned char *sending, *receiving;
  MPI_Comm comm, graph;  // of the two
  MPI_Request exchange;
  ura_halo* halo;
  int exchanged, swapped;           // bytes of the collective and of the halo, each way
  unsigned char *leaving, *coming;  // of the collective
  unsigned char* vector;            // of the halo: the own half, and that of the other rank
} Pair;
static Pair pairs[MOST_RANKS];
static int plans_lost[MOST_RANKS];

static struct {
  MPI_Comm comm;
  MPI_Request request;
  int left, right;
  unsigned char leaving[2 * RING_BYTES], coming[2 * RING_BYTES];
} ring;

// The same on all ranks for the same arguments.
static unsigned long long draw(int a, int b, int c, int d) {
  unsigned long long x = seed * 0x9e3779b97f4a7c15ULL + (unsigned long long)(a * 1000003 + b * 10007 + c * 101 + d);
  for (int i = 0; i < 3; ++i) x ^= x >> 31, x *= 0xbf58476d1ce4e5b9ULL;
  return x ^ x >> 29;
}

static int size_of(int from, int to, int round, int message) {
  static const int most[] = {16, 3000, 70000, 300000, LARGEST};
  const unsigned long long drawn = draw(from * MOST_RANKS + to, round, message, 1);
  return (int)(drawn / 8 % (unsigned long long)most[drawn % 5]);
}

static unsigned char* bytes_of(size_t count) {
  unsigned char* const made = calloc(count, 1);
  if (!made) MPI_Abort(MPI_COMM_WORLD, 2);
  return made;
}

static unsigned char byte_of(int from, int to, int round, int message, int at) {
  return (unsigned char)(from * 7 + to * 3 + round * 5 + message + at + at / 251);
}

static void fill(unsigned char* bytes, int count, int to, int round, int message) {
  for (int at = 0; at < count; ++at) bytes[at] = byte_of(rank, to, round, message, at);
}

static void bad(const char* what, int other, int round) {
  fprintf(stderr, "torn_messages, seed %llu: rank %d, round %d: %s rank %d\n", seed, rank, round, what, other);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void look(const unsigned char* bytes, int count, int from, int round, int message) {
  for (int at = 0; at < count; ++at)
    if (bytes[at] != byte_of(from, rank, round, message, at)) bad("something else arrived from", from, round);
}

static int is_connection(int descriptor) {
  struct sockaddr_storage peer;
  socklen_t length = sizeof peer;
  return descriptor < MOST_FILES && getpeername(descriptor, (struct sockaddr*)&peer, &length) == 0 &&
         (peer.ss_family == AF_INET || peer.ss_family == AF_INET6);
}

// Calls `visit` for each TCP connection of the process.
static void each_connection(void (*visit)(int descriptor)) {
  DIR* const directory = opendir("/proc/self/fd");
  for (const struct dirent* entry; directory && (entry = readdir(directory));) {
    const int descriptor = atoi(entry->d_name);
    if (is_connection(descriptor)) visit(descriptor);
  }
  if (directory) closedir(directory);
}

static void note_native(int descriptor) { kinds[descriptor] = OF_NATIVE; }
static void note_plans(int descriptor) {
  if (kinds[descriptor] != OF_NATIVE) kinds[descriptor] = OF_PLANS;
}

static int wanted, candidates[MOST_FILES], candidate_count;
static void collect(int descriptor) {
  if (kinds[descriptor] == wanted) candidates[candidate_count++] = descriptor;
}

static void tear_one(int round) {
  wanted = round / 2 % 2 ? OF_PLANS : OF_MESSAGES;
  candidate_count = 0;
  each_connection(collect);
  if (candidate_count == 0) return;
  const int torn = candidates[draw(rank, round, 0, 2) % (unsigned long long)candidate_count];
  shutdown(torn, draw(rank, round, 0, 3) % 2 ? SHUT_RDWR : SHUT_WR);
}

// --- plans -----------------------------------------------------------------------------------------------------------

static int begin_with(int other, int round) {
  Pair* const p = &pairs[other];
  fill(p->leaving, p->exchanged, other, round, EXCHANGE);
  fill(p->vector, p->swapped, other, round, HALO);
  if (MPI_Start(&p->exchange) != MPI_SUCCESS) return 0;
  if (ura_halo_begin(p->halo, p->vector, p->vector) == MPI_SUCCESS) return 1;
  MPI_Wait(&p->exchange, MPI_STATUS_IGNORE);
  return 0;
}

// Returns whether both have ended well.
static int end_with(int other, int round) {
  Pair* const p = &pairs[other];
  const int exchanged = MPI_Wait(&p->exchange, MPI_STATUS_IGNORE) == MPI_SUCCESS;
  const int swapped = ura_halo_end(p->halo) == MPI_SUCCESS;
  if (exchanged) look(p->coming, p->exchanged, other, round, EXCHANGE);
  if (swapped) look(p->vector + p->swapped, p->swapped, other, round, HALO);
  return exchanged && swapped;
}

// As long for both: it goes both ways.
static int size_both_ways(int other, int message) {
  return 1 + (rank < other ? size_of(rank, other, EVERY_ROUND, message) : size_of(other, rank, EVERY_ROUND, message));
}

static void make_plans(int other) {
  Pair* const p = &pairs[other];
  const int peer = rank < other, one = 1, mine = 0, theirs = 1;  // ranks of the pair, and indices of its vector
  p->exchanged = size_both_ways(other, EXCHANGE);
  p->swapped = size_both_ways(other, HALO);
  p->leaving = bytes_of(LARGEST);
  p->coming = bytes_of(LARGEST);
  p->vector = bytes_of(2 * LARGEST);
  MPI_Comm_set_errhandler(p->comm, MPI_ERRORS_RETURN);
  MPI_Dist_graph_create_adjacent(p->comm, 1, &peer, MPI_UNWEIGHTED, 1, &peer, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &p->graph);
  MPI_Comm_set_errhandler(p->graph, MPI_ERRORS_RETURN);
  const ura_halo_side send = {1, &peer, &one, &mine, 2}, receive = {1, &peer, &one, &theirs, 2};
  if (MPI_Neighbor_alltoall_init(p->leaving, p->exchanged, MPI_BYTE, p->coming, p->exchanged, MPI_BYTE, p->graph,
                                 MPI_INFO_NULL, &p->exchange) ||
      ura_halo_create(p->comm, p->swapped, &send, &receive, &p->halo))
    bad("no plans with", other, EVERY_ROUND);
}

// Those of all pairs, and each has exchanged once: their connections are there.
static void make_all_plans(void) {
  for (int a = 0; a < ranks; ++a)
    for (int b = a + 1; b < ranks; ++b) {
      MPI_Comm made;
      const int member = rank == a || rank == b, other = rank == a ? b : a;
      MPI_Comm_split(MPI_COMM_WORLD, member ? 0 : MPI_UNDEFINED, rank, &made);
      if (!member) continue;
      pairs[other].comm = made;
      make_plans(other);
    }
  for (int other = 0; other < ranks; ++other)
    if (other != rank && !begin_with(other, EVERY_ROUND)) bad("no exchange begins with", other, EVERY_ROUND);
  for (int other = 0; other < ranks; ++other)
    if (other != rank && !end_with(other, EVERY_ROUND)) bad("no exchange ends well with", other, EVERY_ROUND);
}

static void make_messages(int other) {
  Pair* const p = &pairs[other];
  p->sent = size_of(rank, other, EVERY_ROUND, PERSISTENT);
  p->received = size_of(other, rank, EVERY_ROUND, PERSISTENT);
  p->sending = bytes_of(LARGEST);
  p->receiving = bytes_of(LARGEST);
  MPI_Send_init(p->sending, p->sent, MPI_BYTE, other, PERSISTENT_TAG, MPI_COMM_WORLD, &p->send);
  MPI_Recv_init(p->receiving, LARGEST, MPI_BYTE, other, PERSISTENT_TAG, MPI_COMM_WORLD, &p->receive);
}

static void free_pair(int other) {
  Pair* const p = &pairs[other];
  MPI_Request_free(&p->send);
  MPI_Request_free(&p->receive);
  MPI_Request_free(&p->exchange);
  ura_halo_free(&p->halo);
  MPI_Comm_free(&p->graph);
  MPI_Comm_free(&p->comm);
}

static void begin_ring(int round) {
  ring.left = (rank + ranks - 1) % ranks;
  ring.right = (rank + 1) % ranks;
  const int both[2] = {ring.left, ring.right};
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, both, MPI_UNWEIGHTED, 2, both, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &ring.comm);
  MPI_Comm_set_errhandler(ring.comm, MPI_ERRORS_RETURN);
  for (int side = 0; side < 2; ++side) fill(ring.leaving + side * RING_BYTES, RING_BYTES, both[side], round, RING);
  if (MPI_Neighbor_alltoall_init(ring.leaving, RING_BYTES, MPI_BYTE, ring.coming, RING_BYTES, MPI_BYTE, ring.comm,
                                 MPI_INFO_NULL, &ring.request) ||
      MPI_Start(&ring.request))
    bad("no ring with", ring.right, round);
}

// Where a connection to a neighbour was lost before, it ends with an error.
static void end_ring(int round, int broken) {
  if (MPI_Wait(&ring.request, MPI_STATUS_IGNORE) == MPI_SUCCESS) {
    if (broken) bad("a ring ends well without", plans_lost[ring.left] ? ring.left : ring.right, round);
    look(ring.coming, RING_BYTES, ring.left, round, RING);
    look(ring.coming + RING_BYTES, RING_BYTES, ring.right, round, RING);
  }
  MPI_Request_free(&ring.request);
  MPI_Comm_free(&ring.comm);
}

// --- rounds ----------------------------------------------------------------------------------------------------------

// Waits for a request of an exchange with `other`. Returns whether it was completed.
static int ended_well(MPI_Request* request, int other) {
  if (MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS) return 1;
  lost[other] = 1;
  return 0;
}

static int started(MPI_Request* request, int other) {
  if (MPI_Start(request) == MPI_SUCCESS) return 1;
  lost[other] = 1;
  return 0;
}

static void look_for_a_while(int round, const int used[MOST_RANKS], MPI_Request receives[MOST_RANKS][MESSAGES]) {
  for (unsigned long long looks = draw(rank, round, 0, 4) % 300; looks != 0; --looks) {
    int flag;
    for (int other = 0; other < ranks; ++other)
      if (used[other] && receives[other][0] != MPI_REQUEST_NULL)
        MPI_Request_get_status(receives[other][0], &flag, MPI_STATUS_IGNORE);
  }
}

static void run_round(int round, int tears) {
  MPI_Request receives[MOST_RANKS][MESSAGES], sends[MOST_RANKS][MESSAGES];
  int used[MOST_RANKS], planned[MOST_RANKS], sent[MOST_RANKS], received[MOST_RANKS];
  begin_ring(round);
  const int broken = plans_lost[ring.left] || plans_lost[ring.right];
  for (int other = 0; other < ranks; ++other) {
    used[other] = other != rank && !lost[other];
    planned[other] = other != rank && !plans_lost[other];
    for (int i = 0; used[other] && i < MESSAGES; ++i) {
      receives[other][i] = sends[other][i] = MPI_REQUEST_NULL;
      const int bytes = size_of(rank, other, round, i);
      fill(out[other][i], bytes, other, round, i);
      if (MPI_Irecv(in[other][i], LARGEST, MPI_BYTE, other, i, MPI_COMM_WORLD, &receives[other][i]) ||
          MPI_Isend(out[other][i], bytes, MPI_BYTE, other, i, MPI_COMM_WORLD, &sends[other][i]))
        lost[other] = 1;
    }
    if (used[other]) {
      fill(pairs[other].sending, pairs[other].sent, other, round, PERSISTENT);
      received[other] = started(&pairs[other].receive, other);
      sent[other] = started(&pairs[other].send, other);
    }
    if (planned[other] && !begin_with(other, round)) {
      plans_lost[other] = 1;
      planned[other] = 0;
    }
  }
  if (tears) {
    look_for_a_while(round, used, receives);
    tear_one(round);
  }
  for (int other = 0; other < ranks; ++other) {
    for (int i = 0; used[other] && i < MESSAGES; ++i) {
      ended_well(&sends[other][i], other);
      const int posted = receives[other][i] != MPI_REQUEST_NULL;
      if (ended_well(&receives[other][i], other) && posted)
        look(in[other][i], size_of(other, rank, round, i), other, round, i);
    }
    if (used[other] && sent[other]) ended_well(&pairs[other].send, other);
    if (used[other] && received[other] && ended_well(&pairs[other].receive, other))
      look(pairs[other].receiving, pairs[other].received, other, round, PERSISTENT);
    if (planned[other] && !end_with(other, round)) plans_lost[other] = 1;
  }
  end_ring(round, broken);
}

// Where one of a pair has found the other lost, so must this one: a receive of what will never come ends with an error.
static void lose(int other, int round) {
  if (MPI_Recv(in[other][0], 8, MPI_BYTE, other, NEVER_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS)
    bad("nothing was sent and something arrived from", other, round);
  lost[other] = 1;
}

// The same of plans: an exchange that the other rank is not in ends with an error.
static void lose_plans(int other, int round) {
  if (begin_with(other, round) && end_with(other, round)) bad("an exchange ends well without", other, round);
  plans_lost[other] = 1;
}

// Returns how many pairs are lost.
static int agree(int own[MOST_RANKS], void (*agree_with)(int other, int round), int round) {
  int all[MOST_RANKS * MOST_RANKS], count = 0;
  MPI_Allgather(own, MOST_RANKS, MPI_INT, all, MOST_RANKS, MPI_INT, MPI_COMM_WORLD);
  for (int other = 0; other < ranks; ++other)
    if (all[other * MOST_RANKS + rank] && !own[other]) agree_with(other, round);
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < a; ++b) count += all[a * MOST_RANKS + b] || all[b * MOST_RANKS + a];
  return count;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc != 3 || ranks > MOST_RANKS) MPI_Abort(MPI_COMM_WORLD, 2);
  seed = strtoull(argv[1], NULL, 10);
  const int tears = atoi(argv[2]);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int other = 0; other < ranks; ++other)
    for (int i = 0; i < MESSAGES; ++i) {
      out[other][i] = bytes_of(LARGEST);
      in[other][i] = bytes_of(LARGEST);
    }

  // The host's own connections, each of a pair's; then those of the plans; those of messages are made when there are
  // some.
  unsigned char *to_all = bytes_of((size_t)ranks * 100000), *from_all = bytes_of((size_t)ranks * 100000);
  for (int i = 0; i < 3; ++i) MPI_Alltoall(to_all, 100000, MPI_BYTE, from_all, 100000, MPI_BYTE, MPI_COMM_WORLD);
  free(to_all);
  free(from_all);
  agree(lost, lose, EVERY_ROUND);
  MPI_Barrier(MPI_COMM_WORLD);
  each_connection(note_native);
  MPI_Barrier(MPI_COMM_WORLD);
  make_all_plans();
  MPI_Barrier(MPI_COMM_WORLD);
  each_connection(note_plans);
  for (int other = 0; other < ranks; ++other)
    if (other != rank) make_messages(other);
  MPI_Barrier(MPI_COMM_WORLD);

  int pairs_lost = 0, pairs_of_plans_lost = 0;
  for (int round = 0; round < 2 * tears; ++round) {
    const int tearing = round % 2 == 1;  // each second round is left in peace
    run_round(round, tearing && rank == (int)(draw(0, round, 0, 5) % (unsigned long long)ranks));
    MPI_Barrier(MPI_COMM_WORLD);
    pairs_lost = agree(lost, lose, round);
    pairs_of_plans_lost = agree(plans_lost, lose_plans, round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0)
    printf("seed %llu: %d of %d pairs lost, and the plans of %d, after %d torn connections\n", seed, pairs_lost,
           ranks * (ranks - 1) / 2, pairs_of_plans_lost, tears);
  for (int other = 0; other < ranks; ++other)
    if (other != rank) free_pair(other);
  MPI_Finalize();
  return 0;
}
