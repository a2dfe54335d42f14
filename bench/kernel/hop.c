// SPDX-License-Identifier: BSD-3-Clause
// Part `hop`: a message from rank 0 by rank 1 to rank 2, while rank 1 computes without a call. See kernel.c.
#include "kernel.h"

struct hop {
  const struct settings* settings;
  int rank, bytes;
  unsigned char* buffer;
  int sockets[RELAY_RANKS];
  struct calm calm;
};

// The relay is surely in its computation by then. A program computes long between calls: engines with progress threads
// have seen that, and do not wait for its next call.
static const double settle_ns = 1e6;

struct sample {
  double time;       // rank 0: of the start; rank 2: of the end, on one machine's clock
  double start_ns;   // rank 1: of its starting call
  struct loss loss;  // of rank 1
  bool late;         // rank 1: nothing had come before it made a call
};

static void source(struct hop* h, unsigned char mark, struct sample* sample) {
  h->buffer[h->bytes - 1] = mark;
  wait_for(h->sockets[RELAY]);
  wait_for(h->sockets[SINK]);
  spin_ns(settle_ns);
  sample->time = now_ns();
  if (h->settings->method == COLLECTIVE) {
    MPI_Request request;
    MPI_Ibcast(h->buffer, h->bytes, MPI_BYTE, SOURCE, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else {
    MPI_Send(h->buffer, h->bytes, MPI_BYTE, RELAY, 0, MPI_COMM_WORLD);
  }
}

static void sink(struct hop* h, struct sample* sample) {
  MPI_Request request;
  if (h->settings->method == COLLECTIVE)
    MPI_Ibcast(h->buffer, h->bytes, MPI_BYTE, SOURCE, MPI_COMM_WORLD, &request);
  else
    MPI_Irecv(h->buffer, h->bytes, MPI_BYTE, RELAY, 0, MPI_COMM_WORLD, &request);
  tell(h->sockets[SOURCE]);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  sample->time = now_ns();
}

static void relay(struct hop* h, unsigned char mark, struct sample* sample) {
  MPI_Request request;
  const double before = now_ns();
  if (h->settings->method == COLLECTIVE) {
    MPI_Ibcast(h->buffer, h->bytes, MPI_BYTE, SOURCE, MPI_COMM_WORLD, &request);
    sample->start_ns = now_ns() - before;
    tell(h->sockets[SOURCE]);
    sample->late = !compute_until(h->buffer + h->bytes - 1, mark, h->settings->most_ns, &h->calm, &sample->loss);
    compute_for(100e3, &h->calm, &sample->loss);  // it is handed on meanwhile
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return;
  }
  MPI_Irecv(h->buffer, h->bytes, MPI_BYTE, SOURCE, 0, MPI_COMM_WORLD, &request);
  sample->start_ns = now_ns() - before;
  tell(h->sockets[SOURCE]);
  for (int here = 0; !here;) {
    compute_for(1e3 * h->settings->test_us, &h->calm, &sample->loss);
    const double test = now_ns();
    MPI_Test(&request, &here, MPI_STATUS_IGNORE);
    sample->loss.ns += now_ns() - test;
  }
  const double test = now_ns();
  MPI_Send(h->buffer, h->bytes, MPI_BYTE, SINK, 0, MPI_COMM_WORLD);
  sample->loss.ns += now_ns() - test;
}

static void print(const struct hop* h, const double* us, const struct sample* relayed, const double* starts, int n,
                  const struct interrupts counted[2]) {
  // Medians: the clock's interrupts, which come every few milliseconds, are in few of them.
  double *lost = allocate((size_t)n * sizeof *lost), *breaks = allocate((size_t)n * sizeof *breaks);
  int late = 0;
  for (int i = 0; i < n; ++i) {
    lost[i] = relayed[i].loss.ns / 1e3;
    breaks[i] = (double)relayed[i].loss.breaks;
    late += relayed[i].late;
  }
  sort_samples(lost, n);
  sort_samples(breaks, n);
  printf(
      "{\"part\": \"hop\", \"bytes\": %d, \"ranks\": %d, \"repetitions\": %d, \"us\": %.3f, \"low_us\": %.3f, "
      "\"high_us\": %.3f, \"stolen_us\": %.3f, \"interruptions\": %.1f, \"start_ns\": %.0f, \"late\": %d",
      h->bytes, RELAY_RANKS, n, quantile(us, n, 0.5), quantile(us, n, 0.25), quantile(us, n, 0.75),
      quantile(lost, n, 0.5), quantile(breaks, n, 0.5), quantile(starts, n, 0.5), late);
  print_interrupts(&counted[0], &counted[1], n);
  printf("}\n");
  free(breaks);
  free(lost);
}

static void measure(struct hop* h) {
  static struct interrupts counted[2];  // before and after
  const int n = h->settings->repetitions, warm = 20 < n ? 20 : n;
  struct sample* samples = allocate((size_t)n * sizeof *samples);
  double *times = allocate((size_t)n * sizeof *times), *starts = allocate((size_t)n * sizeof *starts);
  for (int i = -warm; i < n; ++i) {
    struct sample sample = {0};
    const unsigned char mark = (unsigned char)(1 + (i + warm) % 251);
    if (i == 0 && h->rank == RELAY) count_interrupts(&counted[0]);
    if (h->rank == SOURCE) source(h, mark, &sample);
    if (h->rank == RELAY) relay(h, mark, &sample);
    if (h->rank == SINK) sink(h, &sample);
    if (i < 0) continue;
    samples[i] = sample;
    times[i] = sample.time;
    starts[i] = sample.start_ns;
  }
  if (h->rank == RELAY) count_interrupts(&counted[1]);
  if (h->rank == SINK) MPI_Send(times, n, MPI_DOUBLE, RELAY, 1, MPI_COMM_WORLD);
  if (h->rank == SOURCE) MPI_Send(times, n, MPI_DOUBLE, RELAY, 1, MPI_COMM_WORLD);
  if (h->rank == RELAY) {
    double* begun = allocate((size_t)n * sizeof *begun);
    MPI_Recv(times, n, MPI_DOUBLE, SINK, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(begun, n, MPI_DOUBLE, SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i) times[i] = (times[i] - begun[i]) / 1e3;
    sort_samples(times, n);
    sort_samples(starts, n);
    print(h, times, samples, starts, n, counted);
    fflush(stdout);
    free(begun);
  }
  free(starts);
  free(times);
  free(samples);
  MPI_Barrier(MPI_COMM_WORLD);
}

void measure_hop(const struct settings* settings) {
  struct hop h = {.settings = settings};
  MPI_Comm_rank(MPI_COMM_WORLD, &h.rank);
  open_sockets(h.sockets);
  if (h.rank == RELAY) h.calm = measure_calm();
  for (int i = 0; i < settings->size_count; ++i) {
    h.bytes = (int)settings->sizes[i];
    h.buffer = allocate((size_t)h.bytes);
    for (int at = 0; at < h.bytes; ++at) h.buffer[at] = 0;
    measure(&h);
    free(h.buffer);
  }
}
