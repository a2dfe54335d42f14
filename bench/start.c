// SPDX-License-Identifier: BSD-3-Clause
// What the call that starts a non-blocking collective costs, without what comes after it.
//
// For each operation and size rank 0 prints a JSON object; every figure is the worst over ranks:
//   {"operation": "ibcast", "bytes": 8, "ranks": 2, "starts": 5000, "call_ns": 310, "call_p90_ns": 420, "clock_ns": 22,
//    "own_ns": 120, "allocations": 0}
// call_ns: median duration of the starting call, less clock_ns, the cost of reading the clock. own_ns: what Urakata
// says of the same starts, the MPI library's own calls left out; allocations: how many it made during them. Both are
// null where the program runs without Urakata, and own_ns also where URAKATA_MEASURE_START is not set: measuring it
// makes the call longer. They come from the functions of src/shim/user/measuring.h.
#define _GNU_SOURCE

#include "arguments.h"
#include "collective.h"
#include "loaded.h"

static const char usage[] =
    "usage: start [--operations LIST] [--sizes LIST] [--starts N]\n"
    "  --operations  of ibcast, iallgather, iallreduce, ialltoall (all)\n"
    "  --sizes       message sizes in bytes, with K and M (8,1K); multiples of 4\n"
    "  --starts      how often each is started (5000)";

struct urakata {
  int (*start_cost)(double* own_ns, unsigned long long* starts);
  unsigned long long (*allocations)(void);
};

// The two functions, each null where it cannot be asked. POSIX lets an object pointer from dlsym be a function's.
static struct urakata find_urakata(void) {
  struct urakata found;
  *(void**)&found.start_cost =
      getenv("URAKATA_MEASURE_START") ? dlsym(RTLD_DEFAULT, "urakata_internal_start_cost") : NULL;
  *(void**)&found.allocations = dlsym(RTLD_DEFAULT, "urakata_internal_allocations");
  return found;
}

static double worst(double own) {
  double all = 0;
  MPI_Reduce(&own, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return all;
}

static void print_optional(const char* name, double value) {
  if (value < 0)
    printf(", \"%s\": null", name);
  else
    printf(", \"%s\": %.1f", name, value);
}

static void measure(enum operation operation, int bytes, int starts, const struct buffers* buffers,
                    const struct urakata* urakata) {
  enum { WARM_UP = 100 };
  check_operation(operation, bytes, buffers);
  for (int i = 0; i < WARM_UP; ++i) {
    MPI_Request request = start(operation, bytes, buffers);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  double own_ns = -1, allocations = -1;
  unsigned long long counted = 0;
  double* const calls = allocate((size_t)starts * sizeof(double));
  if (urakata->start_cost) urakata->start_cost(&own_ns, &counted);
  const unsigned long long allocations_before = urakata->allocations ? urakata->allocations() : 0;
  for (int i = 0; i < starts; ++i) {
    const double before = now_ns();
    MPI_Request request = start(operation, bytes, buffers);
    calls[i] = now_ns() - before;
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  if (urakata->allocations) allocations = (double)(urakata->allocations() - allocations_before);
  if (!urakata->start_cost || urakata->start_cost(&own_ns, &counted) != 0 || counted == 0) own_ns = -1;

  sort_samples(calls, starts);
  const double clock = clock_cost_ns();
  const double call = worst(quantile(calls, starts, 0.5) - clock), slow = worst(quantile(calls, starts, 0.9) - clock);
  const double clock_worst = worst(clock), own_worst = worst(own_ns), allocations_worst = worst(allocations);
  if (buffers->rank == 0) {
    printf(
        "{\"operation\": \"%s\", \"bytes\": %d, \"ranks\": %d, \"starts\": %d, \"call_ns\": %.1f, \"call_p90_ns\": "
        "%.1f, "
        "\"clock_ns\": %.1f",
        operation_names[operation], bytes, buffers->ranks, starts, call, slow, clock_worst);
    print_optional("own_ns", own_worst);
    print_optional("allocations", allocations_worst);
    printf("}\n");
    fflush(stdout);
  }
  free(calls);
}

int main(int argc, char** argv) {
  static char all_operations[] = "ibcast,iallgather,iallreduce,ialltoall";
  static char all_sizes[] = "8,1K";
  char *operations = all_operations, *sizes = all_sizes;
  long starts = 5000;
  MPI_Init(&argc, &argv);
  const struct option options[] = {
      {"--operations", &operations, NULL, 0}, {"--sizes", &sizes, NULL, 0}, {"--starts", NULL, &starts, 1}};
  parse_options(argc, argv, options, 3, usage);
  char* names[MAX_LIST];
  long bytes[MAX_LIST];
  const int operation_count = split_list("--operations", operations, names);
  const int size_count = parse_numbers("--sizes", sizes, 4, bytes);
  long largest = 0;
  for (int i = 0; i < size_count; ++i)
    if (bytes[i] > largest) largest = bytes[i];

  print_loaded();
  struct buffers buffers = make_buffers((size_t)largest);
  const struct urakata urakata = find_urakata();
  for (int o = 0; o < operation_count; ++o)
    for (int i = 0; i < size_count; ++i)
      measure(find_operation(names[o]), (int)bytes[i], (int)starts, &buffers, &urakata);
  free_buffers(&buffers);
  MPI_Finalize();
  return 0;
}
