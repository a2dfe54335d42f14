// SPDX-License-Identifier: BSD-3-Clause
#include "completion.h"

#include <mpi.h>

#include "job.h"

void complete(Part* parts, int n, Random* r) {
  static MPI_Request requests[kMostParts];
  static MPI_Status statuses[kMostParts];
  static int indices[kMostParts], where[kMostParts];
  int open = 0;
  for (int i = 0; i < n; ++i) {
    if (parts[i].done || parts[i].request == MPI_REQUEST_NULL) continue;
    where[open] = i;
    requests[open++] = parts[i].request;
  }
  const int way = below(r, 6);
  if (way == 0) {
    MPI_Waitall(open, requests, statuses);
    for (int i = 0; i < open; ++i) parts[where[i]].status = statuses[i];
  } else if (way == 1) {
    int flag = 0;
    while (!flag) MPI_Testall(open, requests, &flag, statuses);
    for (int i = 0; i < open; ++i) parts[where[i]].status = statuses[i];
  } else if (way == 2) {
    for (int i = open - 1; i >= 0; --i) MPI_Wait(&requests[i], &parts[where[i]].status);
  } else if (way == 3) {
    for (int i = 0; i < open; ++i) {
      int flag = 0;
      while (!flag) MPI_Test(&requests[i], &flag, &parts[where[i]].status);
    }
  } else {
    for (int left = open; left > 0;) {
      int done = 0;
      if (way == 4) {
        MPI_Waitsome(open, requests, &done, indices, statuses);
      } else {
        MPI_Waitany(open, requests, indices, statuses);
        done = 1;
      }
      if (done == MPI_UNDEFINED || indices[0] == MPI_UNDEFINED) fail("nothing active", left, open);
      for (int k = 0; k < done; ++k) parts[where[indices[k]]].status = statuses[k];
      left -= done;
    }
  }
  for (int i = 0; i < open; ++i) {
    parts[where[i]].done = 1;
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);  // persistent
    parts[where[i]].request = MPI_REQUEST_NULL;
  }
}
