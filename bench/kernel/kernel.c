// SPDX-License-Identifier: BSD-3-Clause
// Who carries a collective on while ranks compute, and what that costs: the study of kernel-level asynchronous
// collectives (Nomura, Ishikawa et al., 2010-2011), with engines of today.
//
// Ranks have a core each where there are as many; with three ranks on two cores the relay, rank 1, has one alone.
//
//   --part hop    three ranks, MPI_Ibcast along the chain 0, 1, 2 (options of the run must say so): from the start on rank
//                 0 to the end on rank 2, while rank 1 computes without a call; what that takes from its computation,
//                 and in how many interruptions; what its starting call takes.
//   --part lost   three ranks or more, the same along the chain to the last rank, while all between its ends repeat a
//                 product of small matrices with a test after each; what they lose is the time that is not products, so
//                 that what a progress thread takes on their cores counts. Beside it the same by the CPU clocks of
//                 thread and process.
//   --part group  any number of ranks: MPI_Ibcast, MPI_Iallgather, MPI_Ialltoall, each rank computing without a call from
//                 its start until all has come, or for so long and then waiting; then all the CPU time that it took
//                 from their computations, starting and waiting calls included, and io_uring's kernel threads.
//   --part small  any number of ranks: MPI_Iallreduce of floats and of doubles, each waited for at once, one after the
//                 other; what the start takes of it; and the elements of all results that are not what the processor
//                 has.
//   --part own    the same by an operation of the program's own, which engine kernel computes where its eBPF code is
//                 attached as `affine`.
//   --method      collective; in parts hop and lost also explicit: the program's own messages and tests; in part lost
//                 blocked: a thread of the program that blocks in recv(). The variable KERNEL_METHOD says so, too.
// Each prints a JSON object a line for each size; medians, and quartiles beside. Parts hop, lost and group also say
// which cores took the network's packets and the interrupts of other cores, of the whole machine, for each operation.
#define _GNU_SOURCE
#include "kernel.h"

#include <string.h>

#include "arguments.h"
#include "loaded.h"

static const char usage[] =
    "usage: kernel --part hop|lost|group|small|own [--method collective|explicit|blocked] [--sizes LIST]\n"
    "              [--repetitions N] [--test-us N] [--compute-ms N] [--product N] [--budget-ms N]\n"
    "  --sizes        bytes (64)\n"
    "  --repetitions  of all parts but group (500)\n"
    "  --test-us      between two tests of part hop, method explicit (100)\n"
    "  --compute-ms   most that a relay of part hop (50) or a rank of part group (200) computes, where nothing comes\n"
    "  --product      edge of the matrices of part lost (4)\n"
    "  --budget-ms    for each operation and size of part group (100)";

static int find(const char* option, const char* text, const char* const* names, int count) {
  for (int i = 0; i < count; ++i)
    if (strcmp(text, names[i]) == 0) return i;
  fail("%s: there is no '%s'\n%s", option, text, usage);
  return 0;
}

int main(int argc, char** argv) {
  static const char* const parts[] = {"hop", "lost", "group", "small", "own"};
  static const char* const methods[] = {"collective", "explicit", "blocked"};
  static void (*const measure[])(const struct settings*) = {measure_hop, measure_lost, measure_group, measure_small,
                                                            measure_own};
  static char standard[] = "64";
  char *part = "", *sizes = standard;
  char* method = getenv("KERNEL_METHOD");
  if (!method) method = "collective";
  long repetitions = 500, test_us = 100, product = 4, budget_ms = 100, compute_ms = 0;
  int ranks = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const struct option options[] = {{"--part", &part, NULL, 0},           {"--method", &method, NULL, 0},
                                   {"--sizes", &sizes, NULL, 0},         {"--repetitions", NULL, &repetitions, 1},
                                   {"--test-us", NULL, &test_us, 1},     {"--product", NULL, &product, 1},
                                   {"--budget-ms", NULL, &budget_ms, 1}, {"--compute-ms", NULL, &compute_ms, 1}};
  parse_options(argc, argv, options, 8, usage);
  const int which = find("--part", part, parts, 5);
  if (compute_ms == 0) compute_ms = which == 2 ? 200 : 50;
  struct settings settings = {.method = (enum method)find("--method", method, methods, 3),
                              .repetitions = (int)repetitions,
                              .test_us = (double)test_us,
                              .most_ns = 1e6 * (double)compute_ms,
                              .product = product,
                              .budget_ns = 1e6 * (double)budget_ms};
  settings.size_count = parse_numbers("--sizes", sizes, 1, settings.sizes);
  if (which == 0 && ranks != RELAY_RANKS) fail("part hop is of %d ranks", RELAY_RANKS);
  if (which == 1 && ranks < RELAY_RANKS) fail("part lost is of %d ranks or more", RELAY_RANKS);
  if ((which >= 2 && settings.method != COLLECTIVE) || (which == 0 && settings.method == BLOCKED))
    fail("--method %s is not of part %s", method, part);
  print_loaded();
  measure[which](&settings);
  MPI_Finalize();
  return 0;
}
