/* SPDX-License-Identifier: BSD-3-Clause */
// Command lines of the programs in bench/: `--name value`, lists separated by commas, numbers with K or M (powers of
// 1024).
#ifndef URAKATA_BENCH_ARGUMENTS_H
#define URAKATA_BENCH_ARGUMENTS_H

#include <stdlib.h>
#include <string.h>

#include "timing.h"

enum { MAX_LIST = 64 };

// A number with an optional K or M; the job ends where it is none or below `least`.
static inline long parse_number(const char* option, const char* text, long least) {
  char* end = NULL;
  long value = strtol(text, &end, 10);
  if (*end == 'K' || *end == 'k')
    value *= 1024, ++end;
  else if (*end == 'M' || *end == 'm')
    value *= 1024 * 1024, ++end;
  if (end == text || *end != '\0' || value < least)
    fail("%s: '%s' is not a number of at least %ld", option, text, least);
  return value;
}

// Splits `text` at its commas, in place; returns how many parts there are.
static inline int split_list(const char* option, char* text, char** parts) {
  int count = 0;
  for (char* part = strtok(text, ","); part; part = strtok(NULL, ",")) {
    if (count == MAX_LIST) fail("%s: more than %d values", option, MAX_LIST);
    parts[count++] = part;
  }
  if (count == 0) fail("%s: the list is empty", option);
  return count;
}

static inline int parse_numbers(const char* option, char* text, long least, long* values) {
  char* parts[MAX_LIST];
  const int count = split_list(option, text, parts);
  for (int i = 0; i < count; ++i) values[i] = parse_number(option, parts[i], least);
  return count;
}

// An option with a value: where it goes is `text` or `number`, the other is NULL. What is there before is the default.
struct option {
  const char* name;
  char** text;
  long* number;
  long least;  // of a number
};

// The job ends, with the usage, where the command line is none of `count` options with their values.
static inline void parse_options(int argc, char** argv, const struct option* options, int count, const char* usage) {
  for (int i = 1; i < argc; i += 2) {
    const struct option* option = options;
    while (option < options + count && strcmp(argv[i], option->name) != 0) ++option;
    if (option == options + count) fail("unknown option %s\n%s", argv[i], usage);
    if (i + 1 == argc) fail("%s wants a value\n%s", argv[i], usage);
    if (option->text)
      *option->text = argv[i + 1];
    else
      *option->number = parse_number(argv[i], argv[i + 1], option->least);
  }
}

#endif
