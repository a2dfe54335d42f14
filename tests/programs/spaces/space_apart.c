// SPDX-License-Identifier: BSD-3-Clause
/* What a fork and a core dump of one rank have of the memory of the others, in a space.

   space_apart forks MIB ROUNDS: every rank fills MIB, in one piece and in small ones; then, ROUNDS times, all fork at
   once. Each child, and a child of the child, finds its own rank's memory, and none of another's. Prints what a fork
   took at best, and "right".
   space_apart crash MIB HOW: the last rank dies of SIGSEGV ("fault") or SIGABRT ("abort"), or all do of SIGSEGV
   ("all"). */
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SMALL = 1000, PIECES = 2000 };

static int rank, ranks;
static size_t words;
static uint64_t *large, *small[PIECES], **others, **others_small;

static uint64_t value(int owner, size_t at) { return (uint64_t)(owner + 1) * 0x9e3779b97f4a7c15u + at; }

static void fill(void) {
  large = malloc(words * sizeof *large);
  for (size_t i = 0; i < words; ++i) large[i] = value(rank, i);
  for (int i = 0; i < PIECES; ++i) {
    small[i] = malloc(SMALL);
    for (size_t at = 0; at < SMALL / sizeof(uint64_t); ++at) small[i][at] = value(rank, at);
  }
}

static int own_is_there(void) {
  for (size_t i = 0; i < words; ++i) {
    if (large[i] != value(rank, i)) return 0;
  }
  for (int i = 0; i < PIECES; ++i) {
    for (size_t at = 0; at < SMALL / sizeof(uint64_t); ++at) {
      if (small[i][at] != value(rank, at)) return 0;
    }
  }
  return 1;
}

static int is_mapped(const void* address) {
  unsigned char in_memory;
  const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
  return mincore((void*)((uintptr_t)address & ~(page - 1)), page, &in_memory) == 0 || errno != ENOMEM;
}

static int others_are_gone(void) {
  for (int other = 0; other < ranks; ++other) {
    if (other != rank && (is_mapped(others[other]) || is_mapped(others_small[other]))) return 0;
  }
  return 1;
}

/* What is wrong in a child, as an exit code. */
static int judge(int expect_gone) {
  if (!own_is_there()) return 2;
  if (expect_gone && !others_are_gone()) return 3;
  char* more = malloc(1 << 20);
  memset(more, 1, 1 << 20);
  return more[5] == 1 ? 0 : 4;
}

static int status_of(pid_t child) {
  int status = -1;
  if (waitpid(child, &status, 0) != child || !WIFEXITED(status))
    return 100 + (WIFSIGNALED(status) ? WTERMSIG(status) : 0);
  return WEXITSTATUS(status);
}

static double forks(int rounds, int expect_gone) {
  double best = 1e9;
  for (int i = 0; i < rounds; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double before = MPI_Wtime();
    const pid_t child = fork();
    if (child == 0) {
      int wrong = judge(expect_gone);
      const pid_t grandchild = fork();
      if (grandchild == 0) _exit(judge(expect_gone));
      if (wrong == 0) wrong = status_of(grandchild);
      if (i % 2 == 0) _exit(wrong);
      exit(wrong);
    }
    const double took = MPI_Wtime() - before;
    if (took < best) best = took;
    if (i % 3 == 0) free(malloc(3 << 20)); /* while others fork */
    const int wrong = status_of(child);
    if (wrong != 0) {
      printf("rank %d, round %d: child ended with %d\n", rank, i, wrong);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  return best;
}

int main(int count, char** argument) {
  MPI_Init(&count, &argument);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (count < 4) return 2;
  words = (size_t)atoi(argument[2]) << 17;
  fill();
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argument[1], "crash") == 0) {
    if (rank == ranks - 1 || strcmp(argument[3], "all") == 0) {
      if (strcmp(argument[3], "abort") == 0) abort();
      *(volatile int*)8 = 1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    others = malloc((size_t)ranks * sizeof *others);
    others_small = malloc((size_t)ranks * sizeof *others_small);
    MPI_Allgather(&large, sizeof large, MPI_BYTE, others, sizeof large, MPI_BYTE, MPI_COMM_WORLD);
    MPI_Allgather(&small[PIECES / 2], sizeof large, MPI_BYTE, others_small, sizeof large, MPI_BYTE, MPI_COMM_WORLD);
    const double best = forks(atoi(argument[3]), getenv("URAKATA_SPACE_AT") != NULL);
    double worst;
    MPI_Reduce(&best, &worst, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    if (rank == 0) printf("fork: %.2f ms\nright\n", worst * 1e3);
  }
  return MPI_Finalize();
}
