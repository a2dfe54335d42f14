// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include "node.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TEXT = 512 };

// The number behind `name` in a line "name:   123 kB"; *value stays where the line is another.
static void take(const char* line, const char* name, long* value) {
  const size_t length = strlen(name);
  if (strncmp(line, name, length) == 0 && line[length] == ':') *value += atol(line + length + 1);
}

static int add_process(const char* pid, struct node_memory* all) {
  char path[TEXT], line[TEXT];
  snprintf(path, sizeof path, "/proc/%s/smaps_rollup", pid);
  FILE* file = fopen(path, "r");
  if (!file) return -1;
  while (fgets(line, sizeof line, file)) {
    take(line, "Pss", &all->pss);
    take(line, "Pss_Anon", &all->anonymous);
    take(line, "Pss_Shmem", &all->shared);
  }
  fclose(file);
  snprintf(path, sizeof path, "/proc/%s/status", pid);
  file = fopen(path, "r");
  if (!file) return -1;
  while (fgets(line, sizeof line, file)) take(line, "VmPTE", &all->page_tables);
  fclose(file);
  ++all->spaces;
  return 0;
}

// The name of the file that the process runs, without its folder; empty where that cannot be known.
static void name_of(const char* pid, char* name) {
  char path[TEXT], file[TEXT];
  snprintf(path, sizeof path, "/proc/%s/exe", pid);
  const ssize_t length = readlink(path, file, sizeof file - 1);
  file[length > 0 ? length : 0] = '\0';
  const char* last = strrchr(file, '/');
  snprintf(name, TEXT, "%s", last ? last + 1 : file);
}

// 0 where there is no such process any more.
static pid_t parent_of(pid_t pid) {
  char path[TEXT], line[TEXT];
  long parent = 0;
  snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
  FILE* file = fopen(path, "r");
  if (!file) return 0;
  while (fgets(line, sizeof line, file)) {
    if (sscanf(line, "PPid: %ld", &parent) == 1) break;
  }
  fclose(file);
  return (pid_t)parent;
}

int read_node_memory(struct node_memory* all) {
  char own[TEXT], name[TEXT];
  memset(all, 0, sizeof *all);
  name_of("self", own);
  DIR* processes = opendir("/proc");
  if (!processes) return -1;
  // A task is a child of the space daemon. The daemon is in the session of the proxy process that started it. Hydra
  // (MPICH, Intel MPI) gives each of its children a session of its own: these have only their parent in common.
  const pid_t session = getsid(strcmp(own, "urakata-spaced") == 0 ? getppid() : 0);
  const pid_t launcher = parent_of(session);
  int space_counted = 0, failed = 0;
  for (const struct dirent* one; (one = readdir(processes));) {
    if (!isdigit((unsigned char)one->d_name[0])) continue;
    const pid_t pid = (pid_t)atol(one->d_name);
    if (getsid(pid) != session && (launcher == 0 || parent_of(pid) != launcher)) continue;
    name_of(one->d_name, name);
    if (strcmp(name, "urakata-exec") == 0 || strcmp(name, "urakata-proxy") == 0) {
      struct node_memory beside = {0};
      failed |= add_process(one->d_name, &beside);
      all->pss += beside.pss;
      all->page_tables += beside.page_tables;
      all->anonymous += beside.anonymous;
      all->shared += beside.shared;
      all->beside += beside.pss + beside.page_tables;
      all->spaces += beside.spaces;
    } else if (strcmp(name, "urakata-spaced") == 0) {
      if (!space_counted) failed |= add_process(one->d_name, all);
      space_counted = 1;
    } else if (strcmp(name, own) == 0) {
      failed |= add_process(one->d_name, all);
    }
  }
  closedir(processes);
  return failed;
}
