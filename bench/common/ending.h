/* SPDX-License-Identifier: BSD-3-Clause */
// How a program of bench/ ends a job that went wrong: with the reason on stderr, and exit code 2.
#ifndef URAKATA_BENCH_ENDING_H
#define URAKATA_BENCH_ENDING_H

#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static inline void nap_ms(long ms) {
  const struct timespec length = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
  nanosleep(&length, NULL);
}

// At MPI_Abort a launcher may end before it has read what the ranks wrote last (seen with Hydra 5.0.2).
static inline void say_and_end(const char* format, va_list arguments) {
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  fflush(NULL);
  nap_ms(100);
  MPI_Abort(MPI_COMM_WORLD, 2);
}

// For what any rank may be the one to see: it says what is wrong and ends the job.
static inline void end_job(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say_and_end(format, arguments);
  va_end(arguments);
}

// For what all ranks see, or rank 0: that one says it. Others end the job only where it did not.
static inline void fail(const char* format, ...) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) nap_ms(1000);
  va_list arguments;
  va_start(arguments, format);
  say_and_end(format, arguments);
  va_end(arguments);
}

#endif
