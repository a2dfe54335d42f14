// SPDX-License-Identifier: BSD-3-Clause
// Several collectives of one communicator are under way at once, and one rank, another in each round, only computes
// once it has started them, without a call of any kind: the others complete them all the same.
//
//     collectives_while_one_computes FOLDER [ROUNDS]
//
// Ranks write to a file in the folder, which all have mapped, which rounds they have completed.
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { kMostOperations = 12, kMostBytes = 40000, kKinds = 3, kSeconds = 30 };
static const char* const kNames[kKinds] = {"Ibcast", "Iallgather", "Ialltoall"};

static int rank, ranks;
static volatile int* completed;  // of each rank: rounds

typedef struct {
  int kind, bytes, root;
  char *out, *in;
} Operation;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static char value_of(int round, int number, int from, int to, int at) {
  return (char)(round * 31 + number * 17 + from * 7 + to * 5 + at * 3 + 1);
}

static void start(Operation* one, int round, int number, MPI_Request* request) {
  static const int kSizes[] = {8, 3000, kMostBytes};
  *one = (Operation){(number + round) % kKinds, kSizes[(number + round / kKinds) % 3], (number + round) % ranks,
                     one->out, one->in};
  const int blocks = one->kind == 2 ? ranks : 1;
  for (int to = 0; to < blocks; ++to) {
    for (int at = 0; at < one->bytes; ++at) {
      one->out[to * one->bytes + at] = value_of(round, number, rank, one->kind == 2 ? to : 0, at);
    }
  }
  memset(one->in, 0, (size_t)ranks * kMostBytes);
  if (one->kind == 0) {
    MPI_Ibcast(rank == one->root ? one->out : one->in, one->bytes, MPI_CHAR, one->root, MPI_COMM_WORLD, request);
  } else if (one->kind == 1) {
    MPI_Iallgather(one->out, one->bytes, MPI_CHAR, one->in, one->bytes, MPI_CHAR, MPI_COMM_WORLD, request);
  } else {
    MPI_Ialltoall(one->out, one->bytes, MPI_CHAR, one->in, one->bytes, MPI_CHAR, MPI_COMM_WORLD, request);
  }
}

static int wrong_bytes(const Operation* one, int round, int number) {
  int wrong = 0;
  if (one->kind == 0 && rank == one->root) return 0;
  for (int block = 0; block < (one->kind == 0 ? 1 : ranks); ++block) {
    const int from = one->kind == 0 ? one->root : block;
    for (int at = 0; at < one->bytes; ++at) {
      wrong += one->in[block * one->bytes + at] != value_of(round, number, from, one->kind == 2 ? rank : 0, at);
    }
  }
  if (wrong != 0)
    fprintf(stderr, "rank %d: round %d: %d bytes of %s are wrong\n", rank, round, wrong, kNames[one->kind]);
  return wrong != 0;
}

// In memory only; whether they did is theirs to tell.
static void compute_until_others_have_completed(int round) {
  const double until = now() + 2 * kSeconds;
  for (int other = 0; other < ranks; ++other) {
    while (other != rank && completed[other] <= round && now() < until) {
    }
  }
}

// How many are not complete in time.
static int complete(MPI_Request* requests, int count, int round, int silent) {
  const double until = now() + kSeconds;
  int all = 0;
  while (!all && now() < until) MPI_Testall(count, requests, &all, MPI_STATUSES_IGNORE);
  int late = 0;
  for (int i = 0; !all && i < count; ++i) {
    int done = 0;
    MPI_Request_get_status(requests[i], &done, MPI_STATUS_IGNORE);
    late += !done;
  }
  if (late != 0) {
    fprintf(stderr, "rank %d: round %d: %d of %d operations wait for rank %d's next call\n", rank, round, late, count,
            silent);
  }
  return late;
}

static int one_round(int round, Operation* operations) {
  MPI_Request requests[kMostOperations];
  const int count = 2 + round % (kMostOperations - 1), silent = round % ranks;
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < count; ++i) start(&operations[i], round, i, &requests[i]);
  int wrong = 0;
  if (rank == silent) {
    compute_until_others_have_completed(round);
  } else {
    wrong += complete(requests, count, round, silent);
  }
  completed[rank] = round + 1;
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < count; ++i) wrong += wrong_bytes(&operations[i], round, i);
  return wrong;
}

static void map_board(const char* folder) {
  char path[4096];
  snprintf(path, sizeof path, "%s/board", folder);
  const int file = open(path, O_RDWR | O_CREAT, 0600);
  const size_t size = (size_t)ranks * sizeof *completed;
  if (file < 0 || ftruncate(file, (off_t)size) != 0) abort();
  completed = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (completed == MAP_FAILED) abort();
  close(file);
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  map_board(argv[1]);
  Operation operations[kMostOperations];
  for (int i = 0; i < kMostOperations; ++i) {
    operations[i].out = malloc((size_t)ranks * kMostBytes);
    operations[i].in = malloc((size_t)ranks * kMostBytes);
    if (operations[i].out == NULL || operations[i].in == NULL) abort();
  }
  int wrong = 0;
  const int rounds = argc > 2 ? atoi(argv[2]) : 33;
  for (int round = 0; round < rounds && wrong == 0; ++round) {
    const int own = one_round(round, operations);
    MPI_Allreduce(&own, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  if (rank == 0) printf("%d wrong or late\n", wrong);
  for (int i = 0; i < kMostOperations; ++i) {
    free(operations[i].out);
    free(operations[i].in);
  }
  MPI_Finalize();
  return wrong != 0;
}
