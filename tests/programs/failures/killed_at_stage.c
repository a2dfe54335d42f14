// SPDX-License-Identifier: BSD-3-Clause
// The rank on one host is killed at a given time after it has come to a stage of the program, and goes on until then.
//
//     killed_at_stage init|dup|collective|free|finalize|never HOST MICROSECONDS FOLDER
//
// It kills itself, by a timer of the kernel's. Each rank leaves a file in the folder that is named after its host and
// says how many io_urings it has after MPI_Init. "never": the rank on HOST says how many microseconds each stage takes.
#define _GNU_SOURCE
#include <dirent.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { kComms = 4, kSmall = 16, kLarge = 20000 };

static const char* stage;
static long delay_us;
static int victim;
static double began;
static int small[kSmall], sums[kSmall], *large, *all;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int is(const char* name) { return strcmp(stage, name) == 0; }

static void begin(const char* name) {
  began = now();
  if (!victim || !is(name)) return;
  struct sigevent end = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
  const struct itimerspec then = {.it_value = {.tv_sec = delay_us / 1000000, .tv_nsec = delay_us % 1000000 * 1000 + 1}};
  timer_t timer;
  if (timer_create(CLOCK_MONOTONIC, &end, &timer) != 0 || timer_settime(timer, 0, &then, NULL) != 0) abort();
}

// Whoever is to be killed in this stage goes no further.
static void end(const char* name) {
  if (victim && is("never")) printf("%s took %.0f us\n", name, 1e6 * (now() - began));
  while (victim && is(name)) pause();
}

static int rings(void) {
  int found = 0;
  char path[300];
  char target[64];
  DIR* folder = opendir("/proc/self/fd");
  for (const struct dirent* entry; folder != NULL && (entry = readdir(folder)) != NULL;) {
    snprintf(path, sizeof path, "/proc/self/fd/%s", entry->d_name);
    const ssize_t length = readlink(path, target, sizeof target - 1);
    if (length < 0) continue;
    target[length] = 0;
    found += strstr(target, "[io_uring]") != NULL;
  }
  closedir(folder);
  return found;
}

static void tell(const char* folder, const char* host) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s", folder, host);
  FILE* file = fopen(path, "w");
  if (file == NULL || fprintf(file, "%d", rings()) < 0 || fclose(file) != 0) abort();
}

static void collectives(MPI_Comm comm, int ranks) {
  MPI_Request requests[4];
  MPI_Ibcast(large, kLarge, MPI_INT, 0, comm, &requests[0]);
  MPI_Iallreduce(small, sums, kSmall, MPI_INT, MPI_SUM, comm, &requests[1]);
  MPI_Iallgather(&all[ranks * kLarge], kLarge, MPI_INT, all, kLarge, MPI_INT, comm, &requests[2]);
  MPI_Ibarrier(comm, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

int main(int argc, char** argv) {
  char host[64];
  if (argc != 5 || gethostname(host, sizeof host) != 0) return 2;
  stage = argv[1];
  delay_us = atol(argv[3]);
  victim = strcmp(host, argv[2]) == 0;
  begin("init");
  MPI_Init(&argc, &argv);
  end("init");
  tell(argv[4], host);
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  large = calloc(kLarge, sizeof *large);
  all = calloc((size_t)(ranks + 1) * kLarge, sizeof *all);
  if (large == NULL || all == NULL) MPI_Abort(MPI_COMM_WORLD, 2);
  MPI_Comm comms[kComms];

  MPI_Barrier(MPI_COMM_WORLD);
  begin("dup");
  for (int i = 0; i < kComms; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  end("dup");

  MPI_Barrier(MPI_COMM_WORLD);
  begin("collective");
  for (int i = 0; i < kComms; ++i) collectives(comms[i], ranks);
  end("collective");

  MPI_Barrier(MPI_COMM_WORLD);
  begin("free");
  for (int i = 0; i < kComms; ++i) MPI_Comm_free(&comms[i]);
  end("free");

  MPI_Barrier(MPI_COMM_WORLD);
  begin("finalize");
  MPI_Finalize();
  end("finalize");
  free(large);
  free(all);
  return 0;
}
