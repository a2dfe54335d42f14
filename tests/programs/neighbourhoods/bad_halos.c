// SPDX-License-Identifier: BSD-3-Clause
// What halos of urakata.h refuse: an error on all ranks, nothing made, and a good one afterwards works. Two ranks, each
// with the other as its neighbour; rank 1 gets it wrong.
#include <stdio.h>
#include <urakata.h>

static int rank, wrong;

static void expect(int got, int expected, const char* what) {
  if (got == expected) return;
  fprintf(stderr, "bad_halos: rank %d: %s: code %d instead of %d\n", rank, what, got, expected);
  wrong = 1;
}

typedef struct {
  int ranks[2], counts[2], indices[4], neighbours;
} Lists;

static ura_halo_side side(const Lists* lists, MPI_Count length) {
  const ura_halo_side made = {lists->neighbours, lists->ranks, lists->counts, lists->indices, length};
  return made;
}

static int try_to_make(const Lists* send, const Lists* receive, MPI_Aint bytes, ura_halo** halo) {
  const ura_halo_side out = side(send, 10), in = side(receive, 10);
  return ura_halo_create(MPI_COMM_WORLD, bytes, &out, &in, halo);
}

static void refused(const Lists* send, const Lists* receive, MPI_Aint bytes, const char* what) {
  ura_halo* halo = NULL;
  expect(try_to_make(send, receive, bytes, &halo), MPI_ERR_ARG, what);
  if (halo != NULL) expect(1, 0, "something was made");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int other = 1 - rank;
  const Lists out = {{other, other}, {2, 1}, {0, 3, 3}, 2}, in = {{other, other}, {2, 1}, {8, 9, 4}, 2};

  const struct {
    const char* what;
    int send;
    Lists lists;
  } cases[] = {
      {"an index below", 1, {{other, other}, {2, 1}, {0, -7, 3}, 2}},
      {"an index beyond", 0, {{other, other}, {2, 1}, {8, 9, 10}, 2}},
      {"an element that comes twice", 0, {{other, other}, {2, 1}, {8, 9, 9}, 2}},
      {"a rank that is not there", 1, {{other, 2}, {2, 1}, {0, 3, 3}, 2}},
      {"a count below 0", 1, {{other, other}, {2, -1}, {0, 3, 3}, 2}},
      {"neighbours below 0", 1, {{other, other}, {2, 1}, {0, 3, 3}, -1}},
      {"other counts than the neighbour's", 0, {{other, other}, {1, 1}, {8, 9, 4}, 2}},
      {"other counts in all", 1, {{other, other}, {1, 2}, {0, 3, 3}, 2}},
      {"a neighbour that is not named", 0, {{other, other}, {2, 1}, {8, 9, 4}, 1}},
      {"a neighbour that does not send", 1, {{other, other}, {2, 1}, {0, 3, 3}, 1}},
      {"the own rank, which does not send", 0, {{other, rank}, {2, 1}, {8, 9, 4}, 2}},
  };
  for (unsigned i = 0; i < sizeof cases / sizeof *cases; ++i) {
    const Lists* own = rank == 1 ? &cases[i].lists : cases[i].send ? &out : &in;
    refused(cases[i].send ? own : &out, cases[i].send ? &in : own, 8, cases[i].what);
  }
  refused(&out, &in, 0, "elements of no bytes");
  ura_halo* halo = NULL;
  const ura_halo_side good = side(&out, 10);
  expect(ura_halo_create(MPI_COMM_WORLD, 8, &good, NULL, &halo), MPI_ERR_ARG, "no side");
  expect(ura_halo_create(MPI_COMM_NULL, 8, &good, &good, &halo), MPI_ERR_COMM, "no communicator");
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  expect(ura_halo_create_types(MPI_COMM_WORLD, 1, &other, &none, 0, NULL, NULL, &halo), MPI_ERR_ARG, "no datatype");

  double x[10];
  int flag = 0, which = 0;
  for (int i = 0; i < 10; ++i) x[i] = 10 * rank + i;
  expect(try_to_make(&out, &in, 8, &halo), MPI_SUCCESS, "a good one");
  expect(ura_halo_end(halo), MPI_ERR_ARG, "an end without a beginning");
  expect(ura_halo_ready(halo, 0, &flag), MPI_ERR_ARG, "ready without a beginning");
  expect(ura_halo_ready_any(halo, &which), MPI_ERR_ARG, "ready_any without a beginning");
  expect(ura_halo_begin(halo, x, x), MPI_SUCCESS, "a beginning");
  expect(ura_halo_begin(halo, x, x), MPI_ERR_PENDING, "another beginning");
  expect(ura_halo_free(&halo), MPI_ERR_PENDING, "the end of one that is under way");
  expect(ura_halo_name(halo, "late"), MPI_ERR_PENDING, "the name of one that is under way");
  expect(ura_halo_ready(halo, 2, &flag), MPI_ERR_ARG, "a neighbour that is not there");
  expect(ura_halo_ready(halo, -1, &flag), MPI_ERR_ARG, "a neighbour below 0");
  expect(ura_halo_end(halo), MPI_SUCCESS, "an end");
  expect(ura_halo_end(halo), MPI_ERR_ARG, "another end");
  if (x[8] != 10 * other || x[9] != 10 * other + 3 || x[4] != 10 * other + 3) expect(1, 0, "what came");
  expect(ura_halo_free(&halo), MPI_SUCCESS, "the end of it");
  expect(ura_halo_free(&halo), MPI_ERR_ARG, "the end of none");
  printf("bad_halos: %s\n", wrong ? "WRONG" : "right");
  MPI_Finalize();
  return wrong;
}
