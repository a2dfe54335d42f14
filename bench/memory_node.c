#define _GNU_SOURCE
#include "memory_node.h"

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

int read_node_memory(struct node_memory* all) {
  char own[TEXT], name[TEXT];
  memset(all, 0, sizeof *all);
  name_of("self", own);
  DIR* processes = opendir("/proc");
  if (!processes) return -1;
  const pid_t session = getsid(0);
  int space_counted = 0, failed = 0;
  for (const struct dirent* one; (one = readdir(processes));) {
    if (!isdigit((unsigned char)one->d_name[0]) || getsid((pid_t)atol(one->d_name)) != session) continue;
    name_of(one->d_name, name);
    if (strcmp(name, "urakata-exec") == 0 || strcmp(name, "urakata-stand-in") == 0) {
      struct node_memory beside = {0};
      failed |= add_process(one->d_name, &beside);
      all->pss += beside.pss;
      all->page_tables += beside.page_tables;
      all->anonymous += beside.anonymous;
      all->shared += beside.shared;
      all->beside += beside.pss + beside.page_tables;
      all->spaces += beside.spaces;
    } else if (strcmp(name, "urakata-keeper") == 0) {
      if (!space_counted) failed |= add_process(one->d_name, all);
      space_counted = 1;
    } else if (strcmp(name, own) == 0) {
      failed |= add_process(one->d_name, all);
    }
  }
  closedir(processes);
  return failed;
}
