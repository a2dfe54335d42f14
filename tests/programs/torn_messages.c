// All ranks exchange messages of all sizes with all others, round after round, while now and then one of the TCP
// connections that carry them is torn down. Whatever needed it ends with an error, everything else arrives whole, and
// nothing hangs. The host's own connections stay, so that its barrier keeps the rounds together.
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

enum { MOST_RANKS = 16, MESSAGES = 6, LARGEST = 1 << 20, MOST_FILES = 4096, NEVER_TAG = 99 };

static int rank, ranks;
static unsigned long long seed;
static unsigned char known[MOST_FILES];  // descriptors that are none of those connections
static int lost[MOST_RANKS];
static unsigned char *out[MOST_RANKS][MESSAGES], *in[MOST_RANKS][MESSAGES];

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

static unsigned char byte_of(int from, int to, int round, int message, int at) {
  return (unsigned char)(from * 7 + to * 3 + round * 5 + message + at + at / 251);
}

static void bad(const char* what, int other, int round) {
  fprintf(stderr, "torn_messages, seed %llu: rank %d, round %d: %s rank %d\n", seed, rank, round, what, other);
  MPI_Abort(MPI_COMM_WORLD, 1);
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

static void note(int descriptor) { known[descriptor] = 1; }
static int candidates[MOST_FILES], candidate_count;
static void collect(int descriptor) {
  if (!known[descriptor]) candidates[candidate_count++] = descriptor;
}

static void tear_one(int round) {
  candidate_count = 0;
  each_connection(collect);
  if (candidate_count == 0) return;
  const int torn = candidates[draw(rank, round, 0, 2) % (unsigned long long)candidate_count];
  shutdown(torn, draw(rank, round, 0, 3) % 2 ? SHUT_RDWR : SHUT_WR);
}

// Waits for a request of an exchange with `other`. Returns whether it was completed.
static int ended_well(MPI_Request* request, int other) {
  if (MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS) return 1;
  lost[other] = 1;
  return 0;
}

static void run_round(int round, int tears) {
  MPI_Request receives[MOST_RANKS][MESSAGES], sends[MOST_RANKS][MESSAGES];
  int used[MOST_RANKS];
  for (int other = 0; other < ranks; ++other) {
    used[other] = other != rank && !lost[other];
    for (int i = 0; used[other] && i < MESSAGES; ++i) {
      receives[other][i] = sends[other][i] = MPI_REQUEST_NULL;
      const int bytes = size_of(rank, other, round, i);
      for (int at = 0; at < bytes; ++at) out[other][i][at] = byte_of(rank, other, round, i, at);
      if (MPI_Irecv(in[other][i], LARGEST, MPI_BYTE, other, i, MPI_COMM_WORLD, &receives[other][i]) ||
          MPI_Isend(out[other][i], bytes, MPI_BYTE, other, i, MPI_COMM_WORLD, &sends[other][i]))
        lost[other] = 1;
    }
  }
  if (tears) {
    for (unsigned long long looks = draw(rank, round, 0, 4) % 300; looks != 0; --looks) {
      int flag;
      for (int other = 0; other < ranks; ++other)
        if (used[other] && receives[other][0] != MPI_REQUEST_NULL)
          MPI_Request_get_status(receives[other][0], &flag, MPI_STATUS_IGNORE);
    }
    tear_one(round);
  }
  for (int other = 0; other < ranks; ++other) {
    for (int i = 0; used[other] && i < MESSAGES; ++i) {
      ended_well(&sends[other][i], other);
      const int started = receives[other][i] != MPI_REQUEST_NULL;
      if (!ended_well(&receives[other][i], other) || !started) continue;
      const int bytes = size_of(other, rank, round, i);
      for (int at = 0; at < bytes; ++at)
        if (in[other][i][at] != byte_of(other, rank, round, i, at)) bad("another message arrived from", other, round);
    }
  }
}

// Where one of a pair has found the other lost, so must this one: a receive of what will never come ends with an error.
static int agree(int round) {
  int all[MOST_RANKS * MOST_RANKS], pairs = 0;
  MPI_Allgather(lost, MOST_RANKS, MPI_INT, all, MOST_RANKS, MPI_INT, MPI_COMM_WORLD);
  for (int other = 0; other < ranks; ++other) {
    if (!all[other * MOST_RANKS + rank] || lost[other]) continue;
    if (MPI_Recv(in[other][0], 8, MPI_BYTE, other, NEVER_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS)
      bad("nothing was sent and something arrived from", other, round);
    lost[other] = 1;
  }
  for (int a = 0; a < ranks; ++a)
    for (int b = 0; b < a; ++b) pairs += all[a * MOST_RANKS + b] || all[b * MOST_RANKS + a];
  return pairs;
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
      out[other][i] = malloc(LARGEST);
      in[other][i] = malloc(LARGEST);
      if (!out[other][i] || !in[other][i]) MPI_Abort(MPI_COMM_WORLD, 2);
    }

  // The host's own connections, each of a pair's.
  char *to_all = calloc((size_t)ranks, 100000), *from_all = calloc((size_t)ranks, 100000);
  for (int i = 0; i < 3; ++i) MPI_Alltoall(to_all, 100000, MPI_BYTE, from_all, 100000, MPI_BYTE, MPI_COMM_WORLD);
  free(to_all);
  free(from_all);
  agree(-1);
  MPI_Barrier(MPI_COMM_WORLD);
  each_connection(note);
  MPI_Barrier(MPI_COMM_WORLD);

  int pairs = 0;
  for (int round = 0; round < 2 * tears; ++round) {
    const int tearing = round % 2 == 1;  // each second round is left in peace
    run_round(round, tearing && rank == (int)(draw(0, round, 0, 5) % (unsigned long long)ranks));
    MPI_Barrier(MPI_COMM_WORLD);
    pairs = agree(round);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  if (rank == 0)
    printf("seed %llu: %d of %d pairs lost after %d torn connections\n", seed, pairs, ranks * (ranks - 1) / 2, tears);
  MPI_Finalize();
  return 0;
}
