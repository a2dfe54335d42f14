// A halo exchange of contiguous data: heat spreads over a plate whose rows are divided among the ranks, and in each
// iteration a rank gets the row above and the row below its own from its neighbours.
//
//   mpicc -O2 halo_rows.c -o halo_rows
//   urakata run -n 2 --space -- ./halo_rows --rows 2 --columns 65536
//
// The checksum depends on the number of ranks and the options only, not on how MPI does its work.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "halo_result.h"

// `rows` rows of `columns` cells, with one more row above and below: the neighbours'. The first and the last cell of
// each row keep their value.
typedef struct {
  int rows, columns;
  double *now, *next;
} Plate;

static double* row(const Plate* plate, double* cells, int number) { return cells + (size_t)number * plate->columns; }

// Cold, but for the left edge.
static Plate make_plate(int rows, int columns) {
  Plate plate = {rows, columns, cells_of((size_t)(rows + 2) * columns), cells_of((size_t)(rows + 2) * columns)};
  for (int r = 0; r < rows + 2; ++r) row(&plate, plate.now, r)[0] = row(&plate, plate.next, r)[0] = 1.0;
  return plate;
}

static void exchange(Plate* plate, int above, int below) {
  MPI_Request requests[4];
  const int count = plate->columns;
  MPI_Irecv(row(plate, plate->now, 0), count, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Irecv(row(plate, plate->now, plate->rows + 1), count, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[1]);
  MPI_Isend(row(plate, plate->now, 1), count, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(row(plate, plate->now, plate->rows), count, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[3]);
  MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void step(Plate* plate) {
  for (int r = 1; r <= plate->rows; ++r) {
    const double *up = row(plate, plate->now, r - 1), *here = row(plate, plate->now, r),
                 *down = row(plate, plate->now, r + 1);
    double* restrict to = row(plate, plate->next, r);
    for (int c = 1; c + 1 < plate->columns; ++c) to[c] = 0.25 * (up[c] + down[c] + here[c - 1] + here[c + 1]);
  }
  double* const swapped = plate->now;
  plate->now = plate->next;
  plate->next = swapped;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, rows = 64, columns = 4096, iterations = 200;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const Option options[] = {{"--rows", &rows, 1}, {"--columns", &columns, 3}, {"--iterations", &iterations, 1}};
  const int json =
      read_options(argc, argv, options, sizeof options / sizeof *options, "rows of a rank, cells in a row, iterations");

  Plate plate = make_plate(rows, columns);
  const int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
  const int below = rank + 1 < ranks ? rank + 1 : MPI_PROC_NULL;
  double *const times = cells_of((size_t)iterations), *const exchanges = cells_of((size_t)iterations);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < iterations; ++i) {
    const double begin = MPI_Wtime();
    exchange(&plate, above, below);
    exchanges[i] = MPI_Wtime() - begin;
    step(&plate);
    times[i] = MPI_Wtime() - begin;
  }

  double sum = 0;
  for (int r = 1; r <= rows; ++r)
    for (int c = 0; c < columns; ++c) sum += row(&plate, plate.now, r)[c] * (c % 17 + r % 5);
  char what[80];
  snprintf(what, sizeof what, "halo_rows, %d rows of %d cells a rank", rows, columns);
  print_result(what, times, exchanges, iterations, sum, json);
  free(times);
  free(exchanges);
  free(plate.now);
  free(plate.next);
  MPI_Finalize();
  return 0;
}
// SPDX-License-Identifier: BSD-3-Clause
