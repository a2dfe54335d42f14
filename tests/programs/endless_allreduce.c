// Small non-blocking reductions until one ends with an error, which is said; the job then ends well. One that never sees
// an error gives up after a minute.
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int rank = 0, code = MPI_SUCCESS;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const double begin = MPI_Wtime();
  while (code == MPI_SUCCESS && MPI_Wtime() - begin < 60) {
    double mine = rank, sum = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    code = MPI_Iallreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  printf("rank %d %s\n", rank, code != MPI_SUCCESS ? "ended with an error" : "saw no error");
  fflush(stdout);
  MPI_Finalize();
  return 0;
}
