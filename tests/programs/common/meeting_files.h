/* SPDX-License-Identifier: BSD-3-Clause */
// Ranks that meet by files in a folder, where MPI is broken on purpose: one says that it has come to a state, others
// wait for that.
#pragma once

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

enum { kMostPath = 4096 };

static inline void path_of(char* path, const char* folder, const char* state, int rank) {
  snprintf(path, kMostPath, "%s/%s.%d", folder, state, rank);
}

static inline void say(const char* folder, const char* state, int rank) {
  char path[kMostPath];
  path_of(path, folder, state, rank);
  FILE* file = fopen(path, "w");
  if (file == NULL || fclose(file) != 0) abort();
}

// Until all of the ranks below `ranks` have said so.
static inline void wait_for_all(const char* folder, const char* state, int ranks) {
  const int events = inotify_init1(IN_CLOEXEC);
  if (events < 0 || inotify_add_watch(events, folder, IN_CREATE) < 0) abort();
  for (int rank = 0; rank < ranks; ++rank) {
    char path[kMostPath], made[kMostPath];
    path_of(path, folder, state, rank);
    while (access(path, F_OK) != 0) {
      if (read(events, made, sizeof made) < 0 && errno != EINTR) abort();
    }
  }
  close(events);
}
