/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of the overlap benchmark. */
#ifndef URAKATA_BENCH_OVERLAP_SETTINGS_H
#define URAKATA_BENCH_OVERLAP_SETTINGS_H

#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "operations.h"
#include "sockets.h"
#include "turns.h"
#include "work.h"

enum { MAX_SIZES = 64, MOST_ROUNDS = 1000 };

struct settings {
  const struct operation* operations[OPERATIONS];
  int operation_count;
  size_t sizes[MAX_SIZES];
  int size_count;
  enum kind kind;
  enum { WORK_PAPER, WORK_MATCH, WORK_GIVEN } amount;
  uint64_t given[MAX_SIZES]; /* one for each size, or one for all */
  int given_count;
  double scale;
  int cores, per_node;
  int turns, least, rounds, tested;
  const char* together;
  double budget_us;
  size_t memory_limit;
};

static const char usage[] =
    "overlap: how much of a non-blocking collective is hidden behind computation\n"
    "  --operation LIST    iallgather (default), ibcast, iallreduce, ..., isend (messages on a ring of ranks): see\n"
    "                      docs/studies/overlap.md; sockets is the floor:\n"
    "                      the bytes of iallgather by plain TCP and two threads that block, without MPI\n"
    "  --sizes LIST        message sizes in bytes, 8,64K,1M or powers of two 1:4M (default)\n"
    "  --kind KIND         paper (default), compute (in cache) or memory (STREAM triad)\n"
    "  --work AMOUNT       elements computed: paper (default), match (as long as the communication), or a list of\n"
    "                      numbers, one for each size or one for all\n"
    "  --scale X           multiplies the amounts of paper and match (1)\n"
    "  --cores N           n_cpu of a node (all that are online)\n"
    "  --per-node N        p_node (the ranks that share memory)\n"
    "  --turns N           at most so many turns of each loop (200)\n"
    "  --budget-ms T       at most so long for each loop, but at least --least turns (300)\n"
    "  --least N           at least so many turns of each loop (5)\n"
    "  --rounds N          the loops go on in turn, so many times (8)\n"
    "  --tested N          at most so many turns of the loop that tests (15); 0: none\n"
    "  --together I/N:FILE let other jobs run after each round, as job I of N that share FILE\n"
    "  --memory-limit SIZE of a rank's message buffers; larger sizes are skipped (1G)\n";

static int parse_size(const char* text, size_t* size) {
  char* end;
  errno = 0;
  const unsigned long long number = strtoull(text, &end, 10);
  unsigned shift = 0;
  if (end == text || errno || *text == '-') return 0;
  if (*end == 'k' || *end == 'K')
    shift = 10, ++end;
  else if (*end == 'm' || *end == 'M')
    shift = 20, ++end;
  else if (*end == 'g' || *end == 'G')
    shift = 30, ++end;
  if (*end || number > (unsigned long long)(SIZE_MAX >> 31)) return 0;
  *size = (size_t)number << shift;
  return 1;
}

static int parse_sizes(char* text, struct settings* s) {
  char* colon = strchr(text, ':');
  s->size_count = 0;
  if (colon) {
    size_t first, last;
    *colon = '\0';
    if (!parse_size(text, &first) || !parse_size(colon + 1, &last) || first == 0 || first > last) return 0;
    for (size_t size = first; size <= last && s->size_count < MAX_SIZES; size *= 2) s->sizes[s->size_count++] = size;
    return 1;
  }
  for (char* item = strtok(text, ","); item; item = strtok(NULL, ",")) {
    if (s->size_count == MAX_SIZES || !parse_size(item, &s->sizes[s->size_count])) return 0;
    if (s->sizes[s->size_count] == 0 || s->sizes[s->size_count] > INT32_MAX) return 0;
    ++s->size_count;
  }
  return s->size_count > 0;
}

static int parse_operations(char* text, struct settings* s) {
  s->operation_count = 0;
  for (char* item = strtok(text, ","); item; item = strtok(NULL, ",")) {
    const struct operation* op = strcmp(item, sockets_operation.name) == 0 ? &sockets_operation : operation_named(item);
    if (!op || s->operation_count == OPERATIONS) return 0;
    s->operations[s->operation_count++] = op;
  }
  return s->operation_count > 0;
}

static int parse_kind(const char* text, struct settings* s) {
  for (int kind = 0; kind < KIND_COUNT; ++kind) {
    if (strcmp(text, kind_names[kind]) == 0) return s->kind = (enum kind)kind, 1;
  }
  return 0;
}

static int parse_work(char* text, struct settings* s) {
  if (strcmp(text, "paper") == 0) return s->amount = WORK_PAPER, 1;
  if (strcmp(text, "match") == 0) return s->amount = WORK_MATCH, 1;
  s->amount = WORK_GIVEN;
  s->given_count = 0;
  for (char* item = strtok(text, ","); item; item = strtok(NULL, ",")) {
    char* end;
    if (s->given_count == MAX_SIZES || *item == '-') return 0;
    s->given[s->given_count++] = strtoull(item, &end, 10);
    if (end == item || *end) return 0;
  }
  return s->given_count > 0;
}

static int parse_int(const char* text, int* value) {
  char* end;
  const long number = strtol(text, &end, 10);
  if (end == text || *end || number < 1 || number > 1000000000) return 0;
  *value = (int)number;
  return 1;
}

static int parse_real(const char* text, double* value) {
  char* end;
  *value = strtod(text, &end);
  return end != text && !*end && *value > 0.0 && *value < 1e12;
}

/* Returns NULL, or the option that was wrong. */
static const char* parse(int argc, char** argv, struct settings* s) {
  static const struct option options[] = {
      {"operation", 1, NULL, 'o'}, {"sizes", 1, NULL, 's'},        {"kind", 1, NULL, 'k'},     {"work", 1, NULL, 'w'},
      {"scale", 1, NULL, 'x'},     {"cores", 1, NULL, 'c'},        {"per-node", 1, NULL, 'p'}, {"turns", 1, NULL, 't'},
      {"budget-ms", 1, NULL, 'b'}, {"memory-limit", 1, NULL, 'm'}, {"least", 1, NULL, 'l'},    {"help", 0, NULL, 'h'},
      {"rounds", 1, NULL, 'r'},    {"together", 1, NULL, 'g'},     {"tested", 1, NULL, 'e'},   {NULL, 0, NULL, 0}};
  double ms = 0.0;
  int letter, at = 0;
  opterr = 0;
  while ((letter = getopt_long(argc, argv, "", options, &at)) != -1) {
    int good = 0;
    switch (letter) {
      case 'o':
        good = parse_operations(optarg, s);
        break;
      case 's':
        good = parse_sizes(optarg, s);
        break;
      case 'k':
        good = parse_kind(optarg, s);
        break;
      case 'w':
        good = parse_work(optarg, s);
        break;
      case 'x':
        good = parse_real(optarg, &s->scale);
        break;
      case 'c':
        good = parse_int(optarg, &s->cores);
        break;
      case 'p':
        good = parse_int(optarg, &s->per_node);
        break;
      case 't':
        good = parse_int(optarg, &s->turns);
        break;
      case 'b':
        good = parse_real(optarg, &ms);
        s->budget_us = 1e3 * ms;
        break;
      case 'l':
        good = parse_int(optarg, &s->least);
        break;
      case 'r':
        good = parse_int(optarg, &s->rounds) && s->rounds <= MOST_ROUNDS;
        break;
      case 'e':
        good = strcmp(optarg, "0") == 0 ? (s->tested = 0, 1) : parse_int(optarg, &s->tested);
        break;
      case 'g':
        s->together = optarg;
        good = 1;
        break;
      case 'm':
        good = parse_size(optarg, &s->memory_limit);
        break;
      default:
        return letter == 'h' ? "help" : argv[optind - 1];
    }
    if (!good) return options[at].name;
  }
  if (optind < argc) return argv[optind];
  if (s->amount == WORK_GIVEN && s->given_count != 1 && s->given_count != s->size_count) return "work";
  return NULL;
}

#endif
