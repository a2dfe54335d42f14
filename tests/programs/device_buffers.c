/* Buffers on a false device (false_driver.c) in all non-blocking collectives and, in a space, in all messages. Each
 * rank draws for itself whether a buffer is the processor's, managed, or the device's, of one of two contexts. What an
 * operation leaves in the whole buffer, holes included, must be what the host's own does on the processor's memory.
 *
 * device_buffers DRIVER early|late collectives|persistent|threads|messages|mute|broken SEED */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features.h"

static void* (*make)(size_t, int, int);
static void (*drop)(void*, int);
static void (*put)(void*, const void*, size_t);
static void (*get)(void*, const void*, size_t);
static void (*use)(int);
static int (*used)(void);
static void (*mute)(int);
static void (*spoil)(int);
static long (*copied)(void);
static long (*wrong)(void);

static int rank, ranks;
static unsigned seed;
static _Thread_local unsigned dice;
static int failures;

static unsigned draw(unsigned n) {
  dice = dice * 1103515245u + 12345u;
  return (dice >> 16) % n;
}

static void load(const char* driver) {
  void* library = dlopen(driver, RTLD_NOW | RTLD_GLOBAL);
  if (library == NULL) {
    fprintf(stderr, "%s\n", dlerror());
    exit(2);
  }
  *(void**)&make = dlsym(library, "false_make");
  *(void**)&drop = dlsym(library, "false_free");
  *(void**)&put = dlsym(library, "false_write");
  *(void**)&get = dlsym(library, "false_read");
  *(void**)&use = dlsym(library, "false_use");
  *(void**)&used = dlsym(library, "false_used");
  *(void**)&mute = dlsym(library, "false_mute");
  *(void**)&spoil = dlsym(library, "false_break");
  *(void**)&copied = dlsym(library, "false_copied");
  *(void**)&wrong = dlsym(library, "false_wrong");
}

/* A buffer of some kind, and the same bytes in the processor's memory for the host's own operation. */
struct buffer {
  char* at;
  char* like;
  size_t size;
  enum { HOST, MANAGED, DEVICE } kind;
};

static struct buffer fresh(size_t size) {
  struct buffer made = {NULL, malloc(size + 1), size, (int)draw(4)};
  if (made.kind > DEVICE) made.kind = DEVICE;
  made.at = made.kind == HOST ? malloc(size + 1) : make(size, 1 + (int)draw(2), made.kind == MANAGED);
  for (size_t i = 0; i < size; ++i) made.like[i] = (char)draw(100);
  if (made.kind == DEVICE) {
    put(made.at, made.like, size);
  } else {
    memcpy(made.at, made.like, size);
  }
  return made;
}

static void check(struct buffer* of, const char* what) {
  char* found = malloc(of->size + 1);
  if (of->kind == DEVICE) {
    get(found, of->at, of->size);
  } else {
    memcpy(found, of->at, of->size);
  }
  for (size_t i = 0; i < of->size; ++i) {
    if (found[i] == of->like[i]) continue;
    fprintf(stderr, "rank %d, seed %u: %s: byte %zu of %zu (kind %d) is %d instead of %d\n", rank, seed, what, i,
            of->size, of->kind, found[i], of->like[i]);
    ++failures;
    break;
  }
  free(found);
}

static void done(struct buffer* of) {
  free(of->like);
  if (of->kind == HOST) {
    free(of->at);
  } else {
    drop(of->at, (int)draw(2)); /* half of the addresses become the processor's */
  }
}

static void finish(MPI_Request* request) {
  if (draw(2)) {
    MPI_Wait(request, MPI_STATUS_IGNORE);
    return;
  }
  for (int flag = 0; !flag;) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
}

/* The same call on the processor's memory by the host, and on the buffers by Urakata. */
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

static void types(MPI_Datatype* strided, MPI_Datatype* listed, MPI_Datatype* pair) {
  MPI_Datatype plain;
  MPI_Type_vector(5, 3, 7, MPI_INT, &plain); /* 60 bytes of 124 */
  MPI_Type_create_resized(plain, 0, 140, strided);
  MPI_Type_free(&plain);
  const int lengths[4] = {1, 3, 2, 9}, places[4] = {0, 4, 11, 20};
  MPI_Type_indexed(4, lengths, places, MPI_INT, &plain); /* 60 bytes of 116 */
  MPI_Type_create_resized(plain, 0, 140, listed);
  MPI_Type_free(&plain);
  MPI_Type_vector(2, 1, 2, MPI_INT, pair);
  MPI_Type_commit(strided), MPI_Type_commit(listed), MPI_Type_commit(pair);
}

static void collectives(MPI_Comm comm, int rounds) {
  MPI_Datatype strided, listed, pair;
  types(&strided, &listed, &pair);
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
  MPI_Datatype strided, listed, pair;
  types(&strided, &listed, &pair);
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
    /* The host tells what is to arrive, as bytes. */
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
  MPI_Type_free(&strided), MPI_Type_free(&listed), MPI_Type_free(&pair);
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
  const int late = strcmp(argv[2], "late") == 0;
  if (!late) load(argv[1]);
  const char* what = argv[3];
  int level;
  MPI_Init_thread(&argc, &argv, strcmp(what, "threads") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  seed = (unsigned)atoi(argv[4]);
  dice = seed + 1000u * (unsigned)rank;
  if (late) {
    int one = 1, sum = 0; /* an operation before there is a driver */
    MPI_Request request;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    failures += sum != ranks;
    load(argv[1]);
  }
  use(7); /* a context that is none of the buffers' */
  if (strcmp(what, "collectives") == 0) collectives(MPI_COMM_WORLD, 6);
  if (strcmp(what, "persistent") == 0) persistent();
  if (strcmp(what, "threads") == 0 && level == MPI_THREAD_MULTIPLE) threads();
  if (strcmp(what, "messages") == 0) messages();
  if (strcmp(what, "mute") == 0) fail_on_one(mute);
  if (strcmp(what, "broken") == 0) fail_on_one(spoil);
  failures += used() != 7 || wrong() != 0;
  failures += copied() == 0 && strcmp(what, "persistent") != 0;
  int bad = failures, all = 0;
  MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf(all == 0 ? "right\n" : "%d wrong (seed %u)\n", all, seed);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
