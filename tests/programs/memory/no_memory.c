// SPDX-License-Identifier: BSD-3-Clause
/* Allocations of Urakata fail on one rank, one after the other: each operation ends on all ranks, well or with
 * MPI_ERR_NO_MEM where it was started and some error elsewhere, and what comes afterwards is right.
 *
 * no_memory one UP_TO: of each operation the n-th allocation fails, for n up to UP_TO; the next finds memory.
 * no_memory all UP_TO: the n-th and all that follow, until the operation has ended everywhere.
 * no_memory lasting TIMES: all, through TIMES operations, each on a communicator that was made before.
 * no_memory outside TIMES: of OUTSIDE the first allocation, on the last rank but one; the last is not in its space. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <urakata.h>

#include "features.h"

static uintptr_t ours_begin, ours_end; /* the code of the preload library */
static atomic_long to_go = -1;         /* allocations of ours until one fails; negative: none does */
static atomic_int lasting;             /* and those after it */
static atomic_long failed;

/* In a space there is one library for each rank, and each has calls of its own. */
static int find_ours(struct dl_phdr_info* info, size_t size, void* unused) {
  (void)size, (void)unused;
  if (strstr(info->dlpi_name, "liburakata-") == NULL) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)* part = &info->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || (part->p_flags & PF_X) == 0) continue;
    const uintptr_t begin = info->dlpi_addr + part->p_vaddr, end = begin + part->p_memsz;
    if ((uintptr_t)MPI_Isend < begin || (uintptr_t)MPI_Isend >= end) continue;
    ours_begin = begin;
    ours_end = end;
  }
  return ours_begin != 0;
}

static int fails(const void* caller) {
  if (to_go < 0 || (uintptr_t)caller < ours_begin || (uintptr_t)caller >= ours_end) return 0;
  if (atomic_fetch_sub(&to_go, 1) != 0) return 0;
  atomic_store(&to_go, lasting ? 0 : -1);
  atomic_fetch_add(&failed, 1);
  errno = ENOMEM;
  return 1;
}

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);
extern void* __libc_memalign(size_t, size_t);

void* malloc(size_t bytes) { return fails(__builtin_return_address(0)) ? NULL : __libc_malloc(bytes); }
void* calloc(size_t n, size_t bytes) { return fails(__builtin_return_address(0)) ? NULL : __libc_calloc(n, bytes); }
void* realloc(void* at, size_t bytes) { return fails(__builtin_return_address(0)) ? NULL : __libc_realloc(at, bytes); }
void* aligned_alloc(size_t step, size_t bytes) {
  return fails(__builtin_return_address(0)) ? NULL : __libc_memalign(step, bytes);
}
void* mmap(void* at, size_t bytes, int protection, int flags, int file, off_t offset) {
  if (fails(__builtin_return_address(0))) return MAP_FAILED;
  return (void*)syscall(SYS_mmap, at, bytes, protection, flags, file, offset);
}

enum { LARGE = 1 << 20, COUNT = 3000, MANY = 50000 };

static int rank, ranks, wrong;
static int* from;
static int* to;
static MPI_Datatype holes; /* every second of LARGE integers: its description is small, what is packed is not */

static void check(int right, const char* what, int operation, long n) {
  if (!right) printf("rank %d: operation %d, allocation %ld: %s: WRONG\n", rank, operation, n, what);
  wrong += !right;
}

static int class_of(int code) {
  int class = MPI_SUCCESS;
  if (code != MPI_SUCCESS) MPI_Error_class(code, &class);
  return class;
}

enum { HALO = 10, LONG_HALO, PLANS, LONG_PLANS, OPERATIONS = HAVE_PERSISTENT ? LONG_PLANS + 1 : PLANS, OUTSIDE = 20 };

/* A message for which there was no memory is not lost: once there is some it goes. The other rank waits for it. */
#define AGAIN(call)                             \
  do {                                          \
    if ((call) != MPI_SUCCESS) {                \
      to_go = -1;                               \
      const int second = (call);                \
      if (second != MPI_SUCCESS) return second; \
    }                                           \
  } while (0)

static MPI_Comm ring = MPI_COMM_NULL; /* of operations with neighbours, while one of those is tried */

static void forget_results(void) { memset(to, 0xff, LARGE * sizeof *to); }

static int make_ring(MPI_Comm comm) {
  const int periodic = 1;
  const int code = MPI_Cart_create(comm, 1, &ranks, &periodic, 0, &ring);
  if (code == MPI_SUCCESS) MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  return code;
}

/* Elements that a neighbour gets, and how far apart they are. */
static int count_of(int operation) {
  return operation == LONG_PLANS ? LARGE / 4 : operation == LONG_HALO ? MANY : COUNT;
}
static int step_of(int operation) { return operation == LONG_HALO ? 2 : 1; }

/* The same elements as an all-to-all of neighbours has; of LONG_HALO the lists are large, and so are the types. */
static int exchange_halo(int operation, MPI_Comm comm, int left, int right) {
  static int indices[2 * MANY];
  const int count = count_of(operation), step = step_of(operation);
  for (int i = 0; i < 2 * count; ++i) indices[i] = step * i;
  const int neighbours[] = {left, right}, counts[] = {count, count};
  const ura_halo_side side = {2, neighbours, counts, indices, 2 * step * count};
  ura_halo* halo = NULL;
  int code = ura_halo_create(comm, sizeof(int), &side, &side, &halo);
  if (code != MPI_SUCCESS) return code;
  for (int i = 0; i < 2 && code == MPI_SUCCESS; ++i) {
    forget_results();
    code = ura_halo_begin(halo, from, to);
    if (code == MPI_SUCCESS) code = ura_halo_end(halo);
  }
  const int freed = ura_halo_free(&halo);
  return code != MPI_SUCCESS ? code : freed;
}

/* Starts an operation that no communicator has seen yet; MPI_Wait and its kin are left to do. */
static int start(int operation, MPI_Comm comm, MPI_Request* request) {
  const int left = (rank + ranks - 1) % ranks;
  const int right = (rank + 1) % ranks;
  int code = MPI_SUCCESS;
  switch (operation) {
    case 0:
      return MPI_Iallreduce(from, to, COUNT, MPI_INT, MPI_SUM, comm, request);
    case 1:
      return MPI_Ibcast(to, 1, holes, 0, comm, request);
    case 2:
      return MPI_Ialltoall(from, COUNT, MPI_INT, to, COUNT, MPI_INT, comm, request);
    case 3:
      return MPI_Ireduce(from, to, LARGE / 4, MPI_INT, MPI_SUM, 0, comm, request);
    case 4:
      return MPI_Ibarrier(comm, request);
    case 5:
      return MPI_Iscan(from, to, COUNT, MPI_INT, MPI_MAX, comm, request);
    case 6: /* of the program's own messages those in a space are ours */
      AGAIN(MPI_Irecv(to, 1, holes, left, 1, comm, request));
      AGAIN(MPI_Send(from, 1, holes, right, 1, comm));
      return MPI_SUCCESS;
    case 7: /* before its receive is there */
      AGAIN(MPI_Isend(from, LARGE / 2, MPI_INT, right, 2, comm, request));
      AGAIN(MPI_Send(from, 4, MPI_INT, right, 3, comm));
      AGAIN(MPI_Recv(to, 4, MPI_INT, left, 3, comm, MPI_STATUS_IGNORE));
      AGAIN(MPI_Recv(to, LARGE / 2, MPI_INT, MPI_ANY_SOURCE, 2, comm, MPI_STATUS_IGNORE));
      return MPI_SUCCESS;
    case 9: /* in a space, messages of ours */
      code = make_ring(comm);
      if (code == MPI_SUCCESS) code = MPI_Ineighbor_alltoall(from, COUNT, MPI_INT, to, COUNT, MPI_INT, ring, request);
      return code;
    case HALO:
    case LONG_HALO:
      return exchange_halo(operation, comm, left, right);
    case OUTSIDE: /* the MPI library sends a copy */
      memcpy(to, from, LARGE / 2 * sizeof *to);
      AGAIN(MPI_Sendrecv_replace(to, LARGE / 2, MPI_INT, right, 4, left, 4, comm, MPI_STATUS_IGNORE));
      return MPI_SUCCESS;
#if HAVE_PERSISTENT
    case PLANS:      /* in a space, a persistent neighbourhood channel: its neighbours' payloads take bounce buffers */
    case LONG_PLANS: /* and are copied by their receivers */
      code = make_ring(comm);
      if (code != MPI_SUCCESS) return code;
      const int count = count_of(operation);
      code = PERSISTENT(Neighbor_alltoall)(from, count, MPI_INT, to, count, MPI_INT, ring, MPI_INFO_NULL, request);
      for (int i = 0; i < 2 && code == MPI_SUCCESS; ++i) {
        forget_results();
        code = MPI_Start(request);
        if (i == 0 && code == MPI_SUCCESS) code = MPI_Wait(request, MPI_STATUS_IGNORE);
      }
      return code;
#endif
    default: {
      MPI_Comm child;
      code = MPI_Comm_dup(comm, &child);
      if (code != MPI_SUCCESS) return code;
      MPI_Comm_set_errhandler(child, MPI_ERRORS_RETURN);
      code = MPI_Ireduce_scatter_block(from, to, COUNT, MPI_INT, MPI_SUM, child, request);
      MPI_Comm_free(&child);
      return code;
    }
  }
}

static int collective(int operation) { return operation < 6 || operation >= 8; }

static void right_neighbours(int operation, long n) {
  const int count = count_of(operation), step = step_of(operation);
  int right = 1;
  for (int i = 0; i < 2 * count; ++i) right &= to[step * i] == from[step * ((i + count) % (2 * count))];
  check(right, "what the neighbours sent", operation, n);
}

static void goes_on(int operation, long n) {
  int sum = 0;
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Request request;
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  check(sum == ranks * (ranks - 1) / 2, "a collective afterwards", operation, n);
  MPI_Comm_free(&comm);
}

/* True: nothing was left to fail. */
static int try_one(int operation, long n, int one) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
  const int victim = operation == OUTSIDE ? ranks - 2 : (int)(n % ranks);
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Barrier(MPI_COMM_WORLD);
  failed = 0;
  forget_results();
  if (rank == victim) {
    lasting = !one;
    to_go = operation == OUTSIDE ? 0 : n;
  }
  const int code = start(operation, comm, &request);
  if (class_of(code) == MPI_ERR_NO_MEM) check(rank == victim, "the rank that lacks memory", operation, n);
  int ends = code;
  if (code == MPI_SUCCESS) ends = MPI_Wait(&request, MPI_STATUS_IGNORE);
  /* A call of the MPI library's. Whoever has not ended is waited for here, and needs the others to go on. */
  int outcome[2] = {ends != MPI_SUCCESS, (int)failed};
  int sum[2];
  MPI_Allreduce(outcome, sum, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  to_go = -1;
  if (collective(operation) && sum[1] == 0) check(sum[0] == 0, "an error without a cause", operation, n);
  if (operation == 0 && ends == MPI_SUCCESS) {
    check(to[COUNT - 1] == ranks * (COUNT - 1), "the result", operation, n);
  }
  if (operation == OUTSIDE) {
    check(memcmp(to, from, LARGE / 2 * sizeof *to) == 0, "what replaced the message", operation, n);
  } else if (operation >= 9 && ends == MPI_SUCCESS) {
    right_neighbours(operation, n);
  }
  if (request != MPI_REQUEST_NULL) MPI_Request_free(&request); /* a persistent one */
  if (ring != MPI_COMM_NULL) MPI_Comm_free(&ring);
  MPI_Comm_free(&comm);
  goes_on(operation, n);
  return sum[1] == 0;
}

static void last(int times) {
  MPI_Comm* comms = __libc_malloc((size_t)times * sizeof *comms);
  for (int i = 0; i < times; ++i) {
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
    MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
  }
  if (rank == ranks - 1) {
    lasting = 1;
    to_go = 0;
  }
  int errors = 0;
  for (int i = 0; i < times; ++i) {
    MPI_Request request = MPI_REQUEST_NULL;
    const int code = MPI_Iallreduce(from, to, COUNT, MPI_INT, MPI_SUM, comms[i], &request);
    const int ends = code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
    errors += ends != MPI_SUCCESS;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  to_go = -1;
  check(errors != 0, "memory for ever", 0, times);
  for (int i = 0; i < times; ++i) MPI_Comm_free(&comms[i]);
  __libc_realloc(comms, 0);
  goes_on(0, times);
}

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  dl_iterate_phdr(find_ours, NULL);
  from = calloc(LARGE, sizeof *from);
  to = calloc(LARGE, sizeof *to);
  for (int i = 0; i < LARGE; ++i) from[i] = i;
  MPI_Type_vector(LARGE / 4, 1, 2, MPI_INT, &holes);
  MPI_Type_commit(&holes);
  const int times = atoi(argv[2]);
  long served = 0;
  if (strcmp(argv[1], "lasting") == 0) {
    last(times);
  } else {
    const int outside = strcmp(argv[1], "outside") == 0;
    for (int operation = outside ? OUTSIDE : 0; operation < (outside ? OUTSIDE + 1 : OPERATIONS); ++operation) {
      const int step = operation == LONG_HALO ? 10 : 1; /* lists grow in many steps, and take long */
      for (long n = 0; n < times; n += step) {
        if (try_one(operation, n, strcmp(argv[1], "all") != 0)) break;
        ++served;
      }
    }
  }
  MPI_Type_free(&holes);
  if (rank == 0) printf("%ld allocations failed\n", served);
  if (wrong == 0) printf("rank %d: right\n", rank);
  MPI_Finalize();
  return wrong != 0;
}
