// SPDX-License-Identifier: BSD-3-Clause
// What the MPI library refuses is refused under Urakata too, by the error handler of the call's communicator and with
// the MPI library's error class; afterwards the communicator and the type work.
#include <mpi.h>
#include <stdio.h>

static MPI_Comm comm;
static int failures = 0;

static void expect(const char* what, int code, int wanted) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  if (class == wanted) return;
  fprintf(stderr, "%s: error class %d instead of %d\n", what, class, wanted);
  failures = 1;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  int data[4] = {1, 2, 3, 4};
  int sum[4] = {0};
  MPI_Datatype four;
  MPI_Type_contiguous(4, MPI_INT, &four);
  MPI_Request request = MPI_REQUEST_NULL;
  expect("a type that is not committed", MPI_Ibcast(data, 1, four, 0, comm, &request), MPI_ERR_TYPE);
  expect("no type", MPI_Ibcast(data, 1, MPI_DATATYPE_NULL, 0, comm, &request), MPI_ERR_TYPE);
  expect("a root that is no rank", MPI_Ibcast(data, 4, MPI_INT, size, comm, &request), MPI_ERR_ROOT);
  expect("a count below 0", MPI_Ibcast(data, -1, MPI_INT, 0, comm, &request), MPI_ERR_COUNT);
  expect("no operation", MPI_Iallreduce(data, sum, 4, MPI_INT, MPI_OP_NULL, comm, &request), MPI_ERR_OP);
  MPI_Type_commit(&four);
  expect("the type, committed", MPI_Ibcast(data, 1, four, 0, comm, &request), MPI_SUCCESS);
  expect("its end", MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_SUCCESS);
  MPI_Type_free(&four);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return failures;
}
