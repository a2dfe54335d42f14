// SPDX-License-Identifier: BSD-3-Clause
/* Buffers on a false device in all messages.
 *
 * device_messages DRIVER early|late SEED */
#define _GNU_SOURCE
#include "device_buffers.h"

/* What arrives as bytes lies in the elements, in order. */
static void expect_from(struct buffer* of, const char* sent, size_t payload, int pick, int units) {
  size_t at = 0;
  if (pick == 0) {
    memcpy(of->like, sent, payload);
    return;
  }
  for (int e = 0; e < units; ++e) {
    if (pick == 1) {
      for (int b = 0; b < 5 && at < payload; ++b, at += 12) memcpy(of->like + 140 * e + 28 * b, sent + at, 12);
    } else {
      static const int places[4] = {0, 16, 44, 80}, lengths[4] = {4, 12, 8, 36};
      for (int b = 0; b < 4 && at < payload; at += (size_t)lengths[b], ++b) {
        memcpy(of->like + 140 * e + places[b], sent + at, (size_t)lengths[b]);
      }
    }
  }
}

enum { FORMS = 9 };

static void messages(void) {
  MPI_Datatype strided, listed;
  types(&strided, &listed);
  const MPI_Datatype kinds[3] = {MPI_INT, strided, listed};
  const int to = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  char* room = malloc(1 << 20);
  MPI_Buffer_attach(room, 1 << 20);
  unsigned same = seed;
  for (int round = 0; round < 90; ++round) {
    same = same * 1103515245u + 12345u;
    const int sizes[5] = {1, 2, 20, 200, 3000};
    const int units = sizes[(same >> 16) % 5], form = round % FORMS;
    const int pick = form == 4 ? 0 : (int)draw(3), other = (int)draw(3), more = (int)draw(2);
    const int count = pick == 0 ? 15 * units : units;
    const int room_for = other == 0 ? 15 * (units + more) : units + more; /* the rest must stay as it is */
    struct buffer a = fresh(pick == 0 ? 60u * (size_t)units : 140u * (size_t)units);
    struct buffer b = fresh(other == 0 ? 60u * (size_t)(units + more) : 140u * (size_t)(units + more));
    /* The MPI library tells what is to arrive, as bytes. */
    const size_t payload = 60u * (size_t)units;
    char *packed = malloc(payload), *arriving = malloc(payload);
    int position = 0;
    MPI_Pack(a.like, count, kinds[pick], packed, (int)payload, &position, MPI_COMM_WORLD);
    MPI_Request told[2];
    MPI_Irecv(arriving, (int)payload, MPI_BYTE, from, 99, MPI_COMM_WORLD, &told[0]);
    MPI_Isend(packed, (int)payload, MPI_BYTE, to, 99, MPI_COMM_WORLD, &told[1]);
    MPI_Waitall(2, told, MPI_STATUSES_IGNORE);

    MPI_Request requests[2];
    MPI_Status status;
    int got = -1;
    const int source = draw(2) ? from : MPI_ANY_SOURCE;
    switch (form) {
      case 0:
        MPI_Irecv(b.at, room_for, kinds[other], source, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Send(a.at, count, kinds[pick], to, 1, MPI_COMM_WORLD);
        MPI_Wait(&requests[0], &status);
        break;
      case 1:
        MPI_Isend(a.at, count, kinds[pick], to, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Recv(b.at, room_for, kinds[other], source, 1, MPI_COMM_WORLD, &status);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        break;
      case 2:
        MPI_Sendrecv(a.at, count, kinds[pick], to, 1, b.at, room_for, kinds[other], source, 1, MPI_COMM_WORLD, &status);
        break;
      case 3: { /* matched */
        MPI_Issend(a.at, count, kinds[pick], to, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Message message;
        MPI_Mprobe(source, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
        if (draw(2)) {
          MPI_Mrecv(b.at, room_for, kinds[other], &message, &status);
        } else {
          MPI_Imrecv(b.at, room_for, kinds[other], &message, &requests[1]);
          MPI_Wait(&requests[1], &status);
        }
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        break;
      }
      case 4: /* what is sent is replaced */
        MPI_Sendrecv_replace(a.at, count, MPI_INT, to, 1, source, 1, MPI_COMM_WORLD, &status);
        memcpy(a.like, arriving, payload);
        break;
      case 5: /* freed before its end */
        MPI_Isend(a.at, count, kinds[pick], to, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Request_free(&requests[0]);
        MPI_Recv(b.at, room_for, kinds[other], source, 1, MPI_COMM_WORLD, &status);
        break;
      case 6: /* persistent, twice */
        MPI_Send_init(a.at, count, kinds[pick], to, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Recv_init(b.at, room_for, kinds[other], source, 1, MPI_COMM_WORLD, &requests[1]);
        for (int i = 0; i < 2; ++i) {
          MPI_Startall(2, requests);
          MPI_Status both[2];
          MPI_Waitall(2, requests, both);
          status = both[1];
        }
        MPI_Request_free(&requests[0]), MPI_Request_free(&requests[1]);
        break;
      case 7: /* the state is asked, and the buffer is full then */
        MPI_Irecv(b.at, room_for, kinds[other], source, 1, MPI_COMM_WORLD, &requests[0]);
        MPI_Bsend(a.at, count, kinds[pick], to, 1, MPI_COMM_WORLD);
        for (int flag = 0; !flag;) MPI_Request_get_status(requests[0], &flag, &status);
        expect_from(&b, arriving, payload, other, units);
        check(&b, "asked");
        MPI_Wait(&requests[0], &status);
        break;
      default: /* both ways, then a receive that is cancelled leaves its buffer alone */
#if MPI_VERSION >= 4
        MPI_Isendrecv(a.at, count, kinds[pick], to, 1, b.at, room_for, kinds[other], source, 1, MPI_COMM_WORLD,
                      &requests[0]);
        MPI_Wait(&requests[0], &status);
#else
        MPI_Sendrecv(a.at, count, kinds[pick], to, 1, b.at, room_for, kinds[other], source, 1, MPI_COMM_WORLD, &status);
#endif
        MPI_Irecv(b.at, room_for, kinds[other], source, 2, MPI_COMM_WORLD, &requests[1]);
        MPI_Cancel(&requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
    }
    MPI_Get_count(&status, MPI_BYTE, &got);
    if (got != (int)payload) {
      fprintf(stderr, "rank %d, seed %u: form %d: %d bytes instead of %zu\n", rank, seed, form, got, payload);
      ++failures;
    }
    if (form != 4) expect_from(&b, arriving, payload, other, units);
    char what[32];
    snprintf(what, sizeof what, "message, form %d", form);
    MPI_Barrier(MPI_COMM_WORLD); /* the freed send is over */
    check(&a, what), check(&b, what);
    done(&a), done(&b);
    free(packed), free(arriving);
  }
  void* back;
  int size;
  MPI_Buffer_detach(&back, &size);
  free(room);
  MPI_Type_free(&strided), MPI_Type_free(&listed);
}

/* What has arrived cannot reach a device that breaks. It is the receive's communicator that gets the error, also where
 * only the request's state is asked: the error handler of MPI_COMM_WORLD ends the job. */
static void asked_while_broken(void) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  char out = 1, *const in = make(1, 1, 0);
  MPI_Request request;
  MPI_Irecv(in, 1, MPI_CHAR, MPI_ANY_SOURCE, 1, comm, &request);
  MPI_Send(&out, 1, MPI_CHAR, (rank + 1) % ranks, 1, comm);
  spoil(1);
  int code = MPI_SUCCESS;
  for (int flag = 0; !flag && code == MPI_SUCCESS;) code = MPI_Request_get_status(request, &flag, MPI_STATUS_IGNORE);
  spoil(0);
  if (code == MPI_SUCCESS) {
    fprintf(stderr, "rank %d: a broken device has got a message\n", rank);
    ++failures;
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  drop(in, 0);
  MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  begin(&argc, &argv, MPI_THREAD_SINGLE);
  messages();
  asked_while_broken();
  failures += copied() == 0;
  return end();
}
