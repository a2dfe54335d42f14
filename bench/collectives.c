// SPDX-License-Identifier: BSD-3-Clause
// Collectives between the ranks of a node. Their form is
//   blocking
//   nonblocking   start, and wait at once
//   late          the same, but the last rank computes between start and wait, by default three times as long as start
//                 and wait take without computation. The other ranks wait at once.
//
// The buffers of each call are
//   reused    those of the call before
//   written   the same, but each rank writes its input before the call, and reads the result after it, untimed
//   fresh     pages that the rank has just been given, the input written, the result not yet touched
//
// Of each repetition the slowest rank counts. With reused buffers a repetition has so many calls that short ones can be
// timed, otherwise as many that are timed one by one. Rank 0 prints the median over repetitions, one JSON object a line:
//   {"operation": "allreduce", "form": "blocking", "buffers": "fresh", "bytes": 262144, "ranks": 2, "space": false,
//    "us": 210.5, "turns": ...}
// Of form late, us is the time from the start to the end of the slowest rank's wait, and wait_part the last rank's wait
// as a part of the time without computation, measured just before.
// The last result of each turn is checked.
#define _GNU_SOURCE
#include <stdbool.h>
#include <string.h>

#include "arguments.h"
#include "loaded.h"
#include "turns.h"

static const char usage[] =
    "usage: collectives [--form FORM] [--operations LIST] [--sizes LIST] [--buffers LIST] [--repetitions N]\n"
    "                   [--turns N] [--together I/N:FILE]\n"
    "  --form         blocking, nonblocking or late (blocking)\n"
    "  --compute-us   of the late rank (0: three times the time without computation)\n"
    "  --operations   of bcast,reduce,allreduce,allgather,alltoall,gather,scatter,reduce_scatter_block (all),\n"
    "                 and barrier, which has no size and no buffers\n"
    "  --sizes        of a rank's block in bytes, with K and M (8,512,4K,64K,1M,4M); multiples of 4\n"
    "  --buffers      of reused,written,fresh (reused,written)\n"
    "  --repetitions  in a turn (8)\n" TURNS_USAGE;

enum { LARGEST_SIZE = 64 << 20, MOST_REPETITIONS = 1000, MOST_CALLS = 100, CALLS_BYTES = 64 << 10 };

static const char* const buffer_names[] = {"reused", "written", "fresh"};
enum buffers { REUSED, WRITTEN, FRESH, BUFFERS };

static const char* const form_names[] = {"blocking", "nonblocking", "late"};
enum form { BLOCKING, NONBLOCKING, LATE, FORMS };

static int rank, ranks;
static enum form form;
static long late_us;

static float* map_pages(size_t bytes) {
  if (bytes == 0) return NULL;
  void* const pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) fail("collectives: no memory for %zu bytes", bytes);
  return pages;
}

typedef struct {
  const char* name;
  bool in_blocks, out_blocks;  // whether the buffer has a block for each rank
} operation_t;

static const operation_t operations[] = {{"bcast", false, false},     {"reduce", false, false},
                                         {"allreduce", false, false}, {"allgather", false, true},
                                         {"alltoall", true, true},    {"gather", false, true},
                                         {"scatter", true, false},    {"reduce_scatter_block", true, false},
                                         {"barrier", false, false}};
enum { BCAST, REDUCE, ALLREDUCE, ALLGATHER, ALLTOALL, GATHER, SCATTER, REDUCE_SCATTER_BLOCK, BARRIER, OPERATIONS };

static MPI_Request started(int operation, float* in, float* out, int count) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Request request;
  switch (operation) {
    case BCAST:
      MPI_Ibcast(rank == 0 ? in : out, count, MPI_FLOAT, 0, comm, &request);
      break;
    case REDUCE:
      MPI_Ireduce(in, out, count, MPI_FLOAT, MPI_SUM, 0, comm, &request);
      break;
    case ALLREDUCE:
      MPI_Iallreduce(in, out, count, MPI_FLOAT, MPI_SUM, comm, &request);
      break;
    case ALLGATHER:
      MPI_Iallgather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, comm, &request);
      break;
    case ALLTOALL:
      MPI_Ialltoall(in, count, MPI_FLOAT, out, count, MPI_FLOAT, comm, &request);
      break;
    case GATHER:
      MPI_Igather(in, count, MPI_FLOAT, out, count, MPI_FLOAT, 0, comm, &request);
      break;
    case SCATTER:
      MPI_Iscatter(in, count, MPI_FLOAT, out, count, MPI_FLOAT, 0, comm, &request);
      break;
    case BARRIER:
      MPI_Ibarrier(comm, &request);
      break;
    default:
      MPI_Ireduce_scatter_block(in, out, count, MPI_FLOAT, MPI_SUM, comm, &request);
  }
  return request;
}

static void perform(int operation, float* in, float* out, int count) {
  const MPI_Comm comm = MPI_COMM_WORLD;
  if (form != BLOCKING) {
    MPI_Request request = started(operation, in, out, count);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
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
    case BARRIER:
      MPI_Barrier(comm);
      break;
    default:
      MPI_Reduce_scatter_block(in, out, count, MPI_FLOAT, MPI_SUM, comm);
  }
}

static float input(int of, long i) { return (float)(of + i % 100); }

static void write_input(float* in, size_t bytes) {
  const long count = (long)(bytes / sizeof(float));
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

// The buffers of one point.
struct point {
  int operation;
  enum buffers kind;
  int count;  // elements of a block
  size_t in_bytes, out_bytes;
  float *in, *out;
};

static void map_buffers(struct point* p) {
  p->in = map_pages(p->in_bytes);
  p->out = map_pages(p->out_bytes);
  write_input(p->in, p->in_bytes);
}

static void unmap_buffers(struct point* p) {
  if (p->in_bytes == 0) return;
  munmap(p->in, p->in_bytes);
  munmap(p->out, p->out_bytes);
}

// Nanoseconds of one call, all ranks beginning at about the same time.
static double timed_call(const struct point* p) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double before = now_ns();
  perform(p->operation, p->in, p->out, p->count);
  return now_ns() - before;
}

// What one repetition of so many calls took this rank, for a call.
static double repetition(struct point* p, int calls) {
  double ns = 0;
  if (p->kind == REUSED) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = now_ns();
    for (int call = 0; call < calls; ++call) perform(p->operation, p->in, p->out, p->count);
    return (now_ns() - before) / calls;
  }
  for (int call = 0; call < calls; ++call) {
    if (p->kind == FRESH) {
      unmap_buffers(p);
      map_buffers(p);
    } else {
      write_input(p->in, p->in_bytes);
    }
    ns += timed_call(p);
    if (p->kind == WRITTEN) check(p->operation, p->out, p->count);
  }
  return ns / calls;
}

// The median over the repetitions of one turn of what the slowest rank took for a call, at rank 0, in microseconds.
static double turn(int operation, enum buffers kind, size_t bytes, int repetitions) {
  const operation_t* const about = &operations[operation];
  const int calls = kind == FRESH || bytes >= CALLS_BYTES ? 1
                    : bytes * MOST_CALLS <= CALLS_BYTES   ? MOST_CALLS
                                                          : (int)(CALLS_BYTES / bytes);
  struct point p = {.operation = operation, .kind = kind, .count = (int)(bytes / sizeof(float))};
  p.in_bytes = about->in_blocks ? bytes * (size_t)ranks : bytes;
  p.out_bytes = about->out_blocks ? bytes * (size_t)ranks : bytes;
  double own[MOST_REPETITIONS], slowest[MOST_REPETITIONS];
  map_buffers(&p);
  repetition(&p, calls);  // warms up
  for (int i = 0; i < repetitions; ++i) own[i] = repetition(&p, calls) / 1e3;
  check(operation, p.out, p.count);
  unmap_buffers(&p);
  MPI_Reduce(own, slowest, repetitions, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (rank != 0) return 0;
  sort_samples(slowest, repetitions);
  return quantile(slowest, repetitions, 0.5);
}

static void print_point(int operation, enum buffers kind, size_t bytes) {
  printf("{\"operation\": \"%s\", \"form\": \"%s\", \"buffers\": \"%s\", \"bytes\": %zu, \"ranks\": %d, \"space\": %s",
         operations[operation].name, form_names[form], buffer_names[kind], bytes, ranks, in_space() ? "true" : "false");
}

static double median(const double* values, int count) {
  double sorted[MOST_TURNS];
  memcpy(sorted, values, (size_t)count * sizeof *sorted);
  sort_samples(sorted, count);
  return quantile(sorted, count, 0.5);
}

static void measure(int operation, enum buffers kind, size_t bytes, int repetitions, int turns) {
  double us[MOST_TURNS];
  for (int t = 0; t < turns; ++t) {
    turns_next();
    us[t] = turn(operation, kind, bytes, repetitions);
  }
  if (rank != 0) return;
  print_point(operation, kind, bytes);
  printf(", \"us\": %.4f", median(us, turns));
  print_turns(&(struct turn_values){"us", us}, 1, turns);
}

// One operation whose last rank computes for so long, in microseconds: from its start to the end of the slowest rank's
// wait, at rank 0, and the last rank's wait.
static void late_call(const struct point* p, double compute_us, double* whole_us, double* wait_us) {
  double own[2] = {0, 0}, slowest[2] = {0, 0};
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_ns();
  MPI_Request request = started(p->operation, p->in, p->out, p->count);
  const bool late = rank == ranks - 1;
  while (late && now_ns() - begin < compute_us * 1e3) {
  }
  const double waits = now_ns();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  own[0] = (now_ns() - begin) / 1e3;
  if (late) own[1] = (now_ns() - waits) / 1e3;
  MPI_Reduce(own, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  *whole_us = slowest[0];
  *wait_us = slowest[1];
}

static void measure_late(int operation, size_t bytes, int repetitions, int turns) {
  double us[MOST_TURNS], part[MOST_TURNS];
  struct point p = {.operation = operation, .kind = REUSED, .count = (int)(bytes / sizeof(float))};
  p.in_bytes = operations[operation].in_blocks ? bytes * (size_t)ranks : bytes;
  p.out_bytes = operations[operation].out_blocks ? bytes * (size_t)ranks : bytes;
  map_buffers(&p);
  for (int t = 0; t < turns; ++t) {
    turns_next();
    double pure_us = turn(operation, REUSED, bytes, repetitions), whole[MOST_REPETITIONS], wait[MOST_REPETITIONS];
    MPI_Bcast(&pure_us, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    const double compute_us = late_us != 0 ? (double)late_us : 3 * pure_us;
    for (int i = 0; i < repetitions; ++i) late_call(&p, compute_us, &whole[i], &wait[i]);
    check(operation, p.out, p.count);
    sort_samples(whole, repetitions);
    sort_samples(wait, repetitions);
    us[t] = quantile(whole, repetitions, 0.5);
    part[t] = quantile(wait, repetitions, 0.5) / (pure_us > 0 ? pure_us : 1);
  }
  unmap_buffers(&p);
  if (rank != 0) return;
  print_point(operation, REUSED, bytes);
  printf(", \"us\": %.4f, \"wait_part\": %.4f", median(us, turns), median(part, turns));
  print_turns((const struct turn_values[]){{"us", us}, {"wait_part", part}}, 2, turns);
}

// Marks the names of a comma-separated list. Others end the job.
static void parse_names(const char* option, char* list, int known, const char* const* names, bool* chosen) {
  char* parts[MAX_LIST];
  const int count = split_list(option, list, parts);
  for (int i = 0; i < count; ++i) {
    int name = 0;
    while (name < known && strcmp(names[name], parts[i]) != 0) ++name;
    if (name == known) fail("%s: there is no '%s'\n%s", option, parts[i], usage);
    chosen[name] = true;
  }
}

int main(int argc, char** argv) {
  static char all_sizes[] = "8,512,4K,64K,1M,4M", both[] = "reused,written";
  static char all[] = "bcast,reduce,allreduce,allgather,alltoall,gather,scatter,reduce_scatter_block";
  char blocking[] = "blocking", *form_name = blocking;
  char *named = all, *sizes = all_sizes, *buffers = both, *together = NULL;
  long bytes[MAX_LIST], repetitions = 8, turns = 1;
  const char* operation_names[OPERATIONS];
  bool operation_chosen[OPERATIONS] = {false}, kind_chosen[BUFFERS] = {false}, form_chosen[FORMS] = {false};
  MPI_Init(&argc, &argv);
  const struct option options[] = {{"--operations", &named, NULL, 0}, {"--sizes", &sizes, NULL, 0},
                                   {"--buffers", &buffers, NULL, 0},  {"--repetitions", NULL, &repetitions, 1},
                                   {"--turns", NULL, &turns, 1},      {"--together", &together, NULL, 0},
                                   {"--form", &form_name, NULL, 0},   {"--compute-us", NULL, &late_us, 0}};
  parse_options(argc, argv, options, 8, usage);
  parse_turns(turns);
  if (repetitions > MOST_REPETITIONS) fail("--repetitions: at most %d", MOST_REPETITIONS);
  const int count = parse_numbers("--sizes", sizes, 4, bytes);
  for (int i = 0; i < count; ++i)
    if (bytes[i] % 4 != 0 || bytes[i] > LARGEST_SIZE)
      fail("--sizes: %ld is not a multiple of 4 up to %d", bytes[i], LARGEST_SIZE);
  for (int i = 0; i < OPERATIONS; ++i) operation_names[i] = operations[i].name;
  parse_names("--operations", named, OPERATIONS, operation_names, operation_chosen);
  parse_names("--buffers", buffers, BUFFERS, buffer_names, kind_chosen);
  parse_names("--form", form_name, FORMS, form_names, form_chosen);
  while (!form_chosen[form]) ++form;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  print_loaded();
  turns_join(together);
  for (int operation = 0; operation < OPERATIONS; ++operation) {
    if (!operation_chosen[operation]) continue;
    if (operation == BARRIER) {
      measure(operation, REUSED, 0, (int)repetitions, (int)turns);
      continue;
    }
    for (int i = 0; form == LATE && i < count; ++i)
      measure_late(operation, (size_t)bytes[i], (int)repetitions, (int)turns);
    for (int kind = 0; form != LATE && kind < BUFFERS; ++kind) {
      for (int i = 0; kind_chosen[kind] && i < count; ++i)
        measure(operation, (enum buffers)kind, (size_t)bytes[i], (int)repetitions, (int)turns);
    }
  }
  turns_leave();
  MPI_Finalize();
  return 0;
}
