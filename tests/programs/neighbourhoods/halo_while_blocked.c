// SPDX-License-Identifier: BSD-3-Clause
// Rank 0 begins an exchange of a halo and is then blocked in the MPI library's MPI_Recv, for a message that rank 1
// sends only when its exchange has ended: what rank 0 has to send must move on meanwhile. Two ranks.
#include <stdio.h>
#include <stdlib.h>
#include <urakata.h>

enum { kEach = 200000, kRounds = 5 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, wrong = 0, word = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank, count = kEach;
  int *mine = malloc(kEach * sizeof *mine), *theirs = malloc(kEach * sizeof *theirs);
  int* vector = calloc(2 * kEach, sizeof *vector);
  if (mine == NULL || theirs == NULL || vector == NULL) return 2;
  for (int i = 0; i < kEach; ++i) {
    mine[i] = i;
    theirs[i] = kEach + i;
  }
  const ura_halo_side send = {1, &other, &count, mine, 2 * kEach}, receive = {1, &other, &count, theirs, 2 * kEach};
  ura_halo* halo;
  if (ura_halo_create(MPI_COMM_WORLD, sizeof *vector, &send, &receive, &halo) != MPI_SUCCESS) return 2;
  for (int round = 1; round <= kRounds; ++round) {
    for (int i = 0; i < kEach; ++i) vector[i] = rank + round + i;
    ura_halo_begin(halo, vector, vector);
    if (rank == 0) MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    ura_halo_end(halo);
    if (rank == 1) MPI_Send(&round, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int i = 0; i < kEach; ++i) wrong += vector[kEach + i] != other + round + i;
  }
  ura_halo_free(&halo);
  MPI_Finalize();
  printf("halo_while_blocked: %s\n", wrong == 0 ? "right" : "WRONG");
  return wrong != 0;
}
