// SPDX-License-Identifier: BSD-3-Clause
/* Buffers on a false device in all non-blocking collectives.
 *
 * device_collectives DRIVER early|late SEED plain|persistent|threads|mute|broken */
#define _GNU_SOURCE
#include <pthread.h>

#include "device_buffers.h"
#include "features.h"

static void finish(MPI_Request* request) {
  if (draw(2)) {
    MPI_Wait(request, MPI_STATUS_IGNORE);
    return;
  }
  for (int flag = 0; !flag;) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
}

/* The same call on the processor's memory by the MPI library, and on the buffers by Urakata. */
#define BOTH(name, send, recv, BLOCKING, NONBLOCKING) \
  do {                                                \
    char *s = (send).like, *r = (recv).like;          \
    (void)s, (void)r;                                 \
    BLOCKING;                                         \
    s = (send).at, r = (recv).at;                     \
    (void)s, (void)r;                                 \
    MPI_Request request;                              \
    NONBLOCKING;                                      \
    finish(&request);                                 \
    check(&(send), name), check(&(recv), name);       \
    done(&(send)), done(&(recv));                     \
  } while (0)

static void add_pairs(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type; /* two ints, 12 bytes apart */
  for (int i = 0; i < *count; ++i) {
    int a[2], b[2];
    memcpy(&a[0], (char*)in + 12 * i, 4), memcpy(&a[1], (char*)in + 12 * i + 8, 4);
    memcpy(&b[0], (char*)inout + 12 * i, 4), memcpy(&b[1], (char*)inout + 12 * i + 8, 4);
    b[0] += a[0], b[1] += a[1];
    memcpy((char*)inout + 12 * i, &b[0], 4), memcpy((char*)inout + 12 * i + 8, &b[1], 4);
  }
}

static void collectives(MPI_Comm comm, int rounds) {
  MPI_Datatype strided, listed, pair;
  types(&strided, &listed);
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op op;
  MPI_Op_create(add_pairs, 1, &op);
  unsigned same = seed; /* of all ranks, for what must be equal */
  for (int round = 0; round < rounds; ++round) {
    same = same * 1103515245u + 12345u;
    const int units = (same >> 16) % 5 == 0 ? 2000 : 1 + (int)((same >> 16) % 7);
    const int root = (int)((same >> 8) % (unsigned)ranks);
    const MPI_Datatype kinds[3] = {MPI_INT, strided, listed};
    /* Of equal signature, differing between ranks; not where MPICH's own MPI_Allgatherv cuts messages by the type. */
    const int alike = (int)((same >> 5) % 3), large = units == 2000;
    const int pick = large ? alike : (int)draw(3), other = large ? alike : (int)draw(3);
    const MPI_Datatype t = kinds[pick], u = kinds[other];
    const int count = pick == 0 ? 15 * units : units, ucount = other == 0 ? 15 * units : units;
    const size_t block = pick == 0 ? 60u * (size_t)units : 140u * (size_t)units;
    const size_t ublock = other == 0 ? 60u * (size_t)units : 140u * (size_t)units;
    const size_t all = (size_t)ranks;
    struct buffer a, b;

    a = fresh(block), b = fresh(1);
    BOTH("bcast", a, b, MPI_Bcast(s, count, t, root, comm), MPI_Ibcast(s, count, t, root, comm, &request));
    a = fresh(block), b = fresh(ublock * all);
    BOTH("allgather", a, b, MPI_Allgather(s, count, t, r, ucount, u, comm),
         MPI_Iallgather(s, count, t, r, ucount, u, comm, &request));
    a = fresh(1), b = fresh(block * all);
    BOTH("allgather in place", a, b, MPI_Allgather(MPI_IN_PLACE, 0, t, r, count, t, comm),
         MPI_Iallgather(MPI_IN_PLACE, 0, t, r, count, t, comm, &request));
    a = fresh(block * all), b = fresh(ublock * all);
    BOTH("alltoall", a, b, MPI_Alltoall(s, count, t, r, ucount, u, comm),
         MPI_Ialltoall(s, count, t, r, ucount, u, comm, &request));
    a = fresh(1), b = fresh(block * all);
    BOTH("alltoall in place", a, b, MPI_Alltoall(MPI_IN_PLACE, 0, t, r, count, t, comm),
         MPI_Ialltoall(MPI_IN_PLACE, 0, t, r, count, t, comm, &request));
    a = fresh(block), b = fresh(ublock * all);
    BOTH("gather", a, b, MPI_Gather(s, count, t, r, ucount, u, root, comm),
         MPI_Igather(s, count, t, r, ucount, u, root, comm, &request));
    a = fresh(block * all), b = fresh(ublock);
    BOTH("scatter", a, b, MPI_Scatter(s, count, t, r, ucount, u, root, comm),
         MPI_Iscatter(s, count, t, r, ucount, u, root, comm, &request));

    int counts[64], places[64], spread[64], bytes[64];
    MPI_Datatype each[64];
    for (int p = 0; p < ranks; ++p) {
      counts[p] = p % 3 == 1 ? 0 : count;
      places[p] = p * count + p; /* holes between blocks */
      spread[p] = count;
      bytes[p] = p * (int)ublock;
      each[p] = u;
    }
    const size_t wide = (size_t)(ranks * count + ranks) * (pick == 0 ? 4 : 140);
    a = fresh(block), b = fresh(wide);
    BOTH("allgatherv", a, b, MPI_Allgatherv(s, rank % 3 == 1 ? 0 : count, t, r, counts, places, t, comm),
         MPI_Iallgatherv(s, rank % 3 == 1 ? 0 : count, t, r, counts, places, t, comm, &request));
    a = fresh(block), b = fresh(wide);
    BOTH("gatherv", a, b, MPI_Gatherv(s, rank % 3 == 1 ? 0 : count, t, r, counts, places, t, root, comm),
         MPI_Igatherv(s, rank % 3 == 1 ? 0 : count, t, r, counts, places, t, root, comm, &request));
    a = fresh(wide), b = fresh(block);
    BOTH("scatterv", a, b, MPI_Scatterv(s, counts, places, t, r, rank % 3 == 1 ? 0 : count, t, root, comm),
         MPI_Iscatterv(s, counts, places, t, r, rank % 3 == 1 ? 0 : count, t, root, comm, &request));
    a = fresh(wide), b = fresh(wide);
    BOTH("alltoallv", a, b, MPI_Alltoallv(s, spread, places, t, r, spread, places, t, comm),
         MPI_Ialltoallv(s, spread, places, t, r, spread, places, t, comm, &request));
    for (int p = 0; p < ranks; ++p) spread[p] = ucount;
    a = fresh(ublock * all), b = fresh(ublock * all);
    BOTH("alltoallw", a, b, MPI_Alltoallw(s, spread, bytes, each, r, spread, bytes, each, comm),
         MPI_Ialltoallw(s, spread, bytes, each, r, spread, bytes, each, comm, &request));

    const int n = 15 * units;
    const size_t size = 4u * (size_t)n;
    a = fresh(size), b = fresh(size);
    BOTH("allreduce", a, b, MPI_Allreduce(s, r, n, MPI_INT, MPI_SUM, comm),
         MPI_Iallreduce(s, r, n, MPI_INT, MPI_SUM, comm, &request));
    a = fresh(1), b = fresh(size);
    BOTH("allreduce in place", a, b, MPI_Allreduce(MPI_IN_PLACE, r, n, MPI_INT, MPI_SUM, comm),
         MPI_Iallreduce(MPI_IN_PLACE, r, n, MPI_INT, MPI_SUM, comm, &request));
    a = fresh(size), b = fresh(size);
    BOTH("reduce", a, b, MPI_Reduce(s, r, n, MPI_INT, MPI_MAX, root, comm),
         MPI_Ireduce(s, r, n, MPI_INT, MPI_MAX, root, comm, &request));
    a = fresh(size), b = fresh(size);
    BOTH("scan", a, b, MPI_Scan(s, r, n, MPI_INT, MPI_SUM, comm), MPI_Iscan(s, r, n, MPI_INT, MPI_SUM, comm, &request));
    a = fresh(size * all), b = fresh(size);
    BOTH("reduce_scatter_block", a, b, MPI_Reduce_scatter_block(s, r, n, MPI_INT, MPI_SUM, comm),
         MPI_Ireduce_scatter_block(s, r, n, MPI_INT, MPI_SUM, comm, &request));
    for (int p = 0; p < ranks; ++p) counts[p] = p % 2 == 0 ? n : 1;
    a = fresh(size * all), b = fresh(size);
    BOTH("reduce_scatter", a, b, MPI_Reduce_scatter(s, r, counts, MPI_INT, MPI_SUM, comm),
         MPI_Ireduce_scatter(s, r, counts, MPI_INT, MPI_SUM, comm, &request));
    /* An operation of the program's own on elements with holes, which stay. */
    a = fresh(12u * (size_t)units), b = fresh(12u * (size_t)units);
    BOTH("allreduce of pairs", a, b, MPI_Allreduce(s, r, units, pair, op, comm),
         MPI_Iallreduce(s, r, units, pair, op, comm, &request));
    /* On rank 0 the result is undefined, so there is nothing to compare. */
    a = fresh(size), b = fresh(size);
    if (rank == 0) {
      MPI_Request request;
      MPI_Exscan(a.like, b.like, n, MPI_INT, MPI_SUM, comm);
      MPI_Iexscan(a.at, b.at, n, MPI_INT, MPI_SUM, comm, &request);
      finish(&request);
      done(&a), done(&b);
    } else {
      BOTH("exscan", a, b, MPI_Exscan(s, r, n, MPI_INT, MPI_SUM, comm),
           MPI_Iexscan(s, r, n, MPI_INT, MPI_SUM, comm, &request));
    }
  }
  MPI_Op_free(&op);
  MPI_Type_free(&strided), MPI_Type_free(&listed), MPI_Type_free(&pair);
}

static void write_to(struct buffer* to, int value) {
  memset(to->like, value, to->size);
  if (to->kind == DEVICE) {
    put(to->at, to->like, to->size);
  } else {
    memset(to->at, value, to->size);
  }
}

static void persistent(void) {
#if HAVE_PERSISTENT
  for (int n = 3; n < 40000; n *= 17) {
    struct buffer a = fresh((size_t)n), b = fresh((size_t)n);
    MPI_Request request;
    PERSISTENT(Allreduce)(a.at, b.at, n, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; ++i) {
      write_to(&a, 1 << ((rank + i) % 7));
      MPI_Start(&request);
      MPI_Allreduce(a.like, b.like, n, MPI_BYTE, MPI_BOR, MPI_COMM_WORLD);
      finish(&request);
      check(&a, "persistent allreduce"), check(&b, "persistent allreduce");
    }
    MPI_Request_free(&request);
    done(&a), done(&b);
  }
#endif
}

static void* in_thread(void* comm) {
  dice = seed + 77u * (unsigned)rank + (unsigned)(size_t)comm;
  use(1);
  collectives(*(MPI_Comm*)comm, 2);
  return NULL;
}

static void threads(void) {
  MPI_Comm comms[3];
  pthread_t ids[3];
  for (int i = 0; i < 3; ++i) MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
  for (int i = 0; i < 3; ++i) pthread_create(&ids[i], NULL, in_thread, &comms[i]);
  for (int i = 0; i < 3; ++i) pthread_join(ids[i], NULL);
  for (int i = 0; i < 3; ++i) MPI_Comm_free(&comms[i]);
}

/* A driver that fails on one rank, when it is asked about a buffer or when it copies one, is an MPI error on all ranks.
 * Later operations on the communicator end with one too, more of them than may be active at once; others go on. */
static void fail_on_one(void (*fault)(int)) {
  char* at = make(4096, 1, 0);
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  if (rank == 1) fault(1);
  MPI_Request request = MPI_REQUEST_NULL;
  int code = MPI_Ibcast(at, 1000, MPI_INT, 1, comm, &request);
  if (rank == 1) fault(0);
  if ((code != MPI_SUCCESS) != (rank == 1)) ++failures;
  if (code == MPI_SUCCESS && MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS) ++failures;
  enum { LATER = 300 };
  int one = 1, sums[LATER];
  MPI_Request later[LATER];
  for (int i = 0; i < LATER; ++i) {
    code = MPI_Iallreduce(&one, &sums[i], 1, MPI_INT, MPI_SUM, comm, &later[i]);
    if (code != MPI_SUCCESS) ++failures;
  }
  for (int i = 0; i < LATER; ++i) failures += MPI_Wait(&later[i], MPI_STATUS_IGNORE) == MPI_SUCCESS;
  collectives(MPI_COMM_WORLD, 1);
  MPI_Comm_disconnect(&comm); /* waits for all that is pending */
  drop(at, 0);
}

int main(int argc, char** argv) {
  if (argc != 5) return 2;
  const char* what = argv[4];
  const int wanted = strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
  const int level = begin(&argc, &argv, wanted);
  if (strcmp(what, "plain") == 0) collectives(MPI_COMM_WORLD, 6);
  if (strcmp(what, "persistent") == 0) persistent();
  if (strcmp(what, "threads") == 0 && level == MPI_THREAD_MULTIPLE) threads();
  if (strcmp(what, "mute") == 0) fail_on_one(mute);
  if (strcmp(what, "broken") == 0) fail_on_one(spoil);
  failures += copied() == 0 && strcmp(what, "persistent") != 0;
  return end();
}
