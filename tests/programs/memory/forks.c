// SPDX-License-Identifier: BSD-3-Clause
/* A program that forks while collectives and messages are in progress: its results are right, whatever becomes of the
 * child.
 *
 *     forks [ROUNDS]
 *
 * In turn the child ends at once, executes another program, or writes over all it has and stays until its parent has
 * completed what was in progress. No child calls MPI. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { COUNT = 1 << 17, EACH = 1 << 14, SMALL = 16 };

static int rank, ranks;
static long *in, *sum, *out, *all;
static long few[SMALL];
static long passed[EACH], got[EACH]; /* to the next rank, from the one before */

static int child_of(int kind, const int ends[2]) {
  char word = 0;
  switch (kind) {
    case 0:
      _exit(7);
    case 1:
      execl("/bin/sh", "sh", "-c", "exit 7", (char*)NULL);
      _exit(1);
    default:
      memset(in, 1, COUNT * sizeof *in);
      memset(sum, 1, COUNT * sizeof *sum);
      memset(out, 1, (size_t)ranks * EACH * sizeof *out);
      memset(all, 1, (size_t)ranks * EACH * sizeof *all);
      memset(few, 1, sizeof few);
      memset(passed, 1, sizeof passed);
      memset(got, 1, sizeof got);
      close(ends[1]);
      _exit(read(ends[0], &word, 1) == 1 && word == 'e' ? 7 : 1);
  }
}

static int wrong_results(int round) {
  int wrong = 0;
  for (int i = 0; i < COUNT; ++i) wrong += sum[i] != (long)ranks * (round + i) + ranks * (ranks - 1) / 2;
  for (int p = 0; p < ranks; ++p) {
    for (int i = 0; i < EACH; ++i) wrong += all[p * EACH + i] != 1000L * p + rank + round;
  }
  for (int i = 0; i < SMALL; ++i) wrong += few[i] != round - i;
  for (int i = 0; i < EACH; ++i) wrong += got[i] != (rank + ranks - 1) % ranks + round * i;
  return wrong;
}

static int one_round(int round) {
  for (int i = 0; i < COUNT; ++i) in[i] = rank + round + i;
  for (int i = 0; i < ranks * EACH; ++i) out[i] = 1000L * rank + i / EACH + round;
  for (int i = 0; i < SMALL; ++i) few[i] = rank == 0 ? round - i : -1;
  memset(sum, 0, COUNT * sizeof *sum);
  memset(all, 0, (size_t)ranks * EACH * sizeof *all);
  for (int i = 0; i < EACH; ++i) passed[i] = rank + round * i;
  memset(got, 0, sizeof got);

  int ends[2];
  if (pipe(ends) != 0) return 1;
  MPI_Request requests[5];
  MPI_Iallreduce(in, sum, COUNT, MPI_LONG, MPI_SUM, MPI_COMM_WORLD, &requests[0]);
  MPI_Ialltoall(out, EACH, MPI_LONG, all, EACH, MPI_LONG, MPI_COMM_WORLD, &requests[1]);
  /* Now below, now above what is sent before its receive is known. */
  const int count = round % 2 ? EACH : SMALL, from = (rank + ranks - 1) % ranks, to = (rank + 1) % ranks;
  for (int i = count; i < EACH; ++i) got[i] = from + round * i;
  MPI_Irecv(got, count, MPI_LONG, from, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Isend(passed, count, MPI_LONG, to, 0, MPI_COMM_WORLD, &requests[4]);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) child_of(round % 3, ends);
  MPI_Ibcast(few, SMALL, MPI_LONG, 0, MPI_COMM_WORLD, &requests[2]);
  MPI_Waitall(5, requests, MPI_STATUSES_IGNORE);
  int status = 0;
  int wrong = wrong_results(round) + (write(ends[1], "e", 1) != 1);
  close(ends[1]);
  wrong += waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7;
  close(ends[0]);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int rounds = argc > 1 ? atoi(argv[1]) : 30;
  in = malloc(COUNT * sizeof *in);
  sum = malloc(COUNT * sizeof *sum);
  out = malloc((size_t)ranks * EACH * sizeof *out);
  all = malloc((size_t)ranks * EACH * sizeof *all);
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) wrong += one_round(round);
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
