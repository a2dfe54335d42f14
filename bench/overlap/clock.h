/* SPDX-License-Identifier: BSD-3-Clause */
/* Clocks of the overlap benchmark: time since the job's start on one clock for all ranks, and CPU time of the calling,
   computing and other threads. */
#ifndef URAKATA_BENCH_OVERLAP_CLOCK_H
#define URAKATA_BENCH_OVERLAP_CLOCK_H

#include <fcntl.h>
#include <mpi.h>
#include <omp.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Microseconds of `id` since its own epoch; 0 where the clock cannot be read. */
static double clock_us(clockid_t id) {
  struct timespec now;
  if (clock_gettime(id, &now) != 0) return 0.0;
  return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

static double clock_offset_us;

/* Microseconds on the clock of rank 0, as far as clock_agree() could find it. */
static double now_us(void) { return clock_us(CLOCK_MONOTONIC) + clock_offset_us; }

/* The random name that a kernel gives itself at each start: ranks with the same one read the same clock. */
static void clock_name(char name[64]) {
  memset(name, 0, 64);
  const int file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  if (read(file, name, 63) < 0) name[0] = '\0';
  close(file);
}

/* Sets the offset of this rank's clock to rank 0's: none on one machine, else by Cristian's method (the shortest of
   many round trips, half of which bounds the error). Collective over MPI_COMM_WORLD. */
static void clock_agree(void) {
  enum { TRIPS = 100 };
  int rank, ranks;
  char mine[64], first[64];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  clock_name(mine);
  memcpy(first, mine, sizeof mine);
  MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
  const int same = mine[0] != '\0' && strcmp(mine, first) == 0;
  for (int other = 1; other < ranks; ++other) {
    if (rank != 0 && rank != other) continue;
    int trips = same ? 0 : TRIPS;
    if (rank == 0) MPI_Recv(&trips, 1, MPI_INT, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == other) MPI_Send(&trips, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    double shortest = 1e30, theirs = 0.0;
    for (int trip = 0; trip < trips; ++trip) {
      if (rank == 0) {
        MPI_Recv(NULL, 0, MPI_DOUBLE, other, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        theirs = now_us();
        MPI_Send(&theirs, 1, MPI_DOUBLE, other, 0, MPI_COMM_WORLD);
        continue;
      }
      const double before = clock_us(CLOCK_MONOTONIC);
      MPI_Send(NULL, 0, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
      MPI_Recv(&theirs, 1, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      const double after = clock_us(CLOCK_MONOTONIC);
      if (after - before < shortest) shortest = after - before, clock_offset_us = theirs - 0.5 * (before + after);
    }
  }
}

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
   whether Urakata's progress thread or a thread of the MPI library. OpenMP threads that spin for work are not
   counted. */
static double progress_cpu_us(const struct team* team) {
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
