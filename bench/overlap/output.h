/* SPDX-License-Identifier: BSD-3-Clause */
/* What the overlap benchmark writes: one JSON object a line, by rank 0. */
#ifndef URAKATA_BENCH_OVERLAP_OUTPUT_H
#define URAKATA_BENCH_OVERLAP_OUTPUT_H

#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "amounts.h"
#include "loops.h"
#include "settings.h"

static void print_samples(const char* name, const double* values, int count) {
  printf("\"%s\":[", name);
  for (int i = 0; i < count; ++i) printf(i ? ",%.3f" : "%.3f", values[i]);
  printf("]");
}

static void print_text(const char* text) {
  putchar('"');
  for (; *text; ++text) {
    if (*text == '"' || *text == '\\') putchar('\\');
    if ((unsigned char)*text >= ' ') putchar(*text);
  }
  putchar('"');
}

static void print_string(const char* name, const char* text) {
  printf("\"%s\":", name);
  print_text(text);
}

/* "host: 0-1,4" of the calling thread's affinity mask. */
static void describe_place(char* text, size_t size) {
  cpu_set_t mask;
  gethostname(text, size - 1);
  text[size - 1] = '\0';
  size_t used = strlen(text);
  used += (size_t)snprintf(text + used, size - used, ":");
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return;
  for (size_t cpu = 0; cpu < CPU_SETSIZE && used + 24 < size; ++cpu) {
    if (!CPU_ISSET(cpu, &mask)) continue;
    size_t last = cpu;
    while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &mask)) ++last;
    used += (size_t)snprintf(text + used, size - used, cpu == last ? " %zu" : " %zu-%zu", cpu, last);
    cpu = last;
  }
}

/* File of the library that answers the MPI calls: Urakata's preload library where it is mapped, else the MPI library's. */
static void find_mpi(char* file, size_t size) {
  char line[1024];
  FILE* maps = fopen("/proc/self/maps", "r");
  if (!maps) return;
  while (fgets(line, sizeof line, maps)) {
    const char* path = strchr(line, '/');
    if (!path) continue;
    line[strcspn(line, "\n")] = '\0';
    const int ours = strstr(path, "/liburakata-") != NULL;
    if (ours || (!*file && strstr(path, "/libmpi"))) snprintf(file, size, "%s", path);
    if (ours) break;
  }
  fclose(maps);
}

static void print_setup(const struct settings* s, int provided) {
  enum { PLACE = 256 };
  char mine[PLACE] = "", library[MPI_MAX_LIBRARY_VERSION_STRING], mpi[1024] = "";
  int length;
  describe_place(mine, sizeof mine);
  char* places = rank == 0 ? checked(calloc((size_t)ranks, PLACE)) : NULL;
  MPI_Gather(mine, PLACE, MPI_CHAR, places, PLACE, MPI_CHAR, 0, MPI_COMM_WORLD);
  if (rank != 0) return;
  MPI_Get_library_version(library, &length);
  library[strcspn(library, "\n")] = '\0';
  printf("{\"type\":\"setup\",\"ranks\":%d,\"per_node\":%d,\"cores\":%d,\"threads\":%d,\"thread_level\":%d,", ranks,
         s->per_node, s->cores, team.threads, provided);
  print_string("library", library);
  printf(",");
  find_mpi(mpi, sizeof mpi);
  print_string("mpi", mpi);
  printf(",");
  print_string("compiler", "" __VERSION__);
#ifdef __OPTIMIZE__
  printf(",\"optimised\":true,");
#else
  printf(",\"optimised\":false,");
#endif
  printf("\"cache_bytes\":%zu,\"places\":[", last_level_cache());
  for (int i = 0; i < ranks; ++i) {
    if (i) printf(",");
    print_text(places + (size_t)i * PLACE);
  }
  printf("]}\n");
  fflush(stdout);
  free(places);
}

static void print_skip(const struct operation* op, size_t bytes, const char* reason) {
  if (rank != 0) return;
  printf("{\"type\":\"skip\",\"operation\":\"%s\",\"bytes\":%zu,", op->name, bytes);
  print_string("reason", reason);
  printf("}\n");
}

static const char* const part_names[LOOPS][WIDTH] = {
    {"pure", "pure_init"}, {"compute_alone"}, {"init", "compute", "wait", "overall"}, {"tested"}};

/* The medians of each round in which every loop took a turn. */
static void print_rounds(const struct samples* loops, int rounds) {
  printf("\"turns\":{\"median\":[");
  for (int round = 0, first = 1; round < rounds; ++round) {
    int least = turns_of(&loops[0], round, rounds);
    for (int loop = 1; loop < 3; ++loop)
      if (turns_of(&loops[loop], round, rounds) < least) least = turns_of(&loops[loop], round, rounds);
    if (least == 0) continue;
    printf(first ? "{" : ",{");
    first = 0;
    for (int loop = 0; loop < 3; ++loop) {
      const int before = turns_before(&loops[loop], round, rounds), count = turns_of(&loops[loop], round, rounds);
      for (int part = 0; part < loops[loop].width; ++part) {
        const double* times = loops[loop].time + (size_t)part * (size_t)loops[loop].turns + before;
        printf("%s\"%s\":%.3f", loop + part == 0 ? "" : ",", part_names[loop][part], median(times, count));
      }
    }
    printf("}");
  }
  printf("]}");
}

static void print_result(const struct settings* s, const struct operation* op, const struct call* c, uint64_t amount,
                         const struct work* work, struct samples loops[LOOPS], int wrong) {
  if (rank != 0) return;
  printf(
      "{\"type\":\"result\",\"operation\":\"%s\",\"bytes\":%zu,\"kind\":\"%s\",\"work\":%llu,\"array_elements\":%zu,"
      "\"wrong_ranks\":%d,\"sum\":%.6g,\"median\":{",
      op->name, c->bytes, kind_names[s->kind], (unsigned long long)amount, work->elements, wrong, work_sum(work));
  for (int loop = 0, first = 1; loop < loops_of(s); ++loop) {
    for (int i = 0; i < loops[loop].width; ++i, first = 0) {
      const double* times = loops[loop].time + (size_t)i * (size_t)loops[loop].turns;
      printf("%s\"%s\":%.3f", first ? "" : ",", part_names[loop][i], median(times, loops[loop].turns));
    }
  }
  printf(
      "},\"caller_cpu\":%.3f,\"helper_cpu\":{\"pure\":%.3f,\"compute_alone\":%.3f,\"both\":%.3f,\"tested\":%.3f},"
      "\"samples\":{",
      loops[3].caller_cpu, loops[0].progress_cpu, loops[1].progress_cpu, loops[2].progress_cpu, loops[3].progress_cpu);
  for (int loop = 0, first = 1; loop < loops_of(s); ++loop) {
    for (int i = 0; i < loops[loop].width; ++i, first = 0) {
      if (!first) printf(",");
      print_samples(part_names[loop][i], loops[loop].time + (size_t)i * (size_t)loops[loop].turns, loops[loop].turns);
    }
  }
  printf("},");
  print_rounds(loops, s->rounds);
  printf("}\n");
  fflush(stdout);
}

#endif
