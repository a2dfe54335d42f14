// A solver whose exchange with neighbours hides behind its rows: Jacobi's method on a sparse matrix of which each rank
// has some rows. Rows that need no element of others are done while those elements come, the others as their
// neighbour's are here.
//
//   mpicc -O2 -g jacobi.c -o jacobi -I<prefix>/include
//   urakata run -n 4 --space -- ./jacobi --edge 200
//
// Rank 0 compares with the same iterations on one rank: every digit is the same.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <urakata.h>

// The matrix: the five-point stencil on a square of edge x edge cells, 4 on the diagonal. A row's columns but the
// diagonal.
static int columns_of(int edge, int row, int* columns) {
  const int i = row / edge, j = row % edge;
  int count = 0;
  if (i > 0) columns[count++] = row - edge;
  if (j > 0) columns[count++] = row - 1;
  if (j + 1 < edge) columns[count++] = row + 1;
  if (i + 1 < edge) columns[count++] = row + edge;
  return count;
}

static double right_side(int row) { return 1 + row % 7; }

static double updated(const double* x, const int* columns, int count, double right) {
  for (int k = 0; k < count; ++k) right += x[columns[k]];
  return right / 4;
}

static int first_row(int edge, int ranks, int rank) { return (int)((long long)edge * edge * rank / ranks); }

// The part of one rank. Its vectors hold the elements of its own rows, then those of others that its rows need.
typedef struct {
  int first, rows, ghosts;
  int (*columns)[4], *counts;  // of each row, as places in the vectors
  int *order, interior;        // the rows that need no ghost, then the others, neighbour by neighbour
  int neighbours, *ranks, *ghosts_of, *rows_until;
  int *sent, *sent_to, *ghost_places;
} Part;

static void* room(size_t count, size_t size) {
  void* made = calloc(count + 1, size);
  if (made == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  return made;
}

static int compare(const void* a, const void* b) { return *(const int*)a - *(const int*)b; }

// Finds the ghosts (by their global row) and numbers the columns. Which rows a neighbour needs of ours is what we need
// of it, seen from there: the matrix is symmetric.
static Part make_part(int edge, int rank, int ranks) {
  Part p = {.first = first_row(edge, ranks, rank)};
  const int last = first_row(edge, ranks, rank + 1);
  p.rows = last - p.first;
  p.columns = room((size_t)p.rows, sizeof *p.columns);
  p.counts = room((size_t)p.rows, sizeof(int));
  p.order = room((size_t)p.rows, sizeof(int));
  int* needed = room(4 * (size_t)p.rows, sizeof(int));
  int count = 0;
  for (int r = 0; r < p.rows; ++r) {
    p.counts[r] = columns_of(edge, p.first + r, p.columns[r]);
    for (int k = 0; k < p.counts[r]; ++k) {
      if (p.columns[r][k] < p.first || p.columns[r][k] >= last) needed[count++] = p.columns[r][k];
    }
  }
  qsort(needed, (size_t)count, sizeof(int), compare);
  for (int i = 0; i < count; ++i) {
    if (i == 0 || needed[i] != needed[i - 1]) needed[p.ghosts++] = needed[i];
  }

  p.ranks = room((size_t)ranks, sizeof(int));
  p.ghosts_of = room((size_t)ranks, sizeof(int));
  p.sent_to = room((size_t)ranks, sizeof(int));
  p.rows_until = room((size_t)ranks, sizeof(int));
  p.ghost_places = room((size_t)p.ghosts, sizeof(int));
  for (int g = 0, owner = 0; g < p.ghosts; ++g) {
    while (needed[g] >= first_row(edge, ranks, owner + 1)) ++owner;
    if (p.neighbours == 0 || p.ranks[p.neighbours - 1] != owner) p.ranks[p.neighbours++] = owner;
    ++p.ghosts_of[p.neighbours - 1];
    p.ghost_places[g] = p.rows + g;
  }

  p.sent = room(4 * (size_t)p.rows, sizeof(int));
  for (int n = 0, sends = 0; n < p.neighbours; ++n) {
    const int low = first_row(edge, ranks, p.ranks[n]), high = first_row(edge, ranks, p.ranks[n] + 1);
    for (int r = 0; r < p.rows; ++r) {
      int theirs = 0;
      for (int k = 0; k < p.counts[r]; ++k) theirs |= p.columns[r][k] >= low && p.columns[r][k] < high;
      if (theirs) p.sent[sends++] = r, ++p.sent_to[n];
    }
  }

  int* needs = room((size_t)p.rows, sizeof(int));  // 0: no ghost; else one more than the last neighbour
  for (int r = 0; r < p.rows; ++r) {
    for (int k = 0; k < p.counts[r]; ++k) {
      int* column = &p.columns[r][k];
      if (*column >= p.first && *column < last) {
        *column -= p.first;
        continue;
      }
      const int ghost = (int)((int*)bsearch(column, needed, (size_t)p.ghosts, sizeof(int), compare) - needed);
      int neighbour = 0;
      for (int before = p.ghosts_of[0]; ghost >= before; before += p.ghosts_of[++neighbour]) continue;
      if (neighbour + 1 > needs[r]) needs[r] = neighbour + 1;
      *column = p.rows + ghost;
    }
  }
  int placed = 0;
  for (int n = 0; n <= p.neighbours; ++n) {
    for (int r = 0; r < p.rows; ++r) {
      if (needs[r] == n) p.order[placed++] = r;
    }
    if (n == 0) p.interior = placed;
    if (n > 0) p.rows_until[n - 1] = placed;
  }
  free(needs);
  free(needed);
  return p;
}

static void update(const Part* p, const double* x, double* next, int from, int to) {
  for (int i = from; i < to; ++i) {
    const int r = p->order[i];
    next[r] = updated(x, p->columns[r], p->counts[r], right_side(p->first + r));
  }
}

static void sequential(int edge, int iterations, double* x) {
  double *now = x, *next = room((size_t)edge * (size_t)edge, sizeof(double)), *const other = next;
  for (int i = 0; i < iterations; ++i) {
    for (int r = 0; r < edge * edge; ++r) {
      int columns[4];
      next[r] = updated(now, columns, columns_of(edge, r, columns), right_side(r));
    }
    double* const swapped = now;
    now = next;
    next = swapped;
  }
  if (now != x) memcpy(x, now, (size_t)edge * (size_t)edge * sizeof(double));
  free(other);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, edge = 60, iterations = 200;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--edge") == 0) edge = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--iterations") == 0) iterations = atoi(argv[i + 1]);
  }
  if (!ura_available() || edge < 1 || edge > 20000 || edge * edge < ranks) {
    if (rank == 0) printf("jacobi: run me under Urakata, with --edge N and --iterations N as you like\n");
    MPI_Finalize();
    return ura_available() != 0;
  }

  Part part = make_part(edge, rank, ranks);
  double* x = room((size_t)(part.rows + part.ghosts), sizeof(double));
  double* next = room((size_t)(part.rows + part.ghosts), sizeof(double));
  const MPI_Count length = part.rows + part.ghosts;
  const ura_halo_side send = {part.neighbours, part.ranks, part.sent_to, part.sent, length};
  const ura_halo_side receive = {part.neighbours, part.ranks, part.ghosts_of, part.ghost_places, length};
  ura_halo* halo;
  if (ura_halo_create(MPI_COMM_WORLD, sizeof(double), &send, &receive, &halo) != MPI_SUCCESS) {
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  ura_halo_name(halo, "halo of x");  // in the report

  for (int i = 0; i < iterations; ++i) {
    ura_halo_begin(halo, x, x);
    update(&part, x, next, 0, part.interior);
    // A row of neighbour n may need the ones before, too.
    int here = 1, n = 0, from = part.interior;
    for (; n < part.neighbours; from = part.rows_until[n++]) {
      ura_halo_ready(halo, n, &here);
      if (!here) break;
      update(&part, x, next, from, part.rows_until[n]);
    }
    ura_halo_end(halo);
    update(&part, x, next, from, part.rows);
    double* const swapped = x;
    x = next;
    next = swapped;
  }
  ura_halo_free(&halo);

  int *counts = room((size_t)ranks, sizeof(int)), *places = room((size_t)ranks, sizeof(int));
  for (int r = 0; r < ranks; ++r) {
    places[r] = first_row(edge, ranks, r);
    counts[r] = first_row(edge, ranks, r + 1) - places[r];
  }
  const size_t all = (size_t)edge * (size_t)edge;
  double *got = room(rank == 0 ? all : 0, sizeof(double)), *expected = room(rank == 0 ? all : 0, sizeof(double));
  MPI_Gatherv(x, part.rows, MPI_DOUBLE, got, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  int wrong = 0;
  if (rank == 0) {
    sequential(edge, iterations, expected);
    wrong = memcmp(got, expected, all * sizeof(double)) != 0;
    printf("jacobi: %d x %d cells on %d ranks, %d iterations: %s\n", edge, edge, ranks, iterations,
           wrong ? "WRONG" : "right");
  }
  MPI_Finalize();
  return wrong;
}
// SPDX-License-Identifier: BSD-3-Clause
