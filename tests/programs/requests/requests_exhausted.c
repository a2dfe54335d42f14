// SPDX-License-Identifier: BSD-3-Clause
/* Calls for which no request is left, since the process may have no more memory, end with MPI_ERR_NO_MEM and nothing
 * else has happened; once there is room again, all goes on.
 *
 * requests_exhausted collectives: the last rank cannot start its IN_USE-th+1 MPI_Ibarrier, which ends with an error
 *                                 on all.
 * requests_exhausted messages: of two ranks in one space. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
  IN_USE = 4096,   /* requests are made by the power of two: none is left then, and 4096 more take 1 MiB at least */
  SLACK = 1 << 19, /* bytes for all others */
  LARGE = 1 << 20
};

static int rank, ranks, wrong;
static MPI_Request pending[IN_USE + 1];

static void check(int right, const char* what) {
  if (!right) printf("rank %d: %s: WRONG\n", rank, what);
  wrong += !right;
}

static int class_of(int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  return class;
}

static long kilobytes(const char* name) {
  char line[256];
  long found = 0;
  FILE* status = fopen("/proc/self/status", "r");
  while (fgets(line, sizeof line, status) != NULL) {
    if (strncmp(line, name, strlen(name)) == 0) found = atol(line + strlen(name));
  }
  fclose(status);
  return found;
}

static void limit_memory(int yes) {
  struct rlimit limit;
  getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = yes ? (rlim_t)kilobytes("VmData:") * 1024 + SLACK : limit.rlim_max;
  check(setrlimit(RLIMIT_DATA, &limit) == 0, "setting the limit");
}

static void goes_on(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  int sum = 0;
  MPI_Request request;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(sum == ranks * (ranks - 1) / 2, "a collective afterwards");
  MPI_Comm_free(&comm);
}

static void collectives(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int last = rank == ranks - 1;
  for (int i = 0; i < IN_USE; ++i) check(MPI_Ibarrier(comm, &pending[i]) == MPI_SUCCESS, "a start");
  pending[IN_USE] = MPI_REQUEST_NULL;
  if (last) limit_memory(1);
  const int code = MPI_Ibarrier(comm, &pending[IN_USE]);
  if (last) limit_memory(0);
  check(class_of(code) == (last ? MPI_ERR_NO_MEM : MPI_SUCCESS), "the class of the start without room");
  check(last == (pending[IN_USE] == MPI_REQUEST_NULL), "the request of the start without room");
  for (int i = 0; i < IN_USE; ++i) MPI_Wait(&pending[i], MPI_STATUS_IGNORE); /* each ends, well or not */
  if (!last) check(MPI_Wait(&pending[IN_USE], MPI_STATUS_IGNORE) != MPI_SUCCESS, "the operation that one cannot start");
  MPI_Comm_free(&comm);
}

static void without_room(char* large) {
  MPI_Comm comm = MPI_COMM_WORLD;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message = MPI_MESSAGE_NULL;
  MPI_Status status;
  int flag = 0, number = 0;
  const int probed = MPI_Improbe(1, 1, comm, &flag, &message, &status);
  const int waited = MPI_Mprobe(1, 1, comm, &message, &status);
  const int received = MPI_Irecv(&number, 1, MPI_INT, 1, 1, comm, &request);
  const int prepared = MPI_Recv_init(&number, 1, MPI_INT, 1, 1, comm, &request);
  const int prepared_send = MPI_Send_init(&number, 1, MPI_INT, 1, 1, comm, &request);
  const int sent = MPI_Isend(large, LARGE, MPI_BYTE, 1, 2, comm, &request);
  const int at_once = MPI_Isend(&rank, 1, MPI_INT, 1, 3, comm, &request); /* needs none of its own */
  limit_memory(0);
  check(class_of(probed) == MPI_ERR_NO_MEM, "MPI_Improbe");
  check(class_of(waited) == MPI_ERR_NO_MEM, "MPI_Mprobe");
  check(class_of(received) == MPI_ERR_NO_MEM, "MPI_Irecv");
  check(class_of(prepared) == MPI_ERR_NO_MEM, "MPI_Recv_init");
  check(class_of(prepared_send) == MPI_ERR_NO_MEM, "MPI_Send_init");
  check(class_of(sent) == MPI_ERR_NO_MEM, "MPI_Isend of a large message");
  check(at_once == MPI_SUCCESS, "MPI_Isend of a small message");
  check(MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS, "MPI_Wait for a small message");
}

static void messages(void) {
  char* const large = malloc(LARGE);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  int number = 7;
  if (rank == 1) {
    MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    MPI_Recv(&number, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    check(number == 0, "the small message");
  } else {
    MPI_Status status;
    MPI_Probe(1, 1, MPI_COMM_WORLD, &status);
    for (int i = 0; i < IN_USE; ++i) MPI_Recv_init(&number, 1, MPI_INT, 1, 9, MPI_COMM_WORLD, &pending[i]);
    limit_memory(1);
    without_room(large);
    check(MPI_Recv(&number, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &status) == MPI_SUCCESS && number == 7, "the message");
    for (int i = 0; i < IN_USE; ++i) MPI_Request_free(&pending[i]);
  }
  free(large);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc > 1 && strcmp(argv[1], "messages") == 0) {
    messages();
  } else {
    collectives();
  }
  goes_on();
  if (wrong == 0) printf("rank %d: right\n", rank);
  MPI_Finalize();
  return wrong != 0;
}
