/* SPDX-License-Identifier: BSD-3-Clause */
// What the own process has: threads, TCP connections, and the segments with data that these have sent.
#ifndef URAKATA_BENCH_PROCESS_COUNTS_H
#define URAKATA_BENCH_PROCESS_COUNTS_H

#include <dirent.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

struct process_counts {
  long threads, sockets, segments;
};

// As the kernel's tcp_info goes on behind the C library's.
struct longer_tcp_info {
  struct tcp_info common;
  unsigned long long rates[4];
  unsigned others[5], data_segments_out;
};

static struct process_counts count_process(void) {
  struct process_counts counts = {0, 0, 0};
  char line[256];
  FILE* const status = fopen("/proc/self/status", "r");
  while (status != NULL && fgets(line, sizeof line, status) != NULL) sscanf(line, "Threads: %ld", &counts.threads);
  if (status != NULL) fclose(status);
  DIR* const descriptors = opendir("/proc/self/fd");
  for (struct dirent* entry = NULL; descriptors != NULL && (entry = readdir(descriptors)) != NULL;) {
    struct longer_tcp_info info;
    socklen_t size = sizeof info;
    memset(&info, 0, sizeof info);
    const int descriptor = atoi(entry->d_name);
    if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) continue;
    if (info.common.tcpi_state != TCP_ESTABLISHED) continue;
    ++counts.sockets;
    counts.segments += info.data_segments_out;
  }
  if (descriptors != NULL) closedir(descriptors);
  return counts;
}

#endif
