// SPDX-License-Identifier: BSD-3-Clause
// The memory of a node: what a job has there after MPI_Init, and after an all-to-all of point-to-point messages.
//
// Each rank sends one message of each size to every other, all at once from one buffer, and then receives those of the
// others one by one into another. All ranks of the job have to be on one node. Then the others sleep, and rank 0 adds
// up what the kernel accounts for (node.h) and prints
//   {"after": "init", "ranks": 16, "node_kib": 94000, "pss_kib": 90000, "page_tables_kib": 4000, ...}
#define _GNU_SOURCE

#include <unistd.h>

#include "arguments.h"
#include "loaded.h"
#include "node.h"

static const char usage[] =
    "usage: memory [--sizes LIST] [--turns N]\n"
    "  --sizes  message sizes in bytes, with K and M (8,64K)\n"
    "  --turns  how often each all-to-all is done (3)";

enum { GO_ON = 7 };

// Rank 0 looks while nobody else runs: a rank that waits in MPI would take the core, and may touch memory.
static void show(const char* after, int rank, int ranks) {
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank != 0) {
    for (int come = 0; !come;) {
      usleep(10000);
      MPI_Iprobe(0, GO_ON, MPI_COMM_WORLD, &come, MPI_STATUS_IGNORE);
    }
    MPI_Recv(NULL, 0, MPI_BYTE, 0, GO_ON, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return;
  }
  struct node_memory node;
  if (read_node_memory(&node) != 0) fail("memory: /proc/PID/smaps_rollup cannot be read");
  printf(
      "{\"after\": \"%s\", \"ranks\": %d, \"node_kib\": %ld, \"pss_kib\": %ld, \"page_tables_kib\": %ld, "
      "\"anonymous_kib\": %ld, \"shared_kib\": %ld, \"beside_kib\": %ld, \"address_spaces\": %d, \"space\": %s}\n",
      after, ranks, node.pss + node.page_tables, node.pss, node.page_tables, node.anonymous, node.shared, node.beside,
      node.spaces, in_space() ? "true" : "false");
  fflush(stdout);
  for (int other = 1; other < ranks; ++other) MPI_Send(NULL, 0, MPI_BYTE, other, GO_ON, MPI_COMM_WORLD);
}

// Returns how many messages came wrong.
static int all_to_all(int rank, int ranks, const char* out, char* in, int bytes, MPI_Request* sends) {
  int wrong = 0;
  for (int i = 1; i < ranks; ++i) {
    MPI_Isend(out, bytes, MPI_BYTE, (rank + i) % ranks, 1, MPI_COMM_WORLD, &sends[i - 1]);
  }
  for (int i = 1; i < ranks; ++i) {
    const int from = (rank - i + ranks) % ranks;
    memset(in, -1, (size_t)bytes);
    MPI_Recv(in, bytes, MPI_BYTE, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += in[0] != (char)from || in[bytes - 1] != (char)from;
  }
  MPI_Waitall(ranks - 1, sends, MPI_STATUSES_IGNORE);
  return wrong;
}

int main(int argc, char** argv) {
  static char all_sizes[] = "8,64K";
  char* sizes = all_sizes;
  long turns = 3;
  MPI_Init(&argc, &argv);
  const struct option options[] = {{"--sizes", &sizes, NULL, 0}, {"--turns", NULL, &turns, 1}};
  parse_options(argc, argv, options, 2, usage);
  long bytes[MAX_LIST];
  const int count = parse_numbers("--sizes", sizes, 1, bytes);
  print_loaded();
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Request* const sends = allocate((size_t)ranks * sizeof *sends);
  show("init", rank, ranks);
  for (int i = 0; i < count; ++i) {
    char* const out = allocate((size_t)bytes[i]);
    char* const in = allocate((size_t)bytes[i]);
    memset(out, rank, (size_t)bytes[i]);
    for (long turn = 0; turn < turns; ++turn) {
      if (all_to_all(rank, ranks, out, in, (int)bytes[i], sends) != 0) fail("memory: a message came wrong");
    }
    char after[64];
    snprintf(after, sizeof after, "all-to-all of %ld B", bytes[i]);
    show(after, rank, ranks);
    free(out);
    free(in);
  }
  free(sends);
  MPI_Finalize();
  return 0;
}
