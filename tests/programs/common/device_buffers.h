/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers on a false device (false_driver.c). Each rank draws for itself whether a buffer is the processor's, managed,
 * or the device's, of one of two contexts. What an operation leaves in the whole buffer, holes included, must be what
 * the MPI library's own does on the processor's memory. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* A buffer of some kind, and the same bytes in the processor's memory for the MPI library's own operation. */
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

/* Of equal signature, 15 ints in 140 bytes. */
static void types(MPI_Datatype* strided, MPI_Datatype* listed) {
  MPI_Datatype plain;
  MPI_Type_vector(5, 3, 7, MPI_INT, &plain); /* 60 bytes of 124 */
  MPI_Type_create_resized(plain, 0, 140, strided);
  MPI_Type_free(&plain);
  const int lengths[4] = {1, 3, 2, 9}, places[4] = {0, 4, 11, 20};
  MPI_Type_indexed(4, lengths, places, MPI_INT, &plain); /* 60 bytes of 116 */
  MPI_Type_create_resized(plain, 0, 140, listed);
  MPI_Type_free(&plain);
  MPI_Type_commit(strided), MPI_Type_commit(listed);
}

/* MPI_Init and the driver, before it or after, by the arguments DRIVER early|late SEED; the thread level that there is. */
static int begin(int* argc, char*** argv, int wanted) {
  if (*argc < 4) exit(2);
  const char* driver = (*argv)[1];
  const int late = strcmp((*argv)[2], "late") == 0;
  seed = (unsigned)atoi((*argv)[3]);
  if (!late) load(driver);
  int level;
  MPI_Init_thread(argc, argv, wanted, &level);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  dice = seed + 1000u * (unsigned)rank;
  if (late) {
    int one = 1, sum = 0; /* an operation before there is a driver */
    MPI_Request request;
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    failures += sum != ranks;
    load(driver);
  }
  use(7); /* a context that is none of the buffers' */
  return level;
}

/* MPI_Finalize; what main() returns. */
static int end(void) {
  failures += used() != 7 || wrong() != 0;
  int bad = failures, all = 0;
  MPI_Allreduce(&bad, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf(all == 0 ? "right\n" : "%d wrong (seed %u)\n", all, seed);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
