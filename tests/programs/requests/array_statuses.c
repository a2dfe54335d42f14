// SPDX-License-Identifier: BSD-3-Clause
// MPI_ERR_IN_STATUS: every status that the call returns has its MPI_ERROR set, whoever carries the message. In one
// array are a receive whose message is too long, one that is right, both from the other rank, and a message of each
// rank to itself on MPI_COMM_SELF, which is the MPI library's.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { kUnset = -4321, kRequests = 4 };

static int rank;

static void check(int right, const char* call, const char* what) {
  if (right) return;
  fprintf(stderr, "rank %d: %s: %s\n", rank, call, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void try_call(MPI_Comm comm, const char* call) {
  static const int right[kRequests] = {MPI_SUCCESS, MPI_ERR_TRUNCATE, MPI_SUCCESS, MPI_SUCCESS};
  MPI_Request requests[kRequests];
  MPI_Status statuses[kRequests];
  int in[kRequests], words[2] = {rank, rank}, indices[kRequests], count = kRequests, flag, code = MPI_SUCCESS;
  MPI_Irecv(&in[0], 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[0]);
  MPI_Irecv(&in[1], 1, MPI_INT, !rank, 1, comm, &requests[1]);
  MPI_Irecv(&in[2], 1, MPI_INT, !rank, 2, comm, &requests[2]);
  MPI_Isend(words, 1, MPI_INT, 0, 0, MPI_COMM_SELF, &requests[3]);
  MPI_Send(words, 2, MPI_INT, !rank, 1, comm);
  MPI_Send(words, 1, MPI_INT, !rank, 2, comm);
  for (int i = 0; i < kRequests; ++i) {
    for (flag = 0; !flag;) MPI_Request_get_status(requests[i], &flag, MPI_STATUS_IGNORE);
    statuses[i].MPI_ERROR = kUnset;
    indices[i] = i;
  }
  if (strcmp(call, "MPI_Waitall") == 0) code = MPI_Waitall(kRequests, requests, statuses);
  if (strcmp(call, "MPI_Testall") == 0) code = MPI_Testall(kRequests, requests, &flag, statuses);
  if (strcmp(call, "MPI_Waitsome") == 0) code = MPI_Waitsome(kRequests, requests, &count, indices, statuses);
  if (strcmp(call, "MPI_Testsome") == 0) code = MPI_Testsome(kRequests, requests, &count, indices, statuses);
  check(code == MPI_ERR_IN_STATUS, call, "the code of the call");
  check(count == kRequests, call, "not all are done");
  for (int i = 0; i < count; ++i) {
    int class = kUnset;
    check(statuses[i].MPI_ERROR != kUnset, call, "an MPI_ERROR that is not set");
    MPI_Error_class(statuses[i].MPI_ERROR, &class);
    check(class == right[indices[i]], call, "an MPI_ERROR that is wrong");
  }
}

int main(int argc, char** argv) {
  static const char* const calls[] = {"MPI_Waitall", "MPI_Testall", "MPI_Waitsome", "MPI_Testsome"};
  MPI_Comm comm;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int i = 0; i < 4; ++i) try_call(comm, calls[i]);
  MPI_Comm_free(&comm);
  MPI_Finalize();
  return 0;
}
