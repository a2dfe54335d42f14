// Part `lost`: the paper's measure. A broadcast from rank 0 by rank 1 to rank 2, while rank 1 repeats a product of small
// matrices with a test after each. See kernel.c.
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <string.h>

#include "kernel.h"

enum { LARGEST = 64 };

struct lost {
  const struct settings* settings;
  int rank, bytes;
  unsigned char* buffer;
  int sockets[RELAY_RANKS];
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
      receive_all(l->sockets[SOURCE], l->buffer + at, piece);
      send_all(l->sockets[SINK], l->buffer + at, piece);
    }
    atomic_store_explicit(&l->ended, 1, memory_order_release);
  }
}

struct sample {
  double time;                 // rank 0: of the start; rank 2: of the end
  double elapsed_ns, lost_ns;  // rank 1: from its start to its end, and without the products
};

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
  const double before = now_ns();
  MPI_Request request = MPI_REQUEST_NULL;
  if (blocked)
    sem_post(&l->begin);
  else
    request = start(l, SOURCE);
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
      MPI_Isend(l->buffer, l->bytes, MPI_BYTE, SINK, 0, MPI_COMM_WORLD, &request);
    }
  }
  sample->elapsed_ns = now_ns() - before;
  sample->lost_ns = sample->elapsed_ns - (double)products * l->product_ns;
}

static void source(struct lost* l, struct sample* sample) {
  wait_for(l->sockets[RELAY]);
  wait_for(l->sockets[SINK]);
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
  if (l->settings->method != BLOCKED) request = start(l, RELAY);
  tell(l->sockets[SOURCE]);
  if (l->settings->method == BLOCKED)
    receive_all(l->sockets[RELAY], l->buffer, (size_t)l->bytes);
  else
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  sample->time = now_ns();
}

static void measure(struct lost* l) {
  const int n = l->settings->repetitions, warm = 5;
  double *times = allocate((size_t)n * sizeof *times), *lost = allocate((size_t)n * sizeof *lost);
  double* begun = allocate((size_t)n * sizeof *begun);
  for (int i = -warm; i < n; ++i) {
    struct sample sample = {0};
    if (l->rank == SOURCE) source(l, &sample);
    if (l->rank == RELAY) relay(l, &sample);
    if (l->rank == SINK) sink(l, &sample);
    MPI_Barrier(MPI_COMM_WORLD);
    if (i < 0) continue;
    times[i] = sample.time;
    lost[i] = sample.lost_ns / 1e3;
  }
  if (l->rank != RELAY) {
    MPI_Send(times, n, MPI_DOUBLE, RELAY, 1, MPI_COMM_WORLD);
  } else {
    MPI_Recv(times, n, MPI_DOUBLE, SINK, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Recv(begun, n, MPI_DOUBLE, SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < n; ++i) times[i] = (times[i] - begun[i]) / 1e3;
    sort_samples(times, n);
    sort_samples(lost, n);
    printf(
        "{\"part\": \"lost\", \"bytes\": %d, \"ranks\": %d, \"repetitions\": %d, \"product\": %ld, \"product_ns\": "
        "%.1f, "
        "\"us\": %.3f, \"low_us\": %.3f, \"high_us\": %.3f, \"lost_us\": %.3f}\n",
        l->bytes, RELAY_RANKS, n, l->settings->product, l->product_ns, quantile(times, n, 0.5),
        quantile(times, n, 0.25), quantile(times, n, 0.75), quantile(lost, n, 0.5));
    fflush(stdout);
  }
  free(begun);
  free(lost);
  free(times);
}

void measure_lost(const struct settings* settings) {
  static struct lost l;
  l.settings = settings;
  if (settings->product < 1 || settings->product > LARGEST) fail("--product: from 1 to %d", LARGEST);
  MPI_Comm_rank(MPI_COMM_WORLD, &l.rank);
  open_sockets(l.sockets);
  for (int i = 0; i < LARGEST; ++i)
    for (int j = 0; j < LARGEST; ++j) l.left[i][j] = 1.0 / (1 + i + j), l.right[i][j] = i == j;
  if (l.rank == RELAY) l.product_ns = time_of_product(&l);
  pthread_t thread;
  const bool own_thread = settings->method == BLOCKED && l.rank == RELAY;
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
}
