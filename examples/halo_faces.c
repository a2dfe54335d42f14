// A halo exchange of non-contiguous data: heat spreads in a cuboid that is divided among the ranks in three dimensions,
// and in each iteration a rank gets the six faces around its block. MPI's datatypes say where a face lies in the block,
// so that the program packs nothing itself. A face across x is single cells far apart, one across y rows, one across z
// planes.
//
//   mpicc -O2 halo_faces.c -o halo_faces
//   urakata run -n 8 --space -- ./halo_faces --x 32 --y 32 --z 32 --values 4
//
// The checksum depends on the number of ranks and the options only, not on how MPI does its work.
#include <mpi.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "halo_result.h"

enum { Z, Y, X, DIMENSIONS };  // as MPI and C order them: cells with neighbouring x lie side by side
enum { LOW, HIGH, SIDES };

typedef struct {
  int cells[DIMENSIONS];  // of the block itself, around which lies a shell of one cell
  int values;             // of a cell
  int neighbour[DIMENSIONS][SIDES];
  MPI_Datatype own[DIMENSIONS][SIDES];      // outermost cells of the block, which the neighbour needs
  MPI_Datatype foreign[DIMENSIONS][SIDES];  // cells of the shell, which the neighbour has
  MPI_Comm grid;
  double *now, *next;
} Block;

// Where the values of a cell begin.
static size_t at(const Block* block, int z, int y, int x) {
  const size_t cell =
      ((size_t)z * (size_t)(block->cells[Y] + 2) + (size_t)y) * (size_t)(block->cells[X] + 2) + (size_t)x;
  return cell * (size_t)block->values;
}

// The cells of the block whose coordinate in `dimension` is `place`.
static MPI_Datatype face(const Block* block, int dimension, int place) {
  int all[DIMENSIONS + 1], part[DIMENSIONS + 1], start[DIMENSIONS + 1] = {0};
  all[DIMENSIONS] = part[DIMENSIONS] = block->values;
  for (int d = 0; d < DIMENSIONS; ++d) {
    all[d] = block->cells[d] + 2;
    part[d] = d == dimension ? 1 : block->cells[d];
    start[d] = d == dimension ? place : 1;
  }
  MPI_Datatype type;
  MPI_Type_create_subarray(DIMENSIONS + 1, all, part, start, MPI_ORDER_C, MPI_DOUBLE, &type);
  MPI_Type_commit(&type);
  return type;
}

// Most ranks stand in a line along x. The temperatures differ everywhere; around the cuboid they stay as they are.
static Block make_block(const int cells[DIMENSIONS], int values) {
  Block block = {.values = values};
  int rank, ranks, sides[DIMENSIONS] = {0}, most_last[DIMENSIONS];
  const int open[DIMENSIONS] = {0};
  memcpy(block.cells, cells, sizeof block.cells);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Dims_create(ranks, DIMENSIONS, sides);
  for (int d = 0; d < DIMENSIONS; ++d) most_last[d] = sides[DIMENSIONS - 1 - d];
  MPI_Cart_create(MPI_COMM_WORLD, DIMENSIONS, most_last, open, 0, &block.grid);
  for (int d = 0; d < DIMENSIONS; ++d) {
    MPI_Cart_shift(block.grid, d, 1, &block.neighbour[d][LOW], &block.neighbour[d][HIGH]);
    block.own[d][LOW] = face(&block, d, 1);
    block.own[d][HIGH] = face(&block, d, cells[d]);
    block.foreign[d][LOW] = face(&block, d, 0);
    block.foreign[d][HIGH] = face(&block, d, cells[d] + 1);
  }
  const size_t count = at(&block, cells[Z] + 2, 0, 0);
  block.now = cells_of(count);
  block.next = cells_of(count);
  MPI_Comm_rank(block.grid, &rank);
  for (size_t i = 0; i < count; ++i) block.now[i] = block.next[i] = (double)((i * 7 + (size_t)rank) % 101);
  return block;
}

static void free_block(Block* block) {
  for (int d = 0; d < DIMENSIONS; ++d)
    for (int side = 0; side < SIDES; ++side) {
      MPI_Type_free(&block->own[d][side]);
      MPI_Type_free(&block->foreign[d][side]);
    }
  MPI_Comm_free(&block->grid);
  free(block->now);
  free(block->next);
}

static void exchange(Block* block) {
  MPI_Request requests[2 * DIMENSIONS * SIDES];
  int count = 0;
  for (int d = 0; d < DIMENSIONS; ++d)
    for (int side = 0; side < SIDES; ++side)
      MPI_Irecv(block->now, 1, block->foreign[d][side], block->neighbour[d][side], side, block->grid,
                &requests[count++]);
  // What is on my low side is for a neighbour that waits for something on its high side.
  for (int d = 0; d < DIMENSIONS; ++d)
    for (int side = 0; side < SIDES; ++side)
      MPI_Isend(block->now, 1, block->own[d][side], block->neighbour[d][side], side == LOW ? HIGH : LOW, block->grid,
                &requests[count++]);
  MPI_Waitall(count, requests, MPI_STATUSES_IGNORE);
}

static void step(Block* block) {
  const ptrdiff_t aside = block->values, up = (ptrdiff_t)at(block, 0, 1, 0), over = (ptrdiff_t)at(block, 1, 0, 0);
  for (int z = 1; z <= block->cells[Z]; ++z)
    for (int y = 1; y <= block->cells[Y]; ++y) {
      const double* from = block->now + at(block, z, y, 1);
      double* restrict to = block->next + at(block, z, y, 1);
      for (ptrdiff_t i = 0; i < block->cells[X] * aside; ++i, ++from)
        to[i] = 0.1 * (from[-aside] + from[aside] + from[-up] + from[up] + from[-over] + from[over]) + 0.4 * *from;
    }
  double* const swapped = block->now;
  block->now = block->next;
  block->next = swapped;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int cells[DIMENSIONS] = {32, 32, 32}, values = 1, iterations = 200;
  const Option options[] = {{"--x", &cells[X], 1},
                            {"--y", &cells[Y], 1},
                            {"--z", &cells[Z], 1},
                            {"--values", &values, 1},
                            {"--iterations", &iterations, 1}};
  const char* const meaning = "cells of a rank's block, x side by side; values of a cell; iterations";
  const int json = read_options(argc, argv, options, sizeof options / sizeof *options, meaning);

  Block block = make_block(cells, values);
  double *const times = cells_of((size_t)iterations), *const exchanges = cells_of((size_t)iterations);
  MPI_Barrier(MPI_COMM_WORLD);
  for (int i = 0; i < iterations; ++i) {
    const double begin = MPI_Wtime();
    exchange(&block);
    exchanges[i] = MPI_Wtime() - begin;
    step(&block);
    times[i] = MPI_Wtime() - begin;
  }

  double sum = 0;
  for (int z = 1; z <= cells[Z]; ++z)
    for (int y = 1; y <= cells[Y]; ++y)
      for (int x = 1; x <= cells[X]; ++x)
        for (int v = 0; v < values; ++v) sum += block.now[at(&block, z, y, x) + (size_t)v] * (x % 17 + y % 5 + z % 3);
  char what[100];
  snprintf(what, sizeof what, "halo_faces, %d x %d x %d cells of %d a rank", cells[X], cells[Y], cells[Z], values);
  print_result(what, times, exchanges, iterations, sum, json);
  free(times);
  free(exchanges);
  free_block(&block);
  MPI_Finalize();
  return 0;
}
// SPDX-License-Identifier: BSD-3-Clause
