// SPDX-License-Identifier: BSD-3-Clause
// Blocking collectives between the ranks of a node, with buffers that are used again and with fresh ones: pages that
// the rank has just been given, the input written, the result not yet touched.
//
// Of each repetition the slowest rank counts. A repetition has one call with fresh buffers, and with others so many that
// short calls can be timed. Rank 0 prints the median over repetitions, one JSON object a line:
//   {"operation": "allreduce", "buffers": "fresh", "bytes": 262144, "ranks": 2, "space": false, "us": 210.5, "turns": ...}
// The last result of each turn is checked.
#define _GNU_SOURCE
#include <stdbool.h>
#include <string.h>

#include "arguments.h"
#include "loaded.h"
#include "turns.h"

static const char usage[] =
    "usage: collectives [--operations LIST] [--sizes LIST] [--buffers LIST] [--repetitions N] [--turns N]\n"
    "                   [--together I/N:FILE]\n"
    "  --operations   bcast,reduce,allreduce,allgather,alltoall,gather,scatter,reduce_scatter_block (allreduce)\n"
    "  --sizes        of a rank's block in bytes, with K and M (256K,1M,4M); multiples of 4\n"
    "  --buffers      reused, fresh, or both (reused,fresh)\n"
    "  --repetitions  in a turn (8)\n" TURNS_USAGE;

enum { LARGEST_SIZE = 64 << 20, MOST_REPETITIONS = 1000, MOST_CALLS = 100, CALLS_BYTES = 64 << 10 };

static int rank, ranks;

static float* map_pages(size_t bytes) {
  void* const pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) fail("allreduce: no memory for %zu bytes", bytes);
  return pages;
}

typedef struct {
  const char* name;
  bool in_blocks, out_blocks;  // whether the buffer has a block for each rank
} operation_t;

static const operation_t operations[] = {{"bcast", false, false},     {"reduce", false, false},
                                         {"allreduce", false, false}, {"allgather", false, true},
                                         {"alltoall", true, true},    {"gather", false, true},
                                         {"scatter", true, false},    {"reduce_scatter_block", true, false}};
enum { BCAST, REDUCE, ALLREDUCE, ALLGATHER, ALLTOALL, GATHER, SCATTER, REDUCE_SCATTER_BLOCK, OPERATIONS };

static void perform(int operation, float* in, float* out, int count) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  switch (operation) {
    case BCAST:
      MPI_Bcast(rank == 0 ? in : out, count, MPI_FLOAT, 0, comm);
      break;
    case REDUCE:
      MPI_Reduce(in, out, count, MPI_FLOAT, MPI_SUM, 0, comm);
      break;
    case ALLREDUCE:
      MPI_Allreduce(in, out, count, MPI_FLOAT, MPI_SUM, comm);
      break;
    case ALLGATHER:
      MPI_Allgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, comm);
      break;
    case ALLTOALL:
      MPI_Alltoall(in, count, MPI_FLOAT, out, count, MPI_FLOAT, comm);
      break;
    case GATHER:
      MPI_Gather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, 0, comm);
      break;
    case SCATTER:
      MPI_Scatter(in, count, MPI_FLOAT, out, count, MPI_FLOAT, 0, comm);
      break;
    default:
      MPI_Reduce_scatter_block(in, out, count, MPI_FLOAT, MPI_SUM, comm);
  }
}

static float input(int of, long i) { return (float)(of + i % 100); }

static void write_input(float* in, long count) {
  for (long i = 0; i < count; ++i) in[i] = input(rank, i);
}

static float expected(int operation, int count, long i) {
  const float all = (float)(ranks * (ranks - 1) / 2);
  switch (operation) {
    case REDUCE:
    case ALLREDUCE:
      return all + (float)(ranks * (i % 100));
    case REDUCE_SCATTER_BLOCK:
      return all + (float)(ranks * ((i + (long)rank * count) % 100));
    case ALLGATHER:
    case GATHER:
      return input((int)(i / count), i % count);
    case ALLTOALL:
      return input((int)(i / count), i % count + (long)rank * count);
    case SCATTER:
      return input(0, i + (long)rank * count);
    default:
      return input(0, i);
  }
}

static void check(int operation, const float* out, int count) {
  if (rank != 0 && (operation == REDUCE || operation == GATHER)) return;
  if (rank == 0 && operation == BCAST) return;
  const long elements = (long)count * (operations[operation].out_blocks ? ranks : 1);
  for (long i = 0; i < elements; ++i) {
    if (out[i] == expected(operation, count, i)) continue;
    end_job("collectives: %s: element %ld is %g instead of %g", operations[operation].name, i, (double)out[i],
            (double)expected(operation, count, i));
  }
}

// The median over the repetitions of one turn of what the slowest rank took for a call, at rank 0, in microseconds.
static double turn(int operation, bool fresh, size_t bytes, int repetitions) {
  const operation_t* const about = &operations[operation];
  const int count = (int)(bytes / sizeof(float));
  const size_t in_bytes = about->in_blocks ? bytes * (size_t)ranks : bytes;
  const size_t out_bytes = about->out_blocks ? bytes * (size_t)ranks : bytes;
  const int calls = fresh || bytes >= CALLS_BYTES       ? 1
                    : bytes * MOST_CALLS <= CALLS_BYTES ? MOST_CALLS
                                                        : (int)(CALLS_BYTES / bytes);
  double own[MOST_REPETITIONS], slowest[MOST_REPETITIONS];
  float *in = map_pages(in_bytes), *out = map_pages(out_bytes);
  write_input(in, (long)(in_bytes / sizeof(float)));
  for (int i = -1; i < repetitions; ++i) {  // the first warms up
    if (fresh && i >= 0) {
      munmap(in, in_bytes);
      munmap(out, out_bytes);
      in = map_pages(in_bytes);
      out = map_pages(out_bytes);
      write_input(in, (long)(in_bytes / sizeof(float)));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = now_ns();
    for (int call = 0; call < calls; ++call) perform(operation, in, out, count);
    if (i >= 0) own[i] = (now_ns() - before) / 1e3 / calls;
  }
  check(operation, out, count);
  munmap(in, in_bytes);
  munmap(out, out_bytes);
  MPI_Reduce(own, slowest, repetitions, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0) return 0;
  sort_samples(slowest, repetitions);
  return quantile(slowest, repetitions, 0.5);
}

static void measure(int operation, bool fresh, size_t bytes, int repetitions, int turns) {
  double us[MOST_TURNS], sorted[MOST_TURNS];
  for (int t = 0; t < turns; ++t) {
    turns_next();
    sorted[t] = us[t] = turn(operation, fresh, bytes, repetitions);
  }
  if (rank != 0) return;
  sort_samples(sorted, turns);
  printf("{\"operation\": \"%s\", \"buffers\": \"%s\", \"bytes\": %zu, \"ranks\": %d, \"space\": %s, \"us\": %.4f",
         operations[operation].name, fresh ? "fresh" : "reused", bytes, ranks, in_space() ? "true" : "false",
         quantile(sorted, turns, 0.5));
  print_turns(&(struct turn_values){"us", us}, 1, turns);
}

// Whether the comma-separated list has the word.
static bool listed(const char* list, const char* word) {
  const size_t length = strlen(word);
  for (const char* at = list; (at = strstr(at, word)) != NULL; at += length) {
    const bool begins = at == list || at[-1] == ',';
    if (begins && (at[length] == ',' || at[length] == 0)) return true;
  }
  return false;
}

int main(int argc, char** argv) {
  static char all_sizes[] = "256K,1M,4M";
  static char allreduce[] = "allreduce", both[] = "reused,fresh";
  char *named = allreduce, *sizes = all_sizes, *buffers = both, *together = NULL;
  long bytes[MAX_LIST], repetitions = 8, turns = 1;
  MPI_Init(&argc, &argv);
  const struct option options[] = {{"--operations", &named, NULL, 0}, {"--sizes", &sizes, NULL, 0},
                                   {"--buffers", &buffers, NULL, 0},  {"--repetitions", NULL, &repetitions, 1},
                                   {"--turns", NULL, &turns, 1},      {"--together", &together, NULL, 0}};
  parse_options(argc, argv, options, 6, usage);
  parse_turns(turns);
  if (repetitions > MOST_REPETITIONS) fail("--repetitions: at most %d", MOST_REPETITIONS);
  const int count = parse_numbers("--sizes", sizes, 4, bytes);
  for (int i = 0; i < count; ++i)
    if (bytes[i] % 4 != 0 || bytes[i] > LARGEST_SIZE)
      fail("--sizes: %ld is not a multiple of 4 up to %d", bytes[i], LARGEST_SIZE);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  print_loaded();
  turns_join(together);
  for (int operation = 0; operation < OPERATIONS; ++operation) {
    if (!listed(named, operations[operation].name)) continue;
    for (int fresh = 0; fresh < 2; ++fresh) {
      if (!listed(buffers, fresh ? "fresh" : "reused")) continue;
      for (int i = 0; i < count; ++i) measure(operation, fresh, (size_t)bytes[i], (int)repetitions, (int)turns);
    }
  }
  turns_leave();
  MPI_Finalize();
  return 0;
}
