// SPDX-License-Identifier: BSD-3-Clause
// Communicators that are freed or disconnected while requests on them exist; each rank sends to the next. Says how many
// delete callbacks MPI_Comm_free has called while a persistent request was inactive. Errors that are found after
// MPI_Comm_free are for the error handler that the communicator had. With the word `collectives`: only what is not the
// MPI library's business outside of a space, where MPICH frees persistent requests in MPI_Comm_disconnect. With
// `mixed`: without messages that are too long, for which Open MPI may call the handler of MPI_COMM_WORLD, and with
// delete callbacks that may come behind the last receive, so they do not communicate. With `threads` as the second word
// MPI is asked for MPI_THREAD_MULTIPLE, where another thread might be given the handle while it is freed.
#include <mpi.h>
#include <stdio.h>
#include <string.h>

static int rank, ranks, next, previous, deleted, told, told_class, told_size, deferred;

static void check(int right, const char* what) {
  if (right) return;
  fprintf(stderr, "rank %d: %s\n", rank, what);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

// The communicator that is freed may still be used: a message that came before, and a collective.
static int note_delete(MPI_Comm comm, int key, void* value, void* extra) {
  int in = -1, one = 1, sum = 0;
  MPI_Request request;
  (void)key, (void)value, (void)extra;
  ++deleted;
  if (deferred) return MPI_SUCCESS;
  MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 2, comm, MPI_STATUS_IGNORE);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(in == 20 + previous && sum == ranks, "a communicator in its delete callback");
  return MPI_SUCCESS;
}

// A collective that nothing has preceded on the communicator.
static int sum_at_delete(MPI_Comm comm, int key, void* value, void* extra) {
  int one = 1, sum = 0;
  MPI_Request request;
  (void)key, (void)value, (void)extra;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(sum == ranks, "the first collective in a delete callback");
  return MPI_SUCCESS;
}

static void note_error(MPI_Comm* comm, int* code, ...) {
  ++told;
  MPI_Error_class(*code, &told_class);
  MPI_Comm_size(*comm, &told_size);  // a valid handle
}

static MPI_Comm duplicate(void) {
  MPI_Comm made;
  MPI_Comm_dup(MPI_COMM_WORLD, &made);
  return made;
}

// Persistent messages go on after MPI_Comm_free, whose delete callbacks come at once where no request of the MPI
// library is left.
static void persistent_messages(void) {
  MPI_Comm comm = duplicate();
  MPI_Request both[2];
  int key, in = -1, out = 20 + rank;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_delete, &key, NULL);
  MPI_Comm_set_attr(comm, key, NULL);
  MPI_Recv_init(&in, 1, MPI_INT, MPI_ANY_SOURCE, 3, comm, &both[0]);
  MPI_Send_init(&out, 1, MPI_INT, next, 3, comm, &both[1]);
  if (!deferred) MPI_Send(&out, 1, MPI_INT, next, 2, comm);
  MPI_Comm_free(&comm);
  check(comm == MPI_COMM_NULL, "the handle of a freed communicator");
  if (rank == 0) printf("callbacks in MPI_Comm_free: %d\n", deleted);
  for (int turn = 0; turn < 3; ++turn) {
    out = 10 * turn + rank;
    MPI_Startall(2, both);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    check(in == 10 * turn + previous, "a persistent message on a freed communicator");
  }
  MPI_Request_free(&both[0]);
  MPI_Request_free(&both[1]);
  check(deleted == 1, "a delete callback that never came");
  MPI_Comm_free_keyval(&key);
}

// New communicators get nothing of what was meant for a freed one, although their handles may be the same.
static void pending_receive(void) {
  MPI_Comm comm = duplicate(), other;
  MPI_Request request;
  int in = -1, word = 40 + rank;
  MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 4, comm, &request);
  MPI_Send(&word, 1, MPI_INT, next, 4, comm);
  MPI_Comm_free(&comm);
  other = duplicate();
  MPI_Sendrecv(&rank, 1, MPI_INT, next, 4, &word, 1, MPI_INT, previous, 4, other, MPI_STATUS_IGNORE);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(word == previous && in == 40 + previous, "a receive that was pending");
  MPI_Comm_free(&other);
}

// Rank 0 is most likely given the freed handle again, and the others are not. All agree on who runs the collective.
static void handle_again(void) {
  MPI_Comm comm = duplicate(), between = MPI_COMM_NULL, again;
  MPI_Request request;
  int key, one = 1, sum = 0;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, sum_at_delete, &key, NULL);
  MPI_Comm_set_attr(comm, key, NULL);
  MPI_Comm_free_keyval(&key);
  MPI_Comm_free(&comm);
  if (rank != 0) MPI_Comm_dup(MPI_COMM_SELF, &between);
  again = duplicate();
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, again, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(sum == ranks, "a collective on a handle that was freed before");
  MPI_Comm_free(&again);
  if (rank != 0) MPI_Comm_free(&between);
}

// MPI_Comm_disconnect waits for what is pending, and a persistent request that is inactive is not.
static void disconnect(void) {
  MPI_Comm comm = duplicate();
  MPI_Request inactive[3], freed;
  int in[2], word = 50 + rank, got = -1;
  MPI_Recv_init(&in[0], 1, MPI_INT, previous, 5, comm, &inactive[0]);
  MPI_Recv_init(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 5, comm, &inactive[1]);
  MPI_Send_init(&word, 1, MPI_INT, next, 5, comm, &inactive[2]);
  MPI_Start(&inactive[0]);
  MPI_Start(&inactive[2]);
  MPI_Wait(&inactive[2], MPI_STATUS_IGNORE);
  MPI_Wait(&inactive[0], MPI_STATUS_IGNORE);
  check(in[0] == 50 + previous, "a persistent message");
  MPI_Irecv(&got, 1, MPI_INT, previous, 6, comm, &freed);
  MPI_Request_free(&freed);
  MPI_Send(&word, 1, MPI_INT, next, 6, comm);
  MPI_Comm_disconnect(&comm);
  check(comm == MPI_COMM_NULL && got == 50 + previous, "a disconnected communicator");
  for (int i = 0; i < 3; ++i) MPI_Request_free(&inactive[i]);
}

static void expect(int code, int right, int function, const char* what) {
  int class;
  MPI_Error_class(code, &class);
  check(function ? told == 1 && told_class == right && told_size > 0 : class == right, what);
  told = told_class = told_size = 0;
}

// The communicator is freed before the error is found. Its handler is a function, or MPI_ERRORS_RETURN.
static MPI_Comm with_handler(int function) {
  MPI_Comm comm = duplicate();
  MPI_Errhandler handler = MPI_ERRORS_RETURN;
  if (function) MPI_Comm_create_errhandler(note_error, &handler);
  MPI_Comm_set_errhandler(comm, handler);
  if (function) MPI_Errhandler_free(&handler);
  return comm;
}

static void too_long_a_message(int function) {
  MPI_Comm comm = with_handler(function);
  MPI_Request request;
  int words[2] = {rank, rank}, in = -1;
  MPI_Irecv(&in, 1, MPI_INT, previous, 7, comm, &request);
  MPI_Send(words, 2, MPI_INT, next, 7, comm);
  MPI_Comm_free(&comm);
  expect(MPI_Wait(&request, MPI_STATUS_IGNORE), MPI_ERR_TRUNCATE, function, "a message that is too long");
}

static void cancelled_collective(int function) {
  MPI_Comm comm = with_handler(function);
  MPI_Request request;
  int one = 1, sum = 0;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Comm_free(&comm);
  expect(MPI_Cancel(&request), MPI_ERR_REQUEST, function, "a collective that is cancelled");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(sum == ranks, "the sum");
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "all";
  const int all = strcmp(what, "all") == 0, messages = strcmp(what, "collectives") != 0;
  deferred = strcmp(what, "mixed") == 0;
  const int threads = argc > 2 && strcmp(argv[2], "threads") == 0;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  next = (rank + 1) % ranks;
  previous = (rank + ranks - 1) % ranks;
  if (messages) persistent_messages();
  handle_again();
  for (int turn = 0; turn < 20; ++turn) {
    pending_receive();
    if (messages) disconnect();
    if (all) too_long_a_message(turn % 2);
    cancelled_collective(turn % 2);
  }
  MPI_Finalize();
  return 0;
}
