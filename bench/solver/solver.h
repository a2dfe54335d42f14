/* SPDX-License-Identifier: BSD-3-Clause */
// The parts of bench/solver: what they hand to each other.
//
// The matrix is HPCG's: the rows are the points of an n x n x n grid, 26 on the diagonal, -1 for each of the up to 26
// points around. Row (x, y, z) has number (z * n + y) * n + x. A partition says which part a row belongs to; rank p
// holds part p. A rank's vectors hold its own rows, those that need no other part's values first (`inner` of them); the
// vector that the matrix is multiplied with goes on with its ghosts, one block for each neighbour.
#ifndef URAKATA_BENCH_SOLVER_H
#define URAKATA_BENCH_SOLVER_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "timing.h"

// --- Partitions (partition.c) ---

// Runs over the points around row `row`, itself left out; at most 26 of them go to `around`. Returns how many there
// are.
int neighbours_of_row(int n, int row, int* around);

// The part of each row, `n` * `n` * `n` of them, the same on all ranks; freed by the caller. Collective: METIS runs on
// rank 0. `name`: rows or metis. The job ends, with what to do, where METIS was not there when this was built.
int* make_partition(const char* name, int n, int parts);

struct partition_counts {
  int least_rows, most_rows, most_neighbours;
  int typical;            // a part that has as many neighbours as the median part
  long messages, values;  // of one exchange, over all parts
};
struct partition_counts count_partition(const int* part_of, int n, int parts);

// --- Who needs what from whom (pattern.c) ---

// A part's place among the others. Block i of what is sent are the values of rows send_row[send_at[i]] to
// send_row[send_at[i + 1] - 1]; block i of what is received are the ghosts from recv_at[i] to recv_at[i + 1] - 1.
// Neighbours, and rows within a block, rise by number, so that both sides have the same order without a word.
struct pattern {
  int part, rows, inner, ghosts, neighbours;
  int *rank, *tag;  // of each neighbour; more than one may be the same rank, then their tags differ
  int *send_at, *recv_at;
  int* send_row;   // local
  int* row_id;     // of each local row its number
  int* ghost_id;   // of each ghost its row's number
  int* local_row;  // of each row its local number, ghosts after the rows; -1: not here
};
struct pattern make_pattern(const int* part_of, int n, int part);
// Has this rank play the part together with the others, which play it too: neighbour i is played by the rank whose
// number differs by the bits of 1 + i % (ranks - 1). The number of ranks must be a power of two, and 2 or more.
void play_pattern(struct pattern* pattern);
void free_pattern(struct pattern* pattern);

// --- Ways to exchange (ways.c, puts.c, sockets.c) ---

// An exchange of `pattern` by one way. `vector` (rows, then ghosts) is the way's: it may have to lie in a window.
struct exchange {
  const struct pattern* pattern;
  double* vector;
  double* packed;         // what is sent, block after block
  MPI_Request* requests;  // of a way; at least two for each neighbour
  MPI_Comm comm;          // of the way alone
  MPI_Win window;
  void* own;    // what else a way needs
  long number;  // exchanges started
};

struct way {
  const char* name;
  // Collective. NULL, or why the MPI library has no such way; then nothing was made.
  const char* (*prepare)(struct exchange* exchange);
  // Between the two the vector's own rows may be read, its ghosts not. Collective over neighbours.
  void (*start)(struct exchange* exchange);
  void (*finish)(struct exchange* exchange);
  void (*discard)(struct exchange* exchange);
};
extern const struct way ways[];
extern const int way_count;

// Of puts.c and sockets.c, for the table.
const char *prepare_fence(struct exchange*), *prepare_pscw(struct exchange*), *prepare_flush(struct exchange*),
    *prepare_notify(struct exchange*), *prepare_sockets(struct exchange*);
void start_fence(struct exchange*), start_pscw(struct exchange*), start_flush(struct exchange*),
    start_notify(struct exchange*), start_sockets(struct exchange*);
void finish_fence(struct exchange*), finish_pscw(struct exchange*), finish_flush(struct exchange*),
    finish_notify(struct exchange*), finish_sockets(struct exchange*);
void discard_window(struct exchange*), discard_pscw(struct exchange*), discard_locked(struct exchange*),
    discard_sockets(struct exchange*);

static inline void start_exchange(const struct way* way, struct exchange* e) {
  ++e->number;
  way->start(e);
}

static inline void pack(const struct exchange* e, int block) {
  const struct pattern* p = e->pattern;
  const double* const vector = e->vector;
  for (int i = p->send_at[block]; i < p->send_at[block + 1]; ++i) e->packed[i] = vector[p->send_row[i]];
}
static inline void pack_all(const struct exchange* e) {
  for (int i = 0; i < e->pattern->neighbours; ++i) pack(e, i);
}
static inline double* ghosts(const struct exchange* e, int block) {
  return e->vector + e->pattern->rows + e->pattern->recv_at[block];
}
static inline int send_count(const struct pattern* p, int i) { return p->send_at[i + 1] - p->send_at[i]; }
static inline int recv_count(const struct pattern* p, int i) { return p->recv_at[i + 1] - p->recv_at[i]; }

// --- The matrix and the solvers (matrix.c, cg.c) ---

// In compressed rows; columns are local numbers.
struct matrix {
  int rows, inner;
  long* begin;  // rows + 1
  int* column;
  double* value;
};
struct matrix make_matrix(const struct pattern* pattern, int n);
void free_matrix(struct matrix* matrix);

// Where the time goes, in nanoseconds of this rank.
enum step { START, INNER, WAIT, BOUNDARY, REDUCE, VECTORS, STEPS };
extern const char* const step_names[STEPS];
struct times {
  double step[STEPS], all;
  double* exchange;  // START + WAIT of each product; room for as many as there will be, or NULL
  int products;
};

// out = matrix * exchange->vector, the rows at the border after the exchange, the others while it is under way.
void multiply(const struct matrix* matrix, const struct way* way, struct exchange* exchange, double* out,
              struct times* times);

struct solution {
  int iterations;
  double residual;  // norm of the solver's own residual over that of the right side
  double checked;   // the same of right side - matrix * x
};
// Conjugate gradients for the right side of which all ones are the solution, from zero on; ends when the residual is at
// most `tolerance`, or after `most` iterations. Collective over MPI_COMM_WORLD.
typedef struct solution solver(const struct matrix* matrix, const struct way* way, struct exchange* exchange, int most,
                               double tolerance, struct times* times);
solver solve_plain;  // three steps that wait: the exchange and two MPI_Allreduce
solver
    solve_pipelined;  // Ghysels and Vanroose (2014), algorithm 3 without preconditioner: one MPI_Iallreduce behind the
                      // multiplication

#endif
