// SPDX-License-Identifier: BSD-3-Clause
// Chooses the engine of a communicator again and again, as the arguments say: `call:NAME` by ura_engine, `info:NAME` by
// the info key, `pending:NAME` by ura_engine while rank 0 has a barrier pending, `mixed:NAME` by ura_engine while rank
// 0 chooses host, `sole:NAME` by the info key, which rank 0 alone gives. After choice i (from 1) the ranks do an
// MPI_Iallreduce of i doubles on it and check its result; rank 0 says what a call returned. A choice while MPI does not
// run, before and after, is an error and changes nothing.
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <urakata.h>

enum { kMost = 32 };

static const char* class_of(int code) {
  if (code == MPI_SUCCESS) return "MPI_SUCCESS";
  if (code == MPI_ERR_ARG) return "MPI_ERR_ARG";
  return code == MPI_ERR_PENDING ? "MPI_ERR_PENDING" : "another";
}

// NULL: no key of ours.
static void choose_by_info(MPI_Comm comm, const char* engine) {
  MPI_Info info;
  MPI_Info_create(&info);
  if (engine) MPI_Info_set(info, "urakata_engine", engine);
  MPI_Comm_set_info(comm, info);
  MPI_Info_free(&info);
}

// Rank 0 chooses while its barrier cannot be done, since the others have not begun theirs.
static int choose_while_pending(MPI_Comm comm, const char* engine, int rank) {
  MPI_Request barrier;
  if (rank == 0) MPI_Ibarrier(comm, &barrier);
  const int code = ura_engine(comm, engine);
  if (rank != 0) MPI_Ibarrier(comm, &barrier);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  return code;
}

int main(int argc, char** argv) {
  int rank, size;
  MPI_Comm comm;
  if (!ura_available() || ura_engine(MPI_COMM_WORLD, "native") == MPI_SUCCESS) return 3;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  if (argc > kMost || ura_engine(MPI_COMM_WORLD, "poll") != MPI_SUCCESS) MPI_Abort(MPI_COMM_WORLD, 2);
  for (int i = 1; i < argc; ++i) {
    const char* engine = strchr(argv[i], ':') + 1;
    int code = MPI_SUCCESS;
    if (argv[i][0] == 'i') {
      choose_by_info(comm, engine);
    } else if (argv[i][0] == 's') {
      choose_by_info(comm, rank == 0 ? engine : NULL);
    } else if (argv[i][0] == 'm') {
      code = ura_engine(comm, rank == 0 ? "native" : engine);
    } else if (argv[i][0] == 'p') {
      code = choose_while_pending(comm, engine, rank);
    } else {
      code = ura_engine(comm, engine);
    }
    if (rank == 0) printf("choice %d: %s\n", i, class_of(code));

    double numbers[kMost], sums[kMost];
    for (int k = 0; k < i; ++k) numbers[k] = rank + k;
    MPI_Request request;
    MPI_Iallreduce(numbers, sums, i, MPI_DOUBLE, MPI_SUM, comm, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    for (int k = 0; k < i; ++k) {
      if (sums[k] == size * (size - 1) / 2.0 + size * (double)k) continue;
      fprintf(stderr, "choice %d: element %d is %g\n", i, k, sums[k]);
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return ura_engine(MPI_COMM_WORLD, "native") == MPI_SUCCESS ? 3 : 0;
}
