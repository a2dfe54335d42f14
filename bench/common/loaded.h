/* SPDX-License-Identifier: BSD-3-Clause */
// Which library really answers the program's MPI calls: a benchmark must know what it measures. Needs _GNU_SOURCE.
#ifndef URAKATA_BENCH_LOADED_H
#define URAKATA_BENCH_LOADED_H

#include <dlfcn.h>

#include "timing.h"

// Whether this rank lives in a space.
static inline int in_space(void) { return getenv("URAKATA_SPACE_AT") != NULL; }

// Rank 0 prints {"mpi": FILE, "library": VERSION}: the file that MPI_Init comes from, and the MPI library's own version
// text.
static inline void print_loaded(void) {
  int rank = 0, length = 0;
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank != 0) return;
  MPI_Get_library_version(version, &length);
  for (char* c = version; *c; ++c) {
    if (*c == '\n')
      *c = '\0';
    else if (*c == '"' || *c == '\\' || *c < ' ')
      *c = ' ';
    if (!*c) break;
  }
  Dl_info info;
  void* const init = dlsym(RTLD_DEFAULT, "MPI_Init");
  printf("{\"mpi\": \"%s\", \"library\": \"%s\"}\n", init && dladdr(init, &info) ? info.dli_fname : "", version);
  fflush(stdout);
}

#endif
