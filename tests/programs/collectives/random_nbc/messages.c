// SPDX-License-Identifier: BSD-3-Clause
#include "messages.h"

#include <stdlib.h>

static unsigned char content(int tag, int i) { return (unsigned char)(tag * 31 + i * 7 + (i >> 8)); }

void post_messages(Messages* m, MPI_Comm exact, MPI_Comm any, Random* shared, Random* local) {
  int size = 0;
  int rank = 0;
  MPI_Comm_size(exact, &size);
  MPI_Comm_rank(exact, &rank);
  m->requests = 0;
  m->anybody = false;
  const int messages = below(shared, kMessages + 1);
  for (int k = 0; k < messages; ++k) {
    const int from = below(shared, size);
    const int to = below(shared, size);
    const int bytes = one_in(shared, 4) ? below(shared, kMessageBytes + 1) : below(shared, 100);
    const int tag = below(shared, 1000);
    const bool anybody = one_in(shared, 2);
    m->anybody = m->anybody || anybody;
    const MPI_Comm comm = anybody ? any : exact;
    if (rank == to) {
      const int i = m->requests++;
      m->receives[i] = true;
      m->source[i] = anybody ? MPI_ANY_SOURCE : from;
      m->buffer[i] = malloc(kMessageBytes);
      MPI_Irecv(m->buffer[i], kMessageBytes, MPI_BYTE, m->source[i], anybody ? MPI_ANY_TAG : tag, comm, &m->request[i]);
    }
    if (rank == from) {
      const int i = m->requests++;
      m->receives[i] = false;
      m->buffer[i] = malloc(kMessageBytes);
      for (int b = 0; b < bytes; ++b) m->buffer[i][b] = content(tag, b);
      if (one_in(local, 3)) {
        MPI_Issend(m->buffer[i], bytes, MPI_BYTE, to, tag, comm, &m->request[i]);
      } else {
        MPI_Isend(m->buffer[i], bytes, MPI_BYTE, to, tag, comm, &m->request[i]);
      }
    }
  }
}

bool check_messages(Messages* m, const MPI_Status* statuses) {
  bool right = true;
  for (int i = 0; i < m->requests; ++i) {
    if (m->receives[i]) {
      int bytes = -1;
      MPI_Get_count(&statuses[i], MPI_BYTE, &bytes);
      right = right && bytes >= 0 && bytes <= kMessageBytes;
      right = right && (m->source[i] == MPI_ANY_SOURCE || m->source[i] == statuses[i].MPI_SOURCE);
      for (int b = 0; right && b < bytes; ++b) right = m->buffer[i][b] == content(statuses[i].MPI_TAG, b);
    }
    free(m->buffer[i]);
  }
  return right;
}
