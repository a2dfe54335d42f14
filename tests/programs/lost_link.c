// Collectives until one fails, while the test breaks the link between two hosts. Every rank gets an error, and another
// one at once for the next collective on the same communicator. Files in the folder argv[1] say how far each rank is.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { BLOCK = 20000 };

static int size;
static const char* folder;

static void path_of(char* path, const char* state, int rank) { sprintf(path, "%s/%s.%d", folder, state, rank); }

static void say(const char* state, int rank) {
  char path[4096];
  path_of(path, state, rank);
  FILE* file = fopen(path, "w");
  if (file == NULL || fclose(file) != 0) abort();
}

static void wait_for_all(const char* state) {
  char path[4096];
  for (int rank = 0; rank < size; ++rank) {
    path_of(path, state, rank);
    while (access(path, F_OK) != 0) usleep(10000);
  }
}

static int collective(int* from, int* to) {
  MPI_Request request;
  const int code = MPI_Ialltoall(from, BLOCK, MPI_INT, to, BLOCK, MPI_INT, MPI_COMM_WORLD, &request);
  return code != MPI_SUCCESS ? code : MPI_Wait(&request, MPI_STATUS_IGNORE);
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  folder = argv[1];
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int* from = calloc((size_t)size * BLOCK, sizeof *from);
  int* to = calloc((size_t)size * BLOCK, sizeof *to);
  if (from == NULL || to == NULL) return 2;
  long done = 0;
  while (collective(from, to) == MPI_SUCCESS) {
    if (++done == 10) say("works", rank);
  }
  const int again = collective(from, to);
  free(from);  // nothing of the failed operations touches them any more
  free(to);
  if (again == MPI_SUCCESS) return 1;
  say("failed", rank);
  wait_for_all("failed");
  _exit(0);  // the host has lost the link, too
}
