// SPDX-License-Identifier: BSD-3-Clause
// Part `lost`: the paper's measure. A broadcast from rank 0 by rank 1 and so on to the last rank, while all between
// repeat a product of small matrices with a test after each. See kernel.c.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#include "kernel.h"

enum { LARGEST = 64 };

struct lost {
  const struct settings* settings;
  int rank, ranks, bytes;
  unsigned char* buffer;
  int* sockets;  // by rank
  double left[LARGEST][LARGEST], right[LARGEST][LARGEST], product[LARGEST][LARGEST];
  double product_ns;  // of one, alone
  // Of BLOCKED: the relay's thread.
  sem_t begin;
  atomic_int ended;
  bool stop;
};

static __attribute__((noinline)) void multiply(struct lost* l) {
  const long n = l->settings->product;
  for (long i = 0; i < n; ++i) {
    for (long j = 0; j < n; ++j) {
      double sum = 0;
      for (long k = 0; k < n; ++k) sum += l->left[i][k] * l->right[k][j];
      l->product[i][j] = sum;
    }
  }
  __asm__ volatile("" : : "r"(l) : "memory");
}

// The time of a product when nothing else goes on: of many rows of them the fastest tenth.
static double time_of_product(struct lost* l) {
  enum { ROWS = 200 };
  const int row = l->settings->product <= 8 ? 1000 : 20;
  double rows[ROWS];
  for (int i = 0; i < ROWS; ++i) {
    const double before = now_ns();
    for (int k = 0; k < row; ++k) multiply(l);
    rows[i] = (now_ns() - before) / row;
  }
  sort_samples(rows, ROWS);
  return quantile(rows, ROWS, 0.1);
}

static void* relay_thread(void* argument) {
  struct lost* l = argument;
  for (;;) {
    while (sem_wait(&l->begin) != 0) {
    }
    if (l->stop) return NULL;
    enum { PIECE = 16384 };  // so that it hands on while it receives
    for (int at = 0; at < l->bytes; at += PIECE) {
      const size_t piece = (size_t)(l->bytes - at < PIECE ? l->bytes - at : PIECE);
      receive_all(l->sockets[l->rank - 1], l->buffer + at, piece);
      send_all(l->sockets[l->rank + 1], l->buffer + at, piece);
    }
    atomic_store_explicit(&l->ended, 1, memory_order_release);
  }
}

// What a relay loses, by three clocks. Only the first has all that its computation lost: what a progress thread takes
// on its core is not in the clock of its own thread, what other processes and a virtual machine's host take in none of
// the CPU clocks.
struct loss_by_clock {
  double elapsed_ns;  // time from its start to its end, without the products
  double thread_ns;   // CPU time of the computing thread, likewise
  double process_ns;  // CPU time of all threads of its process
};

struct sample {
  double time;  // rank 0: of the start; others: of the end
  struct loss_by_clock lost;
};

static double cpu_ns(clockid_t clock) {
  struct timespec used;
  clock_gettime(clock, &used);
  return (double)used.tv_sec * 1e9 + (double)used.tv_nsec;
}

static MPI_Request start(struct lost* l, int from) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (l->settings->method == COLLECTIVE)
    MPI_Ibcast(l->buffer, l->bytes, MPI_BYTE, SOURCE, MPI_COMM_WORLD, &request);
  else
    MPI_Irecv(l->buffer, l->bytes, MPI_BYTE, from, 0, MPI_COMM_WORLD, &request);
  return request;
}

static void relay(struct lost* l, struct sample* sample) {
  const bool blocked = l->settings->method == BLOCKED;
  long products = 0;
  tell(l->sockets[SOURCE]);
  const double process = cpu_ns(CLOCK_PROCESS_CPUTIME_ID), thread = cpu_ns(CLOCK_THREAD_CPUTIME_ID);
  const double before = now_ns();
  MPI_Request request = MPI_REQUEST_NULL;
  if (blocked)
    sem_post(&l->begin);
  else
    request = start(l, l->rank - 1);
  bool receiving = l->settings->method == EXPLICIT;
  for (int ended = 0; !ended;) {
    multiply(l);
    ++products;
    if (blocked)
      ended = atomic_exchange_explicit(&l->ended, 0, memory_order_acquire);
    else
      MPI_Test(&request, &ended, MPI_STATUS_IGNORE);
    if (ended && receiving) {
      receiving = false;
      ended = 0;
      MPI_Isend(l->buffer, l->bytes, MPI_BYTE, l->rank + 1, 0, MPI_COMM_WORLD, &request);
    }
  }
  sample->time = now_ns();
  const double computed = (double)products * l->product_ns;
  sample->lost.elapsed_ns = sample->time - before - computed;
  sample->lost.thread_ns = cpu_ns(CLOCK_THREAD_CPUTIME_ID) - thread - computed;
  sample->lost.process_ns = cpu_ns(CLOCK_PROCESS_CPUTIME_ID) - process - computed;
}

static void source(struct lost* l, struct sample* sample) {
  for (int other = RELAY; other < l->ranks; ++other) wait_for(l->sockets[other]);
  spin_ns(10e3);
  sample->time = now_ns();
  if (l->settings->method == BLOCKED) send_all(l->sockets[RELAY], l->buffer, (size_t)l->bytes);
  if (l->settings->method == EXPLICIT) MPI_Send(l->buffer, l->bytes, MPI_BYTE, RELAY, 0, MPI_COMM_WORLD);
  if (l->settings->method != COLLECTIVE) return;
  MPI_Request request = start(l, SOURCE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void sink(struct lost* l, struct sample* sample) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (l->settings->method != BLOCKED) request = start(l, l->rank - 1);
  tell(l->sockets[SOURCE]);
  if (l->settings->method == BLOCKED)
    receive_all(l->sockets[l->rank - 1], l->buffer, (size_t)l->bytes);
  else
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  sample->time = now_ns();
}

// Of all repetitions, collected at RELAY: the time from the start to the last end behind it, and what the relays lose,
// the mean over them.
enum quantity { TIME, ELAPSED, THREAD, PROCESS, QUANTITIES };

static void collect(const struct lost* l, const struct sample* samples, double* values[QUANTITIES]) {
  const int n = l->settings->repetitions, relays = l->ranks - 2;
  const bool computes = l->rank != SOURCE && l->rank != l->ranks - 1;
  for (int i = 0; i < n; ++i) {
    const struct loss_by_clock* const lost = &samples[i].lost;
    values[TIME][i] = l->rank > RELAY ? samples[i].time : 0;
    values[ELAPSED][i] = computes ? lost->elapsed_ns / relays : 0;
    values[THREAD][i] = computes ? lost->thread_ns / relays : 0;
    values[PROCESS][i] = computes ? lost->process_ns / relays : 0;
  }
  double* const begun = allocate((size_t)n * sizeof *begun);
  for (int i = 0; i < n; ++i) begun[i] = samples[i].time;
  MPI_Bcast(begun, n, MPI_DOUBLE, SOURCE, MPI_COMM_WORLD);
  for (int q = 0; q < QUANTITIES; ++q) {
    const void* const own = l->rank == RELAY ? MPI_IN_PLACE : values[q];
    MPI_Reduce(own, values[q], n, MPI_DOUBLE, q == TIME ? MPI_MAX : MPI_SUM, RELAY, MPI_COMM_WORLD);
  }
  for (int i = 0; i < n; ++i) values[TIME][i] -= begun[i];
  free(begun);
}

static void print(const struct lost* l, double* values[QUANTITIES], const struct interrupts counted[2]) {
  const int n = l->settings->repetitions;
  double us[QUANTITIES];
  for (int q = 0; q < QUANTITIES; ++q) {
    sort_samples(values[q], n);
    us[q] = quantile(values[q], n, 0.5) / 1e3;
  }
  printf(
      "{\"part\": \"lost\", \"bytes\": %d, \"ranks\": %d, \"repetitions\": %d, \"product\": %ld, \"product_ns\": "
      "%.1f, \"us\": %.3f, \"low_us\": %.3f, \"high_us\": %.3f, \"lost_us\": %.3f, \"lost_thread_us\": %.3f, "
      "\"lost_process_us\": %.3f",
      l->bytes, l->ranks, n, l->settings->product, l->product_ns, us[TIME], quantile(values[TIME], n, 0.25) / 1e3,
      quantile(values[TIME], n, 0.75) / 1e3, us[ELAPSED], us[THREAD], us[PROCESS]);
  print_interrupts(&counted[0], &counted[1], n);
  printf("}\n");
  fflush(stdout);
}

static void measure(struct lost* l) {
  static struct interrupts counted[2];  // before and after
  const int n = l->settings->repetitions, warm = 5;
  struct sample* const samples = allocate((size_t)n * sizeof *samples);
  double* values[QUANTITIES];
  for (int q = 0; q < QUANTITIES; ++q) values[q] = allocate((size_t)n * sizeof **values);
  for (int i = -warm; i < n; ++i) {
    struct sample sample = {0};
    if (i == 0 && l->rank == RELAY) count_interrupts(&counted[0]);
    if (l->rank == SOURCE)
      source(l, &sample);
    else if (l->rank == l->ranks - 1)
      sink(l, &sample);
    else
      relay(l, &sample);
    MPI_Barrier(MPI_COMM_WORLD);
    if (i >= 0) samples[i] = sample;
  }
  if (l->rank == RELAY) count_interrupts(&counted[1]);
  collect(l, samples, values);
  if (l->rank == RELAY) print(l, values, counted);
  for (int q = 0; q < QUANTITIES; ++q) free(values[q]);
  free(samples);
}

void measure_lost(const struct settings* settings) {
  static struct lost l;
  l.settings = settings;
  if (settings->product < 1 || settings->product > LARGEST) fail("--product: from 1 to %d", LARGEST);
  MPI_Comm_rank(MPI_COMM_WORLD, &l.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &l.ranks);
  l.sockets = allocate((size_t)l.ranks * sizeof *l.sockets);
  open_sockets(l.sockets);
  for (int i = 0; i < LARGEST; ++i)
    for (int j = 0; j < LARGEST; ++j) l.left[i][j] = 1.0 / (1 + i + j), l.right[i][j] = i == j;
  const bool computes = l.rank != SOURCE && l.rank != l.ranks - 1;
  if (computes) l.product_ns = time_of_product(&l);
  pthread_t thread;
  const bool own_thread = settings->method == BLOCKED && computes;
  sem_init(&l.begin, 0, 0);
  if (own_thread && pthread_create(&thread, NULL, relay_thread, &l) != 0) fail("no thread for the relay");
  for (int i = 0; i < settings->size_count; ++i) {
    l.bytes = (int)settings->sizes[i];
    l.buffer = allocate((size_t)l.bytes);
    memset(l.buffer, 0, (size_t)l.bytes);
    measure(&l);
    free(l.buffer);
  }
  if (own_thread) {
    l.stop = true;
    sem_post(&l.begin);
    pthread_join(thread, NULL);
  }
  free(l.sockets);
}
