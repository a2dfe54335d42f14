// SPDX-License-Identifier: BSD-3-Clause
// Who takes the interrupts: see kernel.h.
#define _GNU_SOURCE
#include <string.h>

#include "kernel.h"

static const char* const kinds[INTERRUPT_KINDS] = {"net_rx", "function_call", "reschedule"};

// What a line counts; -1: nothing of these. The labels before the colon differ between processors (CAL, RES on x86,
// IPI0, IPI1 on ARM), the words behind the counts do not.
static int kind_of(const char* line) {
  if (strstr(line, "NET_RX:")) return PACKETS;
  if (strstr(line, "Function call interrupts")) return FUNCTION_CALLS;
  if (strstr(line, "Rescheduling interrupts")) return RESCHEDULES;
  return -1;
}

// "CPU0 CPU2": the cores of the columns. How many there are.
static int read_columns(const char* line, int* cores) {
  int count = 0;
  for (const char* at = line; count < MOST_CORES && (at = strstr(at, "CPU"));) {
    at += 3;
    cores[count++] = (int)strtol(at, NULL, 10);
  }
  return count;
}

static void read_counts(const char* line, const int* cores, int columns, double* counts) {
  const char* at = strchr(line, ':') + 1;
  for (int i = 0; i < columns; ++i) {
    char* end = NULL;
    const double value = strtod(at, &end);
    if (end == at) return;
    if (cores[i] < MOST_CORES) counts[cores[i]] = value;
    at = end;
  }
}

static bool read_table(const char* path, struct interrupts* to) {
  static int cores[MOST_CORES];
  FILE* const file = fopen(path, "re");
  if (!file) return false;
  char* line = NULL;
  size_t room = 0;
  const int columns = getline(&line, &room, file) > 0 ? read_columns(line, cores) : 0;
  while (getline(&line, &room, file) > 0) {
    const int kind = kind_of(line);
    if (kind >= 0) read_counts(line, cores, columns, to->counts[kind]);
  }
  free(line);
  fclose(file);
  return columns > 0;
}

void count_interrupts(struct interrupts* counted) {
  memset(counted, 0, sizeof *counted);
  counted->known = read_table("/proc/softirqs", counted) && read_table("/proc/interrupts", counted);
}

void print_interrupts(const struct interrupts* before, const struct interrupts* after, int operations) {
  if (!before->known || !after->known) return;
  printf(", \"interrupts\": {");
  for (int kind = 0; kind < INTERRUPT_KINDS; ++kind) {
    printf("%s\"%s\": {", kind > 0 ? ", " : "", kinds[kind]);
    const char* comma = "";
    for (int core = 0; core < MOST_CORES; ++core) {
      double more = after->counts[kind][core] - before->counts[kind][core];
      if (more < 0) more += 4294967296.0;  // the kernel counts in 32 bits
      if (more > 0) printf("%s\"%d\": %.4f", comma, core, more / operations), comma = ", ";
    }
    printf("}");
  }
  printf("}");
}
