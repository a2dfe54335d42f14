// SPDX-License-Identifier: BSD-3-Clause
// Blocking point-to-point between ranks 0 and 1: nothing here is Urakata's business, so nothing may become slower by
// it.
//
// Rank 0 prints a JSON object a size, and one for each call that goes nowhere (a partner of MPI_PROC_NULL):
//   {"kind": "pingpong", "bytes": 8, "batches": 200, "ns": 260.0}   half a round trip, as OSU's latency
//   {"kind": "call", "name": "MPI_Send", "batches": 200, "ns": 9.1}  one call
// The batches' mean times are the samples; ns is their median. A record ends with "turns": {"ns": [...]}, the median of
// each turn.
#define _GNU_SOURCE
#include "arguments.h"
#include "loaded.h"
#include "turns.h"

static const char usage[] =
    "usage: bypass [--sizes LIST] [--batches N] [--batch-us N] [--turns N] [--together I/N:FILE]\n"
    "  --sizes     message sizes in bytes, with K and M (8,64,512,4K,16K,64K)\n"
    "  --batches   batches a size (200)\n"
    "  --batch-us  about how long a batch takes (300)\n" TURNS_USAGE;

// A job's pages suit the caches more or less, by up to 2 % at 64 KiB: each turn sends from others.
enum { BUFFERS = 16 };

struct ends {
  int rank, partner;
  char* memory;  // BUFFERS times `size` bytes
  size_t size;
  char* buffer;  // the turn's
};

static void use_buffer(struct ends* ends, int turn) {
  ends->buffer = ends->memory + (size_t)(turn % BUFFERS) * ends->size;
}

static void ping_pong(const struct ends* ends, int bytes, int turns) {
  for (int i = 0; i < turns; ++i) {
    if (ends->rank == 0) {
      MPI_Send(ends->buffer, bytes, MPI_BYTE, ends->partner, 1, MPI_COMM_WORLD);
      MPI_Recv(ends->buffer, bytes, MPI_BYTE, ends->partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(ends->buffer, bytes, MPI_BYTE, ends->partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(ends->buffer, bytes, MPI_BYTE, ends->partner, 1, MPI_COMM_WORLD);
    }
  }
}

static void send_nowhere(const struct ends* ends, int bytes, int turns) {
  for (int i = 0; i < turns; ++i) MPI_Send(ends->buffer, bytes, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
}

static void receive_nowhere(const struct ends* ends, int bytes, int turns) {
  for (int i = 0; i < turns; ++i)
    MPI_Recv(ends->buffer, bytes, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

typedef void (*subject)(const struct ends*, int bytes, int turns);

struct settings {
  int batches;  // of each turn
  double batch_ns;
  int turns;
};

// The median of all batches' times of one run, and the medians of the turns. All ranks take part and use the same
// numbers of runs.
static double measure(subject run, struct ends* ends, int bytes, const struct settings* s, double* of_turns) {
  enum { TRIAL = 100 };
  run(ends, bytes, TRIAL);
  MPI_Barrier(MPI_COMM_WORLD);
  double before = now_ns();
  run(ends, bytes, TRIAL);
  double runs = s->batch_ns / ((now_ns() - before) / TRIAL) + 1;
  MPI_Bcast(&runs, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const int count = s->batches * s->turns;
  double* const samples = allocate((size_t)count * sizeof(double));
  for (int i = 0; i < count; ++i) {
    if (i % s->batches == 0) {
      turns_next();
      use_buffer(ends, i / s->batches);
      run(ends, bytes, TRIAL);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    before = now_ns();
    run(ends, bytes, (int)runs);
    samples[i] = (now_ns() - before) / (int)runs;
  }
  for (int t = 0; t < s->turns; ++t) {
    sort_samples(samples + t * s->batches, s->batches);
    of_turns[t] = quantile(samples + t * s->batches, s->batches, 0.5);
  }
  sort_samples(samples, count);
  const double median = quantile(samples, count, 0.5);
  free(samples);
  return median;
}

static void print_end(const struct settings* s, double ns, const double* of_turns) {
  printf("\"batches\": %d, \"ns\": %.2f", s->batches * s->turns, ns);
  print_turns(&(struct turn_values){"ns", of_turns}, 1, s->turns);
}

int main(int argc, char** argv) {
  static char all_sizes[] = "8,64,512,4K,16K,64K";
  char* sizes = all_sizes;
  char* together = NULL;
  long batches = 200, batch_us = 300, turns = 1;
  MPI_Init(&argc, &argv);
  const struct option options[] = {{"--sizes", &sizes, NULL, 0},
                                   {"--batches", NULL, &batches, 1},
                                   {"--batch-us", NULL, &batch_us, 1},
                                   {"--turns", NULL, &turns, 1},
                                   {"--together", &together, NULL, 0}};
  parse_options(argc, argv, options, 5, usage);
  const struct settings s = {
      .batches = (int)((batches + turns - 1) / turns), .batch_ns = (double)batch_us * 1e3, .turns = parse_turns(turns)};
  long bytes[MAX_LIST];
  const int size_count = parse_numbers("--sizes", sizes, 1, bytes);
  long largest = 0;
  for (int i = 0; i < size_count; ++i)
    if (bytes[i] > largest) largest = bytes[i];
  int ranks = 0;
  struct ends ends;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) fail("bypass wants exactly two ranks, not %d", ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &ends.rank);
  print_loaded();
  ends.partner = 1 - ends.rank;
  ends.size = (size_t)largest;
  ends.memory = allocate(BUFFERS * ends.size);
  memset(ends.memory, 0, BUFFERS * ends.size);
  use_buffer(&ends, 0);

  double of_turns[MOST_TURNS];
  turns_join(together);
  for (int i = 0; i < size_count; ++i) {
    double ns = measure(ping_pong, &ends, (int)bytes[i], &s, of_turns) / 2;
    for (int t = 0; t < s.turns; ++t) of_turns[t] /= 2;
    if (ends.rank != 0) continue;
    printf("{\"kind\": \"pingpong\", \"bytes\": %ld, ", bytes[i]);
    print_end(&s, ns, of_turns);
  }
  static const struct {
    const char* name;
    subject run;
  } calls[] = {{"MPI_Send", send_nowhere}, {"MPI_Recv", receive_nowhere}};
  for (int i = 0; i < 2; ++i) {
    const double ns = measure(calls[i].run, &ends, 1, &s, of_turns);
    if (ends.rank != 0) continue;
    printf("{\"kind\": \"call\", \"name\": \"%s\", ", calls[i].name);
    print_end(&s, ns, of_turns);
  }
  turns_leave();
  free(ends.memory);
  MPI_Finalize();
  return 0;
}
