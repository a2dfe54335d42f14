// Messages between two ranks of a node, plain MPI: half round trip over sizes, and message rate. Run it with and
// without `urakata-exec --space`. Rank 0 first measures the floor with two threads of its own: a cache line that goes
// to and fro, and memcpy.
//
// space [--most BYTES] [--repeat N]: half round trip up to BYTES (default 4194304), each the median of N (default 5)
// turns. Times are ns, the rate is million messages a second with 64 of 8 bytes outstanding.
// One line a result: `name bytes value`.
#define _GNU_SOURCE
#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kLineTrips = 200000, kWindow = 64, kRateRounds = 4000, kMostTurns = 101, kPiece = 1 << 26 };

static int rank, turns = 5;
static long most = 4 << 20;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void* a, const void* b) {
  const double x = *(const double*)a, y = *(const double*)b;
  return (x > y) - (x < y);
}

static void report(const char* name, long bytes, double* values) {
  if (rank != 0) return;
  qsort(values, (size_t)turns, sizeof *values, ascending);
  printf("%s %ld %.3f\n", name, bytes, values[turns / 2]);
  fflush(stdout);
}

static _Alignas(128) atomic_long there;
static _Alignas(128) atomic_long back;

// The cores that the two ranks run on.
static int cores[2];

static void pin(int place) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)cores[place], &one);
  sched_setaffinity(0, sizeof one, &one);
}

static void* answer(void* unused) {
  (void)unused;
  pin(1);
  for (long i = 1; i <= kLineTrips; ++i) {
    while (atomic_load_explicit(&there, memory_order_acquire) != i) {
    }
    atomic_store_explicit(&back, i, memory_order_release);
  }
  return NULL;
}

static double line_ns(void) {
  cpu_set_t before;
  sched_getaffinity(0, sizeof before, &before);
  atomic_store(&there, 0);
  atomic_store(&back, 0);
  pthread_t other;
  if (pthread_create(&other, NULL, answer, NULL) != 0) return -1;
  pin(0);
  const double begin = now();
  for (long i = 1; i <= kLineTrips; ++i) {
    atomic_store_explicit(&there, i, memory_order_release);
    while (atomic_load_explicit(&back, memory_order_acquire) != i) {
    }
  }
  const double end = now();
  pthread_join(other, NULL);
  sched_setaffinity(0, sizeof before, &before);
  return (end - begin) / kLineTrips / 2;
}

static double memcpy_ns(char* to, const char* from, long bytes) {
  const long times = kPiece / (bytes + 1) + 1;
  const double begin = now();
  for (long i = 0; i < times; ++i) {
    memcpy(to, from, (size_t)bytes);
    __asm__ volatile("" ::"r"(to) : "memory");
  }
  return (now() - begin) / (double)times;
}

static double ping(char* out, char* in, long bytes) {
  long trips = kPiece / 4 / (bytes + 1000);
  if (trips < 20) trips = 20;
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = 0;
  for (long i = -(trips / 10) - 1; i < trips; ++i) {
    if (i == 0) begin = now();
    if (rank == 0) {
      MPI_Send(out, (int)bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
      MPI_Recv(in, (int)bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, (int)bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, (int)bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
  }
  return (now() - begin) / (double)trips / 2;
}

static double rate(char* out, char* in) {
  MPI_Request requests[kWindow];
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now();
  for (int round = 0; round < kRateRounds; ++round) {
    for (int i = 0; i < kWindow; ++i) {
      if (rank == 0) {
        MPI_Isend(out + 8 * i, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
      } else {
        MPI_Irecv(in + 8 * i, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
      }
    }
    MPI_Waitall(kWindow, requests, MPI_STATUSES_IGNORE);
    if (rank == 0) {
      MPI_Recv(in, 4, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Send(out, 4, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    }
  }
  return (double)kRateRounds * kWindow * 1e3 / (now() - begin);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--most") == 0) most = atol(argv[i + 1]);
    if (strcmp(argv[i], "--repeat") == 0) turns = atoi(argv[i + 1]);
  }
  if (ranks != 2 || most < 8 || turns < 1 || turns > kMostTurns) {
    if (rank == 0) fprintf(stderr, "space: two ranks; --most of at least 8; --repeat from 1 to %d\n", kMostTurns);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  char* out = malloc((size_t)most + 4096);
  char* in = malloc((size_t)most + 4096);
  if (out == NULL || in == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  memset(out, 1, (size_t)most + 4096);
  memset(in, 2, (size_t)most + 4096);

  cores[rank] = sched_getcpu();
  MPI_Sendrecv(&cores[rank], 1, MPI_INT, 1 - rank, 8, &cores[1 - rank], 1, MPI_INT, 1 - rank, 8, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (cores[0] == cores[1]) cores[1] = (cores[0] + 1) % (int)sysconf(_SC_NPROCESSORS_ONLN);

  // The floor and the message that is held against it alternate.
  double line[kMostTurns], small[kMostTurns], values[kMostTurns];
  for (int t = 0; t < turns; ++t) {
    // The other rank sleeps meanwhile: both cores are for the floor.
    int go = 1;
    if (rank == 0) {
      line[t] = line_ns();
      MPI_Send(&go, 1, MPI_INT, 1, 9, MPI_COMM_WORLD);
    } else {
      const struct timespec nap = {0, 1000000};
      for (int there_is = 0; !there_is; nanosleep(&nap, NULL)) {
        MPI_Iprobe(0, 9, MPI_COMM_WORLD, &there_is, MPI_STATUS_IGNORE);
      }
      MPI_Recv(&go, 1, MPI_INT, 0, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    small[t] = ping(out, in, 8);
  }
  report("line-ns", 64, line);
  report("half-round-trip-ns", 8, small);
  for (long bytes = 0; bytes <= most; bytes = bytes == 0 ? 1 : bytes * 2) {
    for (int t = 0; t < turns; ++t) values[t] = ping(out, in, bytes);
    report("half-round-trip-ns", bytes, values);
    if (bytes < 4096) continue;
    for (int t = 0; t < turns; ++t) values[t] = memcpy_ns(in, out, bytes);
    report("memcpy-ns", bytes, values);
  }
  for (int t = 0; t < turns; ++t) values[t] = rate(out, in);
  report("rate-million", 8, values);
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
