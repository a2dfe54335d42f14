// SPDX-License-Identifier: BSD-3-Clause
// Part `group`: collectives of ranks that compute without a call from start to end. See kernel.c.
#include <string.h>

#include "kernel.h"

enum kind { IBCAST, IALLGATHER, IALLTOALL, KINDS };
static const char* const names[] = {"ibcast", "iallgather", "ialltoall"};

struct group {
  int rank, ranks;
  size_t bytes;
  unsigned char *send, *recv;
  struct calm calm;
};

static MPI_Request begin(const struct group* g, enum kind kind) {
  MPI_Request request = MPI_REQUEST_NULL;
  const int bytes = (int)g->bytes;
  if (kind == IBCAST) MPI_Ibcast(g->recv, bytes, MPI_BYTE, 0, MPI_COMM_WORLD, &request);
  if (kind == IALLGATHER) MPI_Iallgather(g->send, bytes, MPI_BYTE, g->recv, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
  if (kind == IALLTOALL) MPI_Ialltoall(g->send, bytes, MPI_BYTE, g->recv, bytes, MPI_BYTE, MPI_COMM_WORLD, &request);
  return request;
}

// The last byte of each block tells when it has come; blocks come in one piece after the other.
static void mark(struct group* g, enum kind kind, unsigned char value) {
  for (int i = 0; i < g->ranks; ++i) {
    g->send[(size_t)(i + 1) * g->bytes - 1] = value;
    if (kind != IBCAST || g->rank != 0) g->recv[(size_t)(i + 1) * g->bytes - 1] = 0;
  }
  g->send[g->bytes - 1] = value;
  if (kind == IBCAST && g->rank == 0) g->recv[g->bytes - 1] = value;
}

struct sample {
  double us;       // from the common start until all is here
  double lost_ns;  // of the computation
  bool late;       // not all had come before the rank made a call
};

// All ranks are on one machine, whose clock they share, or agree within the barrier's error.
static double agree_on_start(void) {
  MPI_Barrier(MPI_COMM_WORLD);
  double moment = now_ns() + 20e3;
  MPI_Allreduce(MPI_IN_PLACE, &moment, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return moment;
}

static struct sample repeat(struct group* g, enum kind kind, unsigned char value, double window_ns, double most_ns) {
  mark(g, kind, value);
  const double moment = agree_on_start();
  while (now_ns() < moment) {
  }
  struct loss loss = {0};
  struct sample sample = {0};
  const double begun = now_ns();
  MPI_Request request = begin(g, kind);
  const double starting = now_ns() - begun;
  const int blocks = kind == IBCAST ? 1 : g->ranks;
  for (int i = 0; i < blocks && !sample.late; ++i) {
    // The own block of an alltoall and allgather is copied when its owner makes a call.
    if (kind != IBCAST && i == g->rank) continue;
    const unsigned char* last = g->recv + (size_t)(i + 1) * g->bytes - 1;
    const double left = begun + most_ns - now_ns();
    if (!compute_until(last, value, left > 0 ? left : 0, &g->calm, &loss)) sample.late = true;
  }
  if (sample.late) {
    const double waits = now_ns();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    loss.ns += now_ns() - waits;
  }
  sample.us = (now_ns() - moment) / 1e3;
  // What others still want of this rank goes on meanwhile; the same time for all, so that all lose what they lose.
  const double left = begun + window_ns - now_ns();
  if (left > 0) compute_for(left, &g->calm, &loss);
  const double waits = now_ns();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  sample.lost_ns = loss.ns + starting + now_ns() - waits;
  return sample;
}

static void measure(struct group* g, enum kind kind, const struct settings* s) {
  enum { FEWEST = 8, MOST = 2000 };
  static struct interrupts before, after;
  // A program computes long between calls: engines with progress threads have seen that, and do not wait for its next
  // call.
  const double least = 1e6;
  double window = least;
  int count = FEWEST, late = 0;
  for (int i = 0; i < FEWEST; ++i) {  // warms up, and finds how long one takes
    const struct sample sample = repeat(g, kind, (unsigned char)(1 + i), least, s->most_ns);
    double most[2] = {sample.us, sample.late};
    MPI_Allreduce(MPI_IN_PLACE, most, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    late += most[1] != 0;
    if (i > FEWEST / 2 && most[0] * 2e3 > window) window = most[0] * 2e3;
  }
  if (late > FEWEST / 2) window = s->most_ns;  // nothing comes before a call: all ranks make it then
  count = (int)(s->budget_ns / (window + 60e3));
  count = count < FEWEST ? FEWEST : count > MOST ? MOST : count;
  double *us = allocate((size_t)count * sizeof *us), *lost = allocate((size_t)count * sizeof *lost);
  double *slowest = allocate((size_t)count * sizeof *slowest), *all = allocate((size_t)count * sizeof *all);
  double *lates = allocate((size_t)count * sizeof *lates), *any = allocate((size_t)count * sizeof *any);
  if (g->rank == 0) count_interrupts(&before);
  for (int i = 0; i < count; ++i) {
    const struct sample sample = repeat(g, kind, (unsigned char)(1 + (i + FEWEST) % 251), window, s->most_ns);
    us[i] = sample.us;
    lost[i] = sample.lost_ns / 1e3;
    lates[i] = sample.late;
  }
  if (g->rank == 0) count_interrupts(&after);
  int workers = io_workers();
  MPI_Reduce(us, slowest, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  MPI_Reduce(lost, all, count, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(g->rank == 0 ? MPI_IN_PLACE : &workers, &workers, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Reduce(lates, any, count, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  if (g->rank == 0) {
    late = 0;
    for (int i = 0; i < count; ++i) late += any[i] != 0;
    sort_samples(slowest, count);
    sort_samples(all, count);
    printf(
        "{\"part\": \"group\", \"operation\": \"%s\", \"bytes\": %zu, \"ranks\": %d, \"repetitions\": %d, \"us\": "
        "%.3f, "
        "\"low_us\": %.3f, \"high_us\": %.3f, \"cpu_us\": %.3f, \"workers\": %d, \"late\": %d",
        names[kind], g->bytes, g->ranks, count, quantile(slowest, count, 0.5), quantile(slowest, count, 0.25),
        quantile(slowest, count, 0.75), quantile(all, count, 0.5), workers, late);
    print_interrupts(&before, &after, count);
    printf("}\n");
    fflush(stdout);
  }
  free(any);
  free(lates);
  free(all);
  free(slowest);
  free(lost);
  free(us);
}

void measure_group(const struct settings* settings) {
  struct group g = {.calm = measure_calm()};
  MPI_Comm_rank(MPI_COMM_WORLD, &g.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &g.ranks);
  for (int i = 0; i < settings->size_count; ++i) {
    g.bytes = (size_t)settings->sizes[i];
    const size_t all = g.bytes * (size_t)g.ranks;
    g.send = allocate(all);
    g.recv = allocate(all);
    memset(g.send, 0, all);
    memset(g.recv, 0, all);
    for (enum kind kind = 0; kind < KINDS; ++kind) measure(&g, kind, settings);
    free(g.recv);
    free(g.send);
  }
}
