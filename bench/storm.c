// SPDX-License-Identifier: BSD-3-Clause
// A storm of malloc and free: what an address space shared with others costs a program that allocates all the time.
//
// Each rank runs threads that hold some blocks each and, step after step, free one and allocate another of a size
// between 16 B and 1 MiB, as many of 16 to 31 B as of 512 KiB to 1 MiB; a byte of every page of it is written. Rank 0
// prints, for the slowest rank,
//   {"ranks": 2, "threads": 2, "steps": 20000, "us": 1.9, "space": false}
// us: duration of the whole storm, divided by the steps of one thread.
#define _GNU_SOURCE

#include <pthread.h>
#include <stdint.h>

#include "arguments.h"
#include "loaded.h"

static const char usage[] =
    "usage: storm [--threads N] [--steps N]\n"
    "  --threads  in each rank (2)\n"
    "  --steps    of each thread (20000)";

enum { BLOCKS = 64, SMALLEST_BITS = 4, SIZES = 16, PAGE = 4096, MOST_THREADS = 64 };

struct part {
  pthread_t thread;
  uint64_t random;
  long steps;
};

// xorshift64*
static uint64_t next_random(uint64_t* state) {
  *state ^= *state >> 12;
  *state ^= *state << 25;
  *state ^= *state >> 27;
  return *state * 0x2545F4914F6CDD1DU;
}

static void* storm(void* argument) {
  struct part* const part = argument;
  char* blocks[BLOCKS] = {0};
  for (long step = 0; step < part->steps; ++step) {
    const uint64_t random = next_random(&part->random);
    char** const block = &blocks[random % BLOCKS];
    const size_t base = (size_t)1 << (SMALLEST_BITS + (random >> 8) % SIZES);
    const size_t bytes = base + (random >> 16) % base;
    free(*block);
    *block = malloc(bytes);
    if (!*block) fail("storm: no memory for %zu bytes", bytes);
    for (size_t at = 0; at < bytes; at += PAGE) (*block)[at] = 1;
  }
  for (int i = 0; i < BLOCKS; ++i) free(blocks[i]);
  return NULL;
}

static double run(struct part* parts, long threads) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_ns();
  for (long i = 0; i < threads; ++i)
    if (pthread_create(&parts[i].thread, NULL, storm, &parts[i]) != 0) fail("storm: no thread");
  for (long i = 0; i < threads; ++i) pthread_join(parts[i].thread, NULL);
  return now_ns() - begin;
}

int main(int argc, char** argv) {
  long threads = 2, steps = 20000;
  MPI_Init(&argc, &argv);
  const struct option options[] = {{"--threads", NULL, &threads, 1}, {"--steps", NULL, &steps, 1}};
  parse_options(argc, argv, options, 2, usage);
  if (threads > MOST_THREADS) fail("storm: at most %d threads", MOST_THREADS);
  print_loaded();
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  struct part parts[MOST_THREADS];
  for (long i = 0; i < threads; ++i) {
    parts[i].random = 0x9E3779B97F4A7C15U * (uint64_t)(rank * threads + i + 1);
    parts[i].steps = steps / 10 + 1;  // warms up
  }
  run(parts, threads);
  for (long i = 0; i < threads; ++i) parts[i].steps = steps;
  const double own = run(parts, threads);
  double slowest = 0;
  MPI_Reduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank == 0)
    printf("{\"ranks\": %d, \"threads\": %ld, \"steps\": %ld, \"us\": %.4f, \"space\": %s}\n", ranks, threads, steps,
           slowest / 1e3 / (double)steps, in_space() ? "true" : "false");
  MPI_Finalize();
  return 0;
}
