// SPDX-License-Identifier: BSD-3-Clause
/* How much of a non-blocking collective is hidden behind computation, and what that costs.

   An ordinary MPI + OpenMP program: any host's `mpicc -O3 -fopenmp -I../common overlap.c -o overlap` builds it, and
   it knows nothing of Urakata. It runs the loops of docs/studies/overlap.md, for each message size:

     pure      start, wait
     compute   a fixed amount of computation, alone
     both      start, compute, wait; init, compute, wait and overall times kept apart
     tested    start, then test and sleep in turn until it is done: what the communication costs in CPU time

   It prints JSON lines: a setup, then a result or a skip for each operation and size. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "amounts.h"
#include "loops.h"
#include "operations.h"
#include "output.h"
#include "settings.h"
#include "sockets.h"
#include "work.h"

static struct call call_open(const struct operation* op, size_t bytes) {
  struct call c = {NULL, NULL, bytes, rank, ranks, NULL, NULL};
  const size_t send = bytes * blocks_of(op->send, ranks), recv = bytes * blocks_of(op->recv, ranks);
  void* memory = NULL;
  if (posix_memalign(&memory, 4096, send + recv + 4096) != 0) memory = NULL;
  c.send = checked(memory);
  c.recv = (char*)c.send + (send + 4095) / 4096 * 4096;
  memset(c.recv, 0, recv);
  c.counts = checked(malloc((size_t)ranks * sizeof(int)));
  c.displacements = checked(malloc((size_t)ranks * sizeof(int)));
  for (int i = 0; i < ranks; ++i) c.counts[i] = (int)bytes, c.displacements[i] = (int)((size_t)i * bytes);
  fill(op, &c);
  return c;
}

static void call_close(struct call* c) {
  free(c->send);
  free(c->counts);
  free(c->displacements);
}

static void measure(const struct settings* s, const struct operation* op, int size_index) {
  const size_t bytes = op->send == NONE ? 0 : s->sizes[size_index];
  const size_t need = bytes * (blocks_of(op->send, ranks) + blocks_of(op->recv, ranks));
  if (need > s->memory_limit || (op->recv == ALL && bytes * (size_t)ranks > INT32_MAX)) {
    print_skip(op, bytes, "its buffers are larger than --memory-limit");
    return;
  }
  clock_agree();
  struct call c = call_open(op, bytes);
  struct work work;
  if (!work_open(&work, s->kind, team.threads, array_elements(s, bytes))) checked(NULL);

  const double first_us = warm_pure_us(s, op, &c);
  const int right = correct(op, &c);
  int wrong = !right;
  MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  const double pure_us = s->amount == WORK_MATCH ? quick_pure_us(op, &c, turns_within(s, first_us)) : first_us;
  const uint64_t amount = work_amount(s, &work, size_index, pure_us);
  const double compute_us = warm_compute_us(s, &work, amount);
  struct samples loops[LOOPS] = {pure_open(turns_within(s, pure_us)), compute_open(turns_within(s, compute_us)),
                                 both_open(turns_within(s, compute_us + pure_us))};
  for (int round = 0; round < s->rounds; ++round) {
    turns_next();
    pure_loop(&loops[0], op, &c, turns_of(&loops[0], round, s->rounds));
    compute_loop(&loops[1], &work, amount, turns_of(&loops[1], round, s->rounds));
    both_loop(&loops[2], op, &c, &work, amount, turns_of(&loops[2], round, s->rounds));
  }
  const int tested = turns_within(s, 2.0 * pure_us + 100.0);
  if (s->tested != 0) loops[3] = tested_loop(op, &c, pure_us, tested < s->tested ? tested : s->tested);
  for (int i = 0; i < loops_of(s); ++i) samples_join(&loops[i]);

  print_result(s, op, &c, amount, &work, loops, wrong);
  for (int i = 0; i < loops_of(s); ++i) free(loops[i].time);
  work_close(&work);
  call_close(&c);
}

static int ranks_sharing_memory(void) {
  MPI_Comm node;
  int size;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &size);
  MPI_Comm_free(&node);
  return size;
}

int main(int argc, char** argv) {
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  struct settings s = {.operations = {operation_named("iallgather")},
                       .operation_count = 1,
                       .kind = KIND_PAPER,
                       .amount = WORK_PAPER,
                       .scale = 1.0,
                       .cores = (int)sysconf(_SC_NPROCESSORS_ONLN),
                       .per_node = ranks_sharing_memory(),
                       .turns = 200,
                       .least = 5,
                       .rounds = 8,
                       .tested = 15,
                       .budget_us = 3e5,
                       .memory_limit = (size_t)1 << 30};
  char all_sizes[] = "1:4M";
  parse_sizes(all_sizes, &s);
  const char* bad = parse(argc, argv, &s);
  if (bad) {
    const int help = strcmp(bad, "help") == 0;
    if (rank == 0 && !help) fprintf(stderr, "overlap: bad option or value: %s\n", bad);
    if (rank == 0) fputs(usage, help ? stdout : stderr);
    MPI_Finalize();
    return help ? 0 : 2;
  }

  team = team_open();
  print_setup(&s, provided);
  turns_join(s.together);
  for (int op = 0; op < s.operation_count; ++op) {
    const int sizes = s.operations[op]->send == NONE ? 1 : s.size_count;
    for (int size = 0; size < sizes; ++size) measure(&s, s.operations[op], size);
  }
  turns_leave();
  sockets_close();
  team_close(&team);
  MPI_Finalize();
  return 0;
}
