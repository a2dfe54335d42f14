// SPDX-License-Identifier: BSD-3-Clause
// What is wrong with a message, and who is told: prints for each case the error class that the call returns, how often
// the communicator's own error handler was called and with what class, and what the statuses say. Two ranks or more;
// rank 0 receives, the last rank sends. The output must be that of the MPI library alone.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kSmall = 8, kLarge = 100000 };

static MPI_Comm comm;
static int rank, last, calls, told, returned, first_only;
static char memory[4][kLarge];

static int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

static void handler(MPI_Comm* on, int* code, ...) {
  (void)on;
  ++calls;
  told = class_of(*code);
}

static void say(const char* what, int code) {
  // After a handler that returns MPICH answers MPI_SUCCESS, against the standard.
  if (rank == 0) printf("%s: class %d, handler %d times, %d\n", what, returned ? class_of(code) : 0, calls, told);
  calls = told = 0;
}

static void say_status(const MPI_Status* status, int with_error) {
  if (rank != 0) return;
  printf("  from %d tag %d", status->MPI_SOURCE, status->MPI_TAG);
  if (with_error) printf(" error %d", class_of(status->MPI_ERROR));
  printf("\n");
}

static void say_array(const MPI_Status* status) {
  for (int i = 0; i < 3; ++i) {
    say_status(&status[i], 1);
    if (first_only && status[i].MPI_ERROR != MPI_SUCCESS) return;
  }
}

// The last rank sends `bytes` with each tag below n; the receives of rank 0 have room for four.
static void send_all(int n, int bytes) {
  for (int tag = 0; tag < n; ++tag) MPI_Send(memory[0], bytes, MPI_BYTE, 0, tag, comm);
}

static void truncated(int bytes) {
  MPI_Status status[3];
  MPI_Request request[3];
  MPI_Message message;
  int flag = 0, index = 0, done = 0, indices[3];
  MPI_Barrier(comm);
  if (rank == last) {
    send_all(3, bytes);
    for (int i = 0; i < 8; ++i) {  // in the middle one that fits
      MPI_Send(memory[0], bytes, MPI_BYTE, 0, 0, comm);
      MPI_Send(memory[0], 4, MPI_BYTE, 0, 1, comm);
      MPI_Send(memory[0], bytes, MPI_BYTE, 0, 2, comm);
    }
    send_all(3, bytes);
    MPI_Barrier(comm);
    return;
  }
  if (rank != 0) {
    MPI_Barrier(comm);
    return;
  }
  printf("%d bytes for 4\n", bytes);
  say("MPI_Recv", MPI_Recv(memory[1], 4, MPI_BYTE, last, 0, comm, status));
  say_status(status, 0);
  say("MPI_Recv of any", MPI_Recv(memory[1], 4, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, comm, status));
  say_status(status, 0);
  MPI_Irecv(memory[1], 4, MPI_BYTE, last, 2, comm, request);
  say("MPI_Wait", MPI_Wait(request, status));
  say_status(status, 0);
  for (int way = 0; way < 8; ++way) {
    for (int i = 0; i < 3; ++i) {
      MPI_Irecv(memory[1 + i], 4, MPI_BYTE, way % 2 == 0 ? last : MPI_ANY_SOURCE, i, comm, &request[i]);
    }
    for (int i = 0; i < 3; ++i) status[i].MPI_ERROR = MPI_ERR_OTHER;
    if (way < 2) {
      say("MPI_Waitall", MPI_Waitall(3, request, status));
      say_array(status);
    } else if (way == 2) {
      int code = MPI_SUCCESS;
      while (!flag && code == MPI_SUCCESS) code = MPI_Testall(3, request, &flag, status);
      if (first_only && calls > 1) calls = 1;  // MPICH calls it again until all are done
      say("MPI_Testall", code);
      say_array(status);
    } else if (way == 3) {
      say("MPI_Waitall of any", MPI_Waitall(3, request, status));
      say_array(status);
    } else if (way == 4) {
      for (int i = 0; i < 3; ++i) {  // one after the other, so that it is known which is done
        say("MPI_Waitany", MPI_Waitany(1, &request[i], &index, status));
        say_status(status, 0);
      }
    } else if (way == 5) {
      for (int i = 0; i < 3; ++i) {
        say("MPI_Waitsome", MPI_Waitsome(1, &request[i], &done, indices, status));
        printf("  done %d\n", done);
        say_status(status, done == 1 && i != 1);
      }
    } else if (way == 6) {
      for (int i = 0; i < 3; ++i) {
        int code = MPI_SUCCESS;
        for (flag = 0; !flag && code == MPI_SUCCESS;) code = MPI_Test(&request[i], &flag, status);
        say("MPI_Test", code);
        printf("  flag %d\n", flag);
        say_status(status, 0);
      }
    } else {
      for (int i = 0; i < 3; ++i) {
        int code = MPI_SUCCESS;
        for (done = 0; done == 0 && code == MPI_SUCCESS;) {
          code = MPI_Testsome(1, &request[i], &done, indices, status);
        }
        say("MPI_Testsome", code);
        say_status(status, done == 1 && i != 1);
      }
    }
    int left = 0;
    for (int i = 0; i < 3; ++i) left += request[i] != MPI_REQUEST_NULL;
    if (way > 3 || !first_only) printf("  requests left %d\n", left);
    for (int i = 0; i < 3; ++i) {
      if (request[i] != MPI_REQUEST_NULL) MPI_Request_free(&request[i]);
    }
  }
  MPI_Mprobe(last, 0, comm, &message, status);
  say("MPI_Mrecv", MPI_Mrecv(memory[1], 4, MPI_BYTE, &message, status));
  MPI_Mprobe(MPI_ANY_SOURCE, 1, comm, &message, status);
  say("MPI_Imrecv", MPI_Imrecv(memory[1], 4, MPI_BYTE, &message, request));
  say("its MPI_Wait", MPI_Wait(request, status));
  // Open MPI alone says nothing of a truncation here.
  say("MPI_Sendrecv", MPI_Sendrecv(memory[0], 1, MPI_BYTE, 0, 7, memory[1], 1, MPI_BYTE, 0, 7, comm, status));
  MPI_Recv_init(memory[1], 4, MPI_BYTE, last, 2, comm, request);
  MPI_Start(request);
  say("persistent", MPI_Wait(request, status));
  printf("  still there %d\n", request[0] != MPI_REQUEST_NULL);
  MPI_Request_free(request);
  fflush(stdout);
  MPI_Barrier(comm);
}

// Calls that must be refused at once, with all arguments but one right.
static void refused(void) {
  int size = 0, flag = 0, found = 0, *most = NULL;
  char* const buffer = memory[1];
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message;
  MPI_Datatype type;
  MPI_Status status;
  MPI_Comm_size(comm, &size);
  MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
  MPI_Type_contiguous(4, MPI_BYTE, &type);  // never committed
#define EACH(what, buffer, count, type, peer, tag)                                                  \
  do {                                                                                              \
    say(what " in MPI_Send", MPI_Send(buffer, count, type, peer, tag, comm));                       \
    say(what " in MPI_Ssend", MPI_Ssend(buffer, count, type, peer, tag, comm));                     \
    say(what " in MPI_Isend", MPI_Isend(buffer, count, type, peer, tag, comm, &request));           \
    say(what " in MPI_Irsend", MPI_Irsend(buffer, count, type, peer, tag, comm, &request));         \
    say(what " in MPI_Send_init", MPI_Send_init(buffer, count, type, peer, tag, comm, &request));   \
    say(what " in MPI_Recv", MPI_Recv(buffer, count, type, peer, tag, comm, &status));              \
    say(what " in MPI_Irecv", MPI_Irecv(buffer, count, type, peer, tag, comm, &request));           \
    say(what " in MPI_Recv_init", MPI_Recv_init(buffer, count, type, peer, tag, comm, &request));   \
    say(what " in MPI_Sendrecv",                                                                    \
        MPI_Sendrecv(buffer, count, type, peer, tag, memory[2], 4, MPI_BYTE, 0, 0, comm, &status)); \
    say(what " in MPI_Sendrecv's receive",                                                          \
        MPI_Sendrecv(memory[2], 4, MPI_BYTE, 0, 0, buffer, count, type, peer, tag, comm, &status)); \
  } while (0)
  for (int to = 0; to < 2; ++to) {
    const int peer = to == 0 ? last : 0;
    if (rank == 0) printf("with rank %s\n", to == 0 ? "of the other" : "of this");
    EACH("a rank too large", buffer, 4, MPI_BYTE, size, 0);
    EACH("a rank below 0", buffer, 4, MPI_BYTE, -77, 0);
    EACH("a tag below 0", buffer, 4, MPI_BYTE, peer, -77);
    EACH("a count below 0", buffer, -1, MPI_BYTE, peer, 0);
    EACH("no type", buffer, 4, MPI_DATATYPE_NULL, peer, 0);
    EACH("a type that is not committed", buffer, 1, type, peer, 0);
    EACH("no buffer", NULL, 4, MPI_BYTE, peer, 0);
    if (*most != 0x7fffffff) EACH("a tag too large", buffer, 4, MPI_BYTE, peer, *most + 1);
    say("a rank too large in MPI_Probe", MPI_Probe(size, 0, comm, &status));
    say("a tag below 0 in MPI_Iprobe", MPI_Iprobe(peer, -77, comm, &flag, &status));
    say("a rank below 0 in MPI_Mprobe", MPI_Mprobe(-77, 0, comm, &message, &status));
    say("a rank too large in MPI_Improbe", MPI_Improbe(size, 0, comm, &flag, &message, &status));
  }
  MPI_Type_free(&type);
  say("no communicator in MPI_Send", MPI_Send(buffer, 4, MPI_BYTE, 0, 0, MPI_COMM_NULL));
  say("no communicator in MPI_Irecv", MPI_Irecv(buffer, 4, MPI_BYTE, 0, 0, MPI_COMM_NULL, &request));
  MPI_Recv_init(buffer, 4, MPI_BYTE, last, 0, comm, &request);
  say("MPI_Wait for a request that was not started", MPI_Wait(&request, &status));
  MPI_Request_free(&request);
}

// Receives of what a probe has matched that must be refused; the message is there yet.
static void refused_matched(void) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Message message;
  MPI_Datatype type;
  MPI_Status status;
  MPI_Barrier(comm);
  memory[0][0] = 7;
  if (rank == last) MPI_Send(memory[0], 4, MPI_BYTE, 0, 9, comm);
  if (rank != 0) return;
  MPI_Type_contiguous(4, MPI_BYTE, &type);  // never committed
  MPI_Mprobe(last, 9, comm, &message, &status);
#define BOTH(what, buffer, count, type)                                         \
  say(what " in MPI_Mrecv", MPI_Mrecv(buffer, count, type, &message, &status)); \
  say(what " in MPI_Imrecv", MPI_Imrecv(buffer, count, type, &message, &request))
  BOTH("a count below 0", memory[1], -1, MPI_BYTE);
  BOTH("no type", memory[1], 4, MPI_DATATYPE_NULL);
  BOTH("a type that is not committed", memory[1], 1, type);
  BOTH("no buffer", NULL, 4, MPI_BYTE);
  MPI_Type_free(&type);
  memory[1][0] = 0;
  say("the receive", MPI_Mrecv(memory[1], 4, MPI_BYTE, &message, &status));
  say_status(&status, 0);
  printf("  %d, message left %d\n", memory[1][0], message != MPI_MESSAGE_NULL);
}

// What is received from nobody, beside a send to the last rank.
static void exchanged_with_nobody(void) {
  MPI_Status status;
  int n = 7;
  if (rank == last) {
    for (int i = 0; i < 3; ++i) MPI_Recv(memory[1], 4, MPI_BYTE, 0, 11, comm, &status);
  }
  if (rank != 0) return;
  MPI_Sendrecv(memory[0], 4, MPI_BYTE, last, 11, memory[1], 4, MPI_BYTE, MPI_PROC_NULL, 12, comm, &status);
#if MPI_VERSION >= 4
  MPI_Request request;
  say_status(&status, 0);
  MPI_Isendrecv(memory[0], 4, MPI_BYTE, last, 11, memory[1], 4, MPI_BYTE, MPI_PROC_NULL, 12, comm, &request);
  MPI_Wait(&request, &status);
  say_status(&status, 0);
  MPI_Isendrecv_replace(memory[0], 4, MPI_BYTE, last, 11, MPI_PROC_NULL, 12, comm, &request);
  MPI_Wait(&request, &status);
#else
  for (int i = 0; i < 2; ++i) MPI_Send(memory[0], 4, MPI_BYTE, last, 11, comm);
#endif
  say_status(&status, 0);
  MPI_Get_count(&status, MPI_BYTE, &n);
  printf("  %d bytes\n", n);
}

// A communicator that is freed while a receive on it waits: it comes, and is truncated.
static void freed(void) {
  MPI_Comm gone;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Status status;
  MPI_Comm_dup(comm, &gone);
  if (rank == 0) MPI_Irecv(memory[1], 4, MPI_BYTE, last, 0, gone, &request);
  MPI_Barrier(comm);
  if (rank == last) MPI_Isend(memory[0], kSmall, MPI_BYTE, 0, 0, gone, &request);
  MPI_Comm_free(&gone);
  MPI_Barrier(comm);
  const int code = MPI_Wait(&request, &status);
  calls = told = 0;  // hosts do not agree on whose handler that is
  say("MPI_Wait for a message on a freed communicator", code);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  first_only = argc > 1 && strcmp(argv[1], "first") == 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &last);
  --last;
  MPI_Errhandler own;
  MPI_Comm_create_errhandler(handler, &own);
  for (int way = 0; way < 2; ++way) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, way == 0 ? MPI_ERRORS_RETURN : own);
    returned = way == 0;
    if (rank == 0) printf("%s\n", way == 0 ? "MPI_ERRORS_RETURN" : "a handler");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD,
                            way == 0 ? MPI_ERRORS_RETURN : own);  // on which some MPI libraries complain
    MPI_Comm_set_errhandler(MPI_COMM_SELF, way == 0 ? MPI_ERRORS_RETURN : own);
    truncated(kSmall);
    refused();
    refused_matched();
    exchanged_with_nobody();
    freed();
    MPI_Comm_free(&comm);
  }
  MPI_Errhandler_free(&own);
  MPI_Finalize();
  return 0;
}
