/* Clocks of the overlap benchmark: elapsed time, and CPU time of the calling, computing and other threads. */
#ifndef URAKATA_BENCH_OVERLAP_CLOCK_H
#define URAKATA_BENCH_OVERLAP_CLOCK_H

#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* Microseconds of `id` since its own epoch; 0 where the clock cannot be read. */
static double clock_us(clockid_t id) {
  struct timespec now;
  if (clock_gettime(id, &now) != 0) return 0.0;
  return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static double now_us(void) { return clock_us(CLOCK_MONOTONIC); }

static double caller_cpu_us(void) { return clock_us(CLOCK_THREAD_CPUTIME_ID); }

/* CPU clocks of the OpenMP threads, the caller among them. They are taken once, and valid as long as the threads live:
   the number of threads is never changed after that. */
struct team {
  int threads;
  clockid_t* clocks;
};

static struct team team_open(void) {
  struct team team = {omp_get_max_threads(), NULL};
  team.clocks = calloc((size_t)team.threads, sizeof *team.clocks);
  if (!team.clocks) abort();
#pragma omp parallel
  pthread_getcpuclockid(pthread_self(), &team.clocks[omp_get_thread_num()]);
  return team;
}

static void team_close(struct team* team) { free(team->clocks); }

/* CPU time of all threads of the process that do not compute: whoever progresses communication in the background,
   whether Urakata's helper or a thread of the host. OpenMP threads that spin for work are not counted. */
static double helper_cpu_us(const struct team* team) {
  double sum = clock_us(CLOCK_PROCESS_CPUTIME_ID);
  for (int i = 0; i < team->threads; ++i) sum -= clock_us(team->clocks[i]);
  return sum;
}

static void sleep_us(double us) {
  struct timespec nap = {(time_t)(us / 1e6), 0};
  nap.tv_nsec = (long)(1e3 * (us - 1e6 * (double)nap.tv_sec));
  nanosleep(&nap, NULL);
}

#endif
