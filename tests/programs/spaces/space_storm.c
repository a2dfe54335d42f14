// SPDX-License-Identifier: BSD-3-Clause
// Everything at once for some seconds: in each rank, threads that allocate, short-lived threads, children by fork and
// by system(), and messages of all sizes with their contents checked.
//
//     space_storm SECONDS
//
// Every rank says "pid P" first and "right" last, or what went wrong and ends with 1.
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KEPT = 64, LARGEST = 1 << 18, PEERS = 3 };

static atomic_int over = 0;
static _Thread_local int mine = 7;

static void check(int good, const char* what) {
  if (good) return;
  printf("wrong: %s\n", what);
  fflush(stdout);
  _exit(1);
}

static uint32_t next(uint32_t* seed) {
  *seed = *seed * 1664525U + 1013904223U;
  return *seed >> 8;
}

// Blocks of all sizes, each full of one letter for as long as it lives.
static void allocate(uint32_t* seed, int times) {
  static _Thread_local unsigned char* kept[KEPT];
  static _Thread_local size_t bytes[KEPT];
  for (int i = 0; i < times; ++i) {
    const uint32_t slot = next(seed) % KEPT;
    if (kept[slot] != NULL) {
      check(kept[slot][0] == 'a' + slot % 26 && kept[slot][bytes[slot] - 1] == 'a' + slot % 26, "a block of memory");
      free(kept[slot]);
    }
    bytes[slot] = 1 + next(seed) % (next(seed) % 40 == 0 ? 1 << 20 : 4000);
    kept[slot] = malloc(bytes[slot]);
    check(kept[slot] != NULL, "malloc");
    memset(kept[slot], 'a' + (int)(slot % 26), bytes[slot]);
  }
  for (int slot = 0; slot < KEPT; ++slot) {
    free(kept[slot]);
    kept[slot] = NULL;
  }
}

static void* allocating(void* number) {
  uint32_t seed = (uint32_t)(uintptr_t)number;
  mine = (int)seed;
  while (!over) allocate(&seed, 500);
  check(mine == (int)(uint32_t)(uintptr_t)number, "thread-local storage");
  return NULL;
}

static void* briefly(void* number) {
  uint32_t seed = (uint32_t)(uintptr_t)number;
  allocate(&seed, 20);
  return NULL;
}

static void* bearing(void* number) {
  uint32_t seed = (uint32_t)(uintptr_t)number;
  while (!over) {
    const pid_t child = fork();
    if (child == 0) {
      allocate(&seed, 100);
      _exit(mine == 7 ? 5 : 6);
    }
    int status = 0;
    check(child > 0 && waitpid(child, &status, 0) == child, "fork");
    check(WIFEXITED(status) && WEXITSTATUS(status) == 5, "a child");
    const int code = system("exit 4");
    check(WIFEXITED(code) && WEXITSTATUS(code) == 4, "system");
    pthread_t one;
    check(pthread_create(&one, NULL, briefly, (void*)(uintptr_t)next(&seed)) == 0, "a short-lived thread");
    pthread_join(one, NULL);
    usleep(1000);
  }
  return NULL;
}

static unsigned char letter(int from, int step, int which) { return (unsigned char)(from * 31 + step * 7 + which); }

// To and from the neighbours at several distances, all ranks with the same sizes.
static void talk(int rank, int size, int step, uint32_t* shared) {
  static unsigned char out[PEERS][LARGEST];
  static unsigned char in[PEERS][LARGEST];
  MPI_Request requests[2 * PEERS];
  int bytes[PEERS];
  int from[PEERS];
  for (int i = 0; i < PEERS; ++i) {
    const int distance = 1 + (int)(next(shared) % (uint32_t)(size > 1 ? size - 1 : 1));
    bytes[i] = (int)(next(shared) % (next(shared) % 4 == 0 ? LARGEST : 200));
    from[i] = (rank + size - distance % size) % size;
    memset(out[i], letter(rank, step, i), (size_t)bytes[i]);
    MPI_Irecv(in[i], bytes[i], MPI_BYTE, from[i], i, MPI_COMM_WORLD, &requests[i]);
    MPI_Isend(out[i], bytes[i], MPI_BYTE, (rank + distance) % size, i, MPI_COMM_WORLD, &requests[PEERS + i]);
  }
  MPI_Waitall(2 * PEERS, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < PEERS; ++i) {
    for (int k = 0; k < bytes[i]; ++k) check(in[i][k] == letter(from[i], step, i), "a message");
  }
}

int main(int argc, char** argv) {
  int level = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &level);
  int rank = 0;
  int size = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  printf("pid %ld\n", (long)getpid());
  fflush(stdout);
  const double seconds = argc > 1 ? atof(argv[1]) : 1;
  pthread_t threads[3];
  for (uintptr_t i = 0; i < 3; ++i) {
    pthread_create(&threads[i], NULL, i < 2 ? allocating : bearing, (void*)(i + 1 + 10 * (uintptr_t)rank));
  }
  const double begin = MPI_Wtime();
  uint32_t shared = 1;
  for (int step = 0, done = 0; !done; ++step) {
    talk(rank, size, step, &shared);
    if (step % 8 != 0) continue;
    done = rank == 0 && MPI_Wtime() - begin > seconds;
    MPI_Bcast(&done, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  over = 1;
  for (int i = 0; i < 3; ++i) pthread_join(threads[i], NULL);
  MPI_Finalize();
  printf("right\n");
  return 0;
}
