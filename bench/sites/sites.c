// SPDX-License-Identifier: BSD-3-Clause
// Collectives of ranks at several sites: the time from the moment at which all begin to the last rank's end, and the
// same remote bytes by plain sockets, as a floor.
//
//   sites OPERATION BYTES[,BYTES...] [ROUNDS [HOME]]
//
// OPERATION: scatter, gather, bcast, allgather, allreduce, reduce or alltoall; or send: no collective, but a message of
// rank 0 to the first rank of another site. BYTES: of the largest buffer (a scatter's send buffer, an allreduce's
// vector). HOME: ranks at the root's site, the first ones. With SITES_SOCKETS=N in the environment the remote bytes of
// a scatter, a gather or a send go over N plain connections instead, a thread each. Prints a line of JSON for each
// size.
//
// With SITES_COMPUTE=RANK:MS in the environment a scatter or a bcast is one that does not block, and rank RANK computes
// for about so long before it waits for its end. Then "us" is until the last of the other ranks has it, "idle_us" the
// same where that rank waits as they do, "compute_us" what its work takes alone, "lost_us" how much longer it took
// meanwhile.
//
// All begin at a moment of the monotonic clock that rank 0 has named, which is one clock on test hosts only. Contents
// are checked in each round.
#define _GNU_SOURCE
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "compute.h"
#include "sockets.h"
#include "timing.h"

enum { MAX_ROUNDS = 1000 };

static int rank_, ranks_;
static struct leader leader_;

static void sleep_until(double ns) {
  struct timespec until = {(time_t)(ns / 1e9), (long)(ns - (double)(time_t)(ns / 1e9) * 1e9)};
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0) {
  }
}

static double begin_together(void) {
  double begin = now_ns() + 60e6;
  MPI_Bcast(&begin, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  sleep_until(begin);
  return begin;
}

// The end of what does not block; the site leader computes before it waits for that.
static int finish(MPI_Request* request) {
  if (leader_.computes && rank_ == leader_.rank) compute(&leader_);
  return MPI_Wait(request, MPI_STATUS_IGNORE);
}

// The value of element i of rank r's block, in a round.
static int value(int r, long i, int round) { return (int)(r * 7919 + i * 31 + round * 1000003); }

static void fill(int* buffer, int r, long count, int round) {
  for (long i = 0; i < count; ++i) buffer[i] = value(r, i, round);
}

static void expect(const int* buffer, int r, long count, int round, const char* operation) {
  for (long i = 0; i < count; ++i) {
    if (buffer[i] == value(r, i, round)) continue;
    end_job("%s: rank %d has %d at %ld of rank %d's block, and not %d", operation, rank_, buffer[i], i, r,
            value(r, i, round));
  }
}

struct buffers {
  int *large, *other;
  long block, count;  // elements: of a rank's block, of the large buffer
};

static double run(const char* operation, const struct buffers* b, int home, int round) {
  int *all = b->large, *own = b->other;
  const long n = b->block;
  const int count = (int)n, whole = (int)b->count;
  int code = 0;
  double end = 0;
  const bool blocks = leader_.rank < 0;
  MPI_Request request = MPI_REQUEST_NULL;
#define TIMED(call)                      \
  const double begin = begin_together(); \
  code = call;                           \
  end = now_ns() - begin
  if (strcmp(operation, "scatter") == 0) {
    for (int r = 0; r < ranks_ && rank_ == 0; ++r) fill(all + r * n, r, n, round);
    TIMED(blocks ? MPI_Scatter(all, count, MPI_INT, own, count, MPI_INT, 0, MPI_COMM_WORLD)
                 : MPI_Iscatter(all, count, MPI_INT, own, count, MPI_INT, 0, MPI_COMM_WORLD, &request) ||
                       finish(&request));
    expect(own, rank_, n, round, operation);
  } else if (strcmp(operation, "gather") == 0) {
    fill(own, rank_, n, round);
    TIMED(MPI_Gather(own, count, MPI_INT, all, count, MPI_INT, 0, MPI_COMM_WORLD));
    for (int r = 0; r < ranks_ && rank_ == 0; ++r) expect(all + r * n, r, n, round, operation);
  } else if (strcmp(operation, "bcast") == 0) {
    fill(all, rank_ == 0 ? 0 : -1, b->count, round);
    TIMED(blocks ? MPI_Bcast(all, whole, MPI_INT, 0, MPI_COMM_WORLD)
                 : MPI_Ibcast(all, whole, MPI_INT, 0, MPI_COMM_WORLD, &request) || finish(&request));
    expect(all, 0, b->count, round, operation);
  } else if (strcmp(operation, "allgather") == 0) {
    fill(own, rank_, n, round);
    TIMED(MPI_Allgather(own, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < ranks_; ++r) expect(all + r * n, r, n, round, operation);
  } else if (strcmp(operation, "alltoall") == 0) {
    for (int r = 0; r < ranks_; ++r) fill(own + r * n, rank_ * ranks_ + r, n, round);
    TIMED(MPI_Alltoall(own, count, MPI_INT, all, count, MPI_INT, MPI_COMM_WORLD));
    for (int r = 0; r < ranks_; ++r) expect(all + r * n, r * ranks_ + rank_, n, round, operation);
  } else if (strcmp(operation, "allreduce") == 0 || strcmp(operation, "reduce") == 0) {
    fill(own, rank_, b->count, round);
    if (operation[0] == 'a') {
      TIMED(MPI_Allreduce(own, all, whole, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    } else {
      TIMED(MPI_Reduce(own, all, whole, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
    }
    for (long i = 0; i < b->count && (rank_ == 0 || operation[0] == 'a'); ++i) {
      unsigned sum = 0;
      for (int r = 0; r < ranks_; ++r) sum += (unsigned)value(r, i, round);
      if ((unsigned)all[i] != sum) fail("%s: element %ld is wrong", operation, i);
    }
  } else if (strcmp(operation, "send") == 0) {
    fill(all, rank_, b->count, round);
    TIMED((rank_ == 0      ? MPI_Isend(all, whole, MPI_INT, home, 1, MPI_COMM_WORLD, &request)
           : rank_ == home ? MPI_Irecv(all, whole, MPI_INT, 0, 1, MPI_COMM_WORLD, &request)
                           : MPI_SUCCESS) ||
          MPI_Wait(&request, MPI_STATUS_IGNORE));
    if (rank_ == home) expect(all, 0, b->count, round, operation);
  } else {
    fail("no operation is called %s", operation);
  }
  if (code != MPI_SUCCESS) fail("%s failed", operation);
  return end;
}

// The longest of all ranks, in microseconds, on rank 0.
static double longest_us(double ns) {
  double last = 0;
  MPI_Reduce(&ns, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return last / 1e3;
}

// Microseconds of each round, on rank 0: until the last of the ranks that do not compute has it.
struct rounds {
  double us[MAX_ROUNDS], idle_us[MAX_ROUNDS];
  double compute_us[MAX_ROUNDS], lost_us[MAX_ROUNDS];
};

static void collective_round(const char* operation, const struct buffers* b, int home, int round,
                             struct rounds* rounds) {
  const bool counts = rank_ != leader_.rank;
  struct rounds ignored;
  const int at = round < 0 ? 0 : round;
  if (round < 0) rounds = &ignored;
  leader_.computes = true;
  const double ns = run(operation, b, home, round);
  rounds->us[at] = longest_us(counts ? ns : 0);
  if (leader_.rank < 0) return;
  const double meanwhile = counts ? 0 : leader_.last_ns;
  leader_.computes = false;
  const double idle = run(operation, b, home, MAX_ROUNDS + round);  // other contents
  rounds->idle_us[at] = longest_us(counts ? idle : 0);
  const double begin = begin_together();
  if (counts) {
    sleep_until(begin + leader_.ns);
  } else {
    compute(&leader_);
  }
  rounds->compute_us[at] = longest_us(counts ? 0 : leader_.last_ns);
  rounds->lost_us[at] = longest_us(meanwhile) - rounds->compute_us[at];
}

static void sockets_round(struct plain_sockets* links, const struct buffers* b, long remote, int round,
                          struct rounds* rounds) {
  const double begin = begin_together();
  move_sockets(links, (char*)b->large, remote);
  const double us = longest_us(now_ns() - begin);
  if (round >= 0) rounds->us[round] = us;
}

static double median(double* samples, int count) {
  sort_samples(samples, count);
  return samples[count / 2];
}

static void print(const char* operation, long bytes, long remote, struct rounds* rounds, int count) {
  printf("{\"operation\": \"%s\", \"bytes\": %ld, \"remote_bytes\": %ld, \"ranks\": %d, \"samples_us\": [", operation,
         bytes, remote, ranks_);
  for (int i = 0; i < count; ++i) printf("%s%.1f", i != 0 ? ", " : "", rounds->us[i]);
  printf("], \"us\": %.1f", median(rounds->us, count));
  if (leader_.rank >= 0) {
    printf(", \"idle_us\": %.1f, \"compute_us\": %.1f, \"lost_us\": %.1f", median(rounds->idle_us, count),
           median(rounds->compute_us, count), median(rounds->lost_us, count));
  }
  printf("}\n");
  fflush(stdout);
}

static void measure(const char* operation, long bytes, int home, int count, struct plain_sockets* links) {
  static struct rounds rounds;
  struct buffers b = {.block = bytes / (long)sizeof(int) / ranks_, .count = bytes / (long)sizeof(int)};
  b.large = malloc((size_t)bytes + 64);
  b.other = malloc((size_t)bytes + 64);
  if (b.large == NULL || b.other == NULL) fail("no memory for %ld bytes", bytes);
  const bool all_of_it = strcmp(operation, "send") == 0;
  const long remote = (long)sizeof(int) * (all_of_it ? b.count : b.block * (ranks_ - home));
  for (int round = -1; round < count; ++round) {  // one to warm up
    if (links != NULL) {
      sockets_round(links, &b, remote, round, &rounds);
    } else {
      collective_round(operation, &b, home, round, &rounds);
    }
  }
  if (rank_ == 0) print(operation, bytes, remote, &rounds, count);
  free(b.large);
  free(b.other);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
  if (argc < 3) fail("usage: sites OPERATION BYTES[,BYTES...] [ROUNDS [HOME]]");
  const char* const operation = argv[1];
  const int rounds = argc > 3 ? atoi(argv[3]) : 5;
  const int home = argc > 4 ? atoi(argv[4]) : ranks_ / 2;
  const char* const plain = getenv("SITES_SOCKETS");
  if (rounds < 1 || rounds > MAX_ROUNDS) fail("ROUNDS is not in 1..%d", MAX_ROUNDS);
  if (home < 1 || home >= ranks_) fail("HOME leaves no rank for the other site");
  leader_ = find_leader(getenv("SITES_COMPUTE"), rank_, ranks_);
  if (leader_.rank >= 0 && strcmp(operation, "scatter") != 0 && strcmp(operation, "bcast") != 0)
    fail("SITES_COMPUTE: only scatter and bcast go on while a rank computes, not %s", operation);
  struct plain_sockets* const links =
      plain != NULL ? open_sockets(rank_, ranks_, home, plain, strcmp(operation, "gather") == 0) : NULL;
  for (const char* size = argv[2]; size != NULL; size = strchr(size, ',') != NULL ? strchr(size, ',') + 1 : NULL)
    measure(operation, atol(size), home, rounds, links);
  MPI_Finalize();
  return 0;
}
