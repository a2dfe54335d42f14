// SPDX-License-Identifier: BSD-3-Clause
// What MPI promises to the functions of user-defined operations.
//
//     user_operations types     they get the handle that the program passed, also where it was freed meanwhile, and
//                               elements wherever these lie
//     user_operations threads   they run on the program's threads, inside MPI calls (engine thread)
//     user_operations blocked   nobody waits for them while a rank is blocked in another call (3 ranks or more)
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int size, rank, failures;

static void fail(const char* what, int round) {
  if (++failures <= 10) fprintf(stderr, "user_operations: rank %d, round %d: %s\n", rank, round, what);
}

enum { kParts = 4, kElements = 5, kRow = 4096, kBelow = 64, kRoom = kBelow + 4 * kRow * (int)sizeof(int) };

// Four integers of each element, `step` bytes apart, the first `first` bytes from its address.
typedef struct {
  const char* name;
  int first, step, extent;
} Shape;
static const Shape kShapes[] = {
    {"four integers", 0, 4, 16},
    {"with holes", 4, 8, 40},
    {"below its address", -8, 12, 48},
    {"a column", 0, kRow * 4, 4},
};
static const Shape* shape;
static MPI_Datatype expected;
static bool wrong_type;

static int* part(void* base, int element, int i) {
  return (int*)((char*)base + element * shape->extent + shape->first + i * shape->step);
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  wrong_type |= *type != expected;
  for (int e = 0; e < *count; ++e) {
    for (int i = 0; i < kParts; ++i) *part(inout, e, i) += *part(in, e, i);
  }
}

static MPI_Datatype make_type(void) {
  MPI_Datatype bare;
  MPI_Datatype type;
  MPI_Type_create_hvector(kParts, 1, shape->step, MPI_INT, &bare);
  MPI_Datatype moved;
  const int one = 1;
  const MPI_Aint at = shape->first;
  MPI_Type_create_hindexed(1, &one, &at, bare, &moved);
  MPI_Type_create_resized(moved, 0, shape->extent, &type);
  MPI_Type_commit(&type);
  MPI_Type_free(&bare);
  MPI_Type_free(&moved);
  return type;
}

// The elements of ranks from..to added up, all else as it was.
static void fill(char* room, int from, int to) {
  memset(room, 0x55, kRoom);
  for (int e = 0; e < kElements; ++e) {
    for (int i = 0; i < kParts; ++i) {
      int sum = 0;
      for (int r = from; r <= to; ++r) sum += 100 * r + 10 * e + i;
      *part(room + kBelow, e, i) = sum;
    }
  }
}

static void check_types(void) {
  char* in = malloc(kRoom);
  char* out = malloc(kRoom);
  char* right = malloc(kRoom);
  for (int round = 0; round < 96; ++round) {
    shape = &kShapes[round % 4];
    const bool scans = round / 4 % 2 != 0;
    const bool early = round / 8 % 2 != 0;
    MPI_Datatype type = make_type();
    expected = type;
    MPI_Op op;
    MPI_Op_create(add, round / 16 % 2, &op);
    fill(in, rank, rank);
    memset(out, 0x55, kRoom);
    MPI_Request request;
    if (scans) {
      MPI_Iscan(in + kBelow, out + kBelow, kElements, type, op, MPI_COMM_WORLD, &request);
    } else {
      MPI_Iallreduce(in + kBelow, out + kBelow, kElements, type, op, MPI_COMM_WORLD, &request);
    }
    if (early) {
      MPI_Type_free(&type);
      MPI_Op_free(&op);
      for (int other = 0; other < 4; ++other) {  // whoever frees too early gives the handle to one of these
        const Shape* const before = shape;
        shape = &kShapes[other];
        MPI_Datatype next = make_type();
        MPI_Type_free(&next);
        shape = before;
      }
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!early) {
      MPI_Type_free(&type);
      MPI_Op_free(&op);
    }
    fill(right, 0, scans ? rank : size - 1);
    if (memcmp(out, right, kRoom) != 0) fail(shape->name, round);
    if (wrong_type) fail("another datatype than the program's", round);
    wrong_type = false;
  }
  free(in);
  free(out);
  free(right);
}

static pthread_t program;
static volatile bool inside_mpi;
static volatile int strangers, calls;

static void add_long(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  ++calls;
  if (!pthread_equal(pthread_self(), program) || !inside_mpi) ++strangers;
  for (int i = 0; i < *count; ++i) ((long*)inout)[i] += ((long*)in)[i];
}

static volatile unsigned long sink;
static void compute(int steps) {
  for (int i = 0; i < steps; ++i) sink = sink * 1664525U + 1013904223U;
}

static void check_threads(void) {
  enum { kComms = 4, kCount = 20000 };
  program = pthread_self();
  MPI_Op op;
  MPI_Op_create(add_long, true, &op);
  MPI_Comm comms[kComms];
  MPI_Request requests[kComms];
  long* in = malloc(kComms * kCount * sizeof *in);
  long* out = malloc(kComms * kCount * sizeof *out);
  for (int i = 0; i < kComms * kCount; ++i) in[i] = rank + i;
  for (int k = 0; k < kComms; ++k) MPI_Comm_dup(MPI_COMM_WORLD, &comms[k]);
  for (int round = 0; round < 100; ++round) {
    inside_mpi = true;
    for (int k = 0; k < kComms; ++k) {
      // Others in turn, so that each progress thread has something to do.
      MPI_Iallreduce(in + k * kCount, out + k * kCount, kCount, MPI_LONG, (round + k) % 3 != 0 ? op : MPI_SUM, comms[k],
                     &requests[k]);
    }
    inside_mpi = false;
    compute(2000000);
    inside_mpi = true;
    MPI_Waitall(kComms, requests, MPI_STATUSES_IGNORE);
    inside_mpi = false;
    const long ranks = (long)size * (size - 1) / 2;
    for (int i = 0; i < kComms * kCount; ++i) {
      if (out[i] != ranks + (long)size * i) {
        fail("wrong sum", round);
        break;
      }
    }
  }
  if (strangers != 0) fail("the function ran outside the program's MPI calls", strangers);
  if (calls == 0) fail("the function was never called", 0);
  for (int k = 0; k < kComms; ++k) MPI_Comm_free(&comms[k]);
  MPI_Op_free(&op);
  free(in);
  free(out);
}

// A rank that the others need blocks in what comes only after they have their results: the function is not needed of it
// meanwhile, or runs inside its blocked call. One element, more than several segments, and more than fits beside the
// inputs of others.
static void check_blocked(void) {
  enum { kKinds = 5, kLongest = 600000 };
  static const int counts[] = {1, 60000, kLongest};
  program = pthread_self();
  inside_mpi = true;
  MPI_Op op;
  MPI_Op_create(add_long, false, &op);
  long* in = malloc((size_t)size * kLongest * sizeof *in);
  long* out = malloc(kLongest * sizeof *out);
  for (int i = 0; i < size * kLongest; ++i) in[i] = 1;
  for (int round = 0; round < 20; ++round) {
    const int kind = round % kKinds;
    const int count = counts[round / kKinds % 3];
    const int blocked = kind == 1 || kind == 2 ? 0 : round % (size - 1);  // the first of the row, where there is a row
    const int last = size - 1;
    int token = 0;
    out[0] = out[count - 1] = -1;
    MPI_Request request;
    long right = size;
    if (kind == 0) MPI_Iallreduce(in, out, count, MPI_LONG, op, MPI_COMM_WORLD, &request);
    if (kind == 1) MPI_Iscan(in, out, count, MPI_LONG, op, MPI_COMM_WORLD, &request);
    if (kind == 2) MPI_Iexscan(in, out, count, MPI_LONG, op, MPI_COMM_WORLD, &request);
    if (kind == 3) MPI_Ireduce(in, out, count, MPI_LONG, op, last, MPI_COMM_WORLD, &request);
    if (kind == 4) MPI_Ireduce_scatter_block(in, out, count, MPI_LONG, op, MPI_COMM_WORLD, &request);
    if (rank == blocked) MPI_Recv(&token, 1, MPI_INT, last, round, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == last) MPI_Send(&token, 1, MPI_INT, blocked, round, MPI_COMM_WORLD);
    if (kind == 1) right = rank + 1;
    if (kind == 2) right = rank == 0 ? -1 : rank;
    if (kind == 3 && rank != last) right = -1;
    if (out[0] != right || out[count - 1] != right) fail("wrong sum", round);
  }
  free(in);
  free(out);
  if (strangers != 0) fail("the function ran on another thread", strangers);
  MPI_Op_free(&op);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const char* what = argc > 1 ? argv[1] : "types";
  if (strcmp(what, "types") == 0) check_types();
  if (strcmp(what, "threads") == 0) check_threads();
  if (strcmp(what, "blocked") == 0) check_blocked();
  int all = 0;
  MPI_Allreduce(&failures, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return all != 0;
}
