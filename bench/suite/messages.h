/* SPDX-License-Identifier: BSD-3-Clause */
// The messages of suite: a ring in all modes, blocking, non-blocking, persistent, probed and cancelled.
#ifndef URAKATA_BENCH_SUITE_MESSAGES_H
#define URAKATA_BENCH_SUITE_MESSAGES_H

#include "operations.h"

typedef int (*send_function)(const void*, int, MPI_Datatype, int, int, MPI_Comm);
typedef int (*start_function)(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*);

enum { MODES = 4, TAG = 3, BACK_TAG = 4, UNUSED_TAG = 5 };

// Each rank sends to the one after it. The buffer of MPI_Bsend is attached.
static inline void messages(struct suite* s, enum form form) {
  static const send_function sends[MODES] = {MPI_Send, MPI_Ssend, MPI_Bsend, MPI_Rsend};
  static const start_function starts[MODES] = {MPI_Isend, MPI_Issend, MPI_Ibsend, MPI_Irsend};
  static const start_function inits[MODES] = {MPI_Send_init, MPI_Ssend_init, MPI_Bsend_init, MPI_Rsend_init};
  const int to = (s->rank + 1) % s->ranks, from = (s->rank + s->ranks - 1) % s->ranks, n = 1 + draw(s, MOST);
  for (int mode = 0; mode < MODES; ++mode) {
    MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    fill(s, n);
    if (form == PERSISTENT) {
      MPI_Recv_init(s->in, n, MPI_INT, from, TAG, s->comm, &requests[0]);
      inits[mode](s->out, n, MPI_INT, to, TAG, s->comm, &requests[1]);
      MPI_Start(&requests[0]);
    } else {
      MPI_Irecv(s->in, n, MPI_INT, draw(s, 2) ? MPI_ANY_SOURCE : from, TAG, s->comm, &requests[0]);
    }
    // A ready send needs the receive of the other.
    if (mode == MODES - 1) MPI_Barrier(s->comm);
    if (form == BLOCKING) {
      sends[mode](s->out, n, MPI_INT, to, TAG, s->comm);
      MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    } else {
      if (form == PERSISTENT)
        MPI_Start(&requests[1]);
      else
        starts[mode](s->out, n, MPI_INT, to, TAG, s->comm, &requests[1]);
      complete(s, 2, requests);
    }
    if (form == PERSISTENT)
      for (int i = 0; i < 2; ++i) MPI_Request_free(&requests[i]);
    expect_block(s->in, n, from, 0, "a message");
    count_operation(s);
  }
}

// The message that has come is looked at before it is received, and taken out of those that have, if `matched`.
static inline void probed_message(struct suite* s, int matched) {
  const int to = (s->rank + 1) % s->ranks, from = (s->rank + s->ranks - 1) % s->ranks, n = 1 + draw(s, MOST);
  MPI_Request request;
  MPI_Status status;
  MPI_Message message;
  int count;
  fill(s, n);
  MPI_Isend(s->out, n, MPI_INT, to, TAG, s->comm, &request);
  if (matched)
    MPI_Mprobe(from, TAG, s->comm, &message, &status);
  else
    MPI_Probe(MPI_ANY_SOURCE, TAG, s->comm, &status);
  MPI_Get_count(&status, MPI_INT, &count);
  expect(count, n, "the count of a probed message");
  if (matched)
    MPI_Mrecv(s->in, count, MPI_INT, &message, MPI_STATUS_IGNORE);
  else
    MPI_Recv(s->in, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, s->comm, MPI_STATUS_IGNORE);
  complete(s, 1, &request);
  expect_block(s->in, n, from, 0, "a probed message");
  MPI_Sendrecv(s->out, n, MPI_INT, from, BACK_TAG, s->in, n, MPI_INT, to, BACK_TAG, s->comm, MPI_STATUS_IGNORE);
  expect_block(s->in, n, to, 0, "Sendrecv");
  count_operation(s);
}

static inline void cancelled_receive(struct suite* s) {
  MPI_Request request;
  MPI_Status status;
  int cancelled = 0;
  MPI_Irecv(s->in, 1, MPI_INT, MPI_ANY_SOURCE, UNUSED_TAG, s->comm, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  expect(cancelled, 1, "Test_cancelled");
}

#endif
