// SPDX-License-Identifier: BSD-3-Clause
#include "message.h"

#include "job.h"

int largest = kLargest;

static unsigned char byte_of(int source, int tag, int number, int at) {
  return (unsigned char)(source * 53 + tag * 17 + number * 7 + at * 3 + at / 251);
}

int size_of(Random* r) {
  int bytes = between(r, kHeader, 80);
  if (one_in(r, 4)) bytes = between(r, 200, 2000);
  if (one_in(r, 20)) bytes = between(r, 2000, 100000);
  if (one_in(r, 150)) bytes = between(r, 300000, kLargest);
  return bytes < largest ? bytes : largest;
}

void start_send(const Plan* plan, int number, MPI_Comm comm, Random* r, Part* part) {
  shape(part, plan->bytes, r);
  const int header[4] = {plan->source, plan->tag, number, plan->bytes};
  for (int i = 0; i < plan->bytes; ++i) {
    *at(part, i) = i < kHeader ? ((const unsigned char*)header)[i] : byte_of(plan->source, plan->tag, number, i);
  }
  switch (below(r, 8)) {
    case 0:
      MPI_Issend(part->memory, part->count, part->type, plan->dest, plan->tag, comm, &part->request);
      break;
    case 1:
      MPI_Send_init(part->memory, part->count, part->type, plan->dest, plan->tag, comm, &part->request);
      MPI_Start(&part->request);
      break;
    case 2:
      MPI_Ibsend(part->memory, part->count, part->type, plan->dest, plan->tag, comm, &part->request);
      break;
    case 3:
      // The standard lets it wait for its receive; no MPI does, but for MPICH on a message to oneself.
      if (plan->bytes <= 80 && plan->dest != plan->source) {
        MPI_Send(part->memory, part->count, part->type, plan->dest, plan->tag, comm);
        break;
      }  // fall through
    default:
      MPI_Isend(part->memory, part->count, part->type, plan->dest, plan->tag, comm, &part->request);
  }
  if (one_in(r, 2)) forget_type(part);
}

void start_receive(int source, int tag, MPI_Comm comm, int probes, Random* r, Part* part) {
  const int way = probes ? below(r, 6) : between(r, 2, 5);
  MPI_Status found;
  if (way >= 2) {
    shape(part, kLargest / 2 * 2, r);
    if (way == 2) {
      MPI_Recv(part->memory, part->count, part->type, source, tag, comm, &part->status);
      part->done = 1;
    } else if (way == 3) {
      MPI_Recv_init(part->memory, part->count, part->type, source, tag, comm, &part->request);
      MPI_Start(&part->request);
    } else {
      MPI_Irecv(part->memory, part->count, part->type, source, tag, comm, &part->request);
    }
    return;
  }
  int bytes = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  if (way == 0) {
    if (one_in(r, 2)) {
      int flag = 0;
      while (!flag) MPI_Iprobe(source, tag, comm, &flag, &found);
    } else {
      MPI_Probe(source, tag, comm, &found);
    }
    MPI_Get_count(&found, MPI_BYTE, &bytes);
    shape(part, bytes, r);
    MPI_Recv(part->memory, part->count, part->type, found.MPI_SOURCE, found.MPI_TAG, comm, &part->status);
    part->done = 1;
    return;
  }
  if (one_in(r, 2)) {
    int flag = 0;
    while (!flag) MPI_Improbe(source, tag, comm, &flag, &message, &found);
  } else {
    MPI_Mprobe(source, tag, comm, &message, &found);
  }
  MPI_Get_count(&found, MPI_BYTE, &bytes);
  shape(part, bytes, r);
  if (one_in(r, 2)) {
    MPI_Mrecv(part->memory, part->count, part->type, &message, &part->status);
    part->done = 1;
  } else {
    MPI_Imrecv(part->memory, part->count, part->type, &message, &part->request);
  }
  if (message != MPI_MESSAGE_NULL) fail("a message that was received is not MPI_MESSAGE_NULL", 0, 0);
}

void check(Part* part, int numbers[][kTags]) {
  int header[4];
  for (int i = 0; i < kHeader; ++i) ((unsigned char*)header)[i] = *at(part, i);
  int bytes = 0;
  MPI_Get_count(&part->status, MPI_BYTE, &bytes);
  if (part->count > 1 && part->places != NULL && bytes % part->block == 0) {  // hosts differ about parts of elements
    MPI_Count elements;
    MPI_Get_elements_x(&part->status, part->type, &elements);
    if (elements != bytes) fail("elements of bytes", (int)elements, bytes);
  }
  if (header[0] != part->status.MPI_SOURCE) fail("source", header[0], part->status.MPI_SOURCE);
  if (header[1] != part->status.MPI_TAG) fail("tag", header[1], part->status.MPI_TAG);
  if (header[3] != bytes) fail("bytes", header[3], bytes);
  for (int i = kHeader; i < bytes; ++i) {
    if (*at(part, i) != byte_of(header[0], header[1], header[2], i)) fail("payload at, of", i, bytes);
  }
  int* next = &numbers[header[0]][header[1]];
  if (header[2] < *next) fail("order", header[2], *next);
  *next = header[2] + 1;
}
