// SPDX-License-Identifier: BSD-3-Clause
// Who called MPI_Init sits in a blocking call of the system while the kernel carries a collective of his on whose
// partner comes late: the call gives its ordinary result or EINTR, and the collective is right. Calls of another
// thread, who sits in such calls all the while, are never interrupted.
//
//     interrupted_calls [ROUNDS [MOST]]
//
// With MOST there are further rounds until each way to wait has been interrupted on each rank, MOST in all at most:
// then it is an error that one was not. (A rank may come to its call after the collective's end, so no single round
// tells.)
//
// A round has a way to wait, an end of the wait (what is waited for comes, or the time is up) and a collective.
#define _GNU_SOURCE
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ipc.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { kSmall = 64, kLarge = 40000, kLate = 8000 /* us */, kShort = 30 /* ms */, kLong = 20000 /* ms */ };
enum { kCame, kTimeIsUp, kInterrupted, kOther };  // how a call ended

// What a thread waits for.
typedef struct {
  int event, set;  // an eventfd, in an epoll set
  int semaphore;
  int ends[2];  // of a socket pair: the first one waits
} Things;

typedef struct {
  const char* name;
  int (*wait)(const Things* things, int ms);
  int (*come)(const Things* things);  // not 0: it cannot
} Way;

static int wait_epoll(const Things* things, int ms) {
  struct epoll_event event;
  uint64_t word = 0;
  const int found = epoll_wait(things->set, &event, 1, ms);
  if (found == 0) return kTimeIsUp;
  if (found < 0) return errno == EINTR ? kInterrupted : kOther;
  return read(things->event, &word, sizeof word) == sizeof word && word == 1 ? kCame : kOther;
}

static int come_epoll(const Things* things) {
  const uint64_t one = 1;
  return write(things->event, &one, sizeof one) != sizeof one;
}

static int ended_as(int code, long result) {
  if (result >= 0) return kCame;
  return code == EINTR ? kInterrupted : code == EAGAIN ? kTimeIsUp : kOther;
}

static int wait_semaphore(const Things* things, int ms) {
  struct sembuf take = {.sem_num = 0, .sem_op = -1, .sem_flg = 0};
  const struct timespec limit = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};
  const int result = semtimedop(things->semaphore, &take, 1, &limit);
  return ended_as(errno, result);
}

static int come_semaphore(const Things* things) {
  struct sembuf give = {.sem_num = 0, .sem_op = 1, .sem_flg = 0};
  return semop(things->semaphore, &give, 1);
}

static int wait_socket(const Things* things, int ms) {
  const struct timeval limit = {.tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000L};
  char byte = 0;
  if (setsockopt(things->ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) != 0) return kOther;
  const ssize_t got = recv(things->ends[0], &byte, 1, 0);
  return got == 0 || (got == 1 && byte != 'x') ? kOther : ended_as(errno, got);
}

static int come_socket(const Things* things) { return send(things->ends[1], "x", 1, 0) != 1; }

static const Way kWays[] = {{"epoll_wait", wait_epoll, come_epoll},
                            {"semtimedop", wait_semaphore, come_semaphore},
                            {"recv", wait_socket, come_socket}};
enum { kWaysCount = 3 };

static int open_things(Things* things) {
  struct epoll_event event = {.events = EPOLLIN};
  things->event = eventfd(0, 0);
  things->set = epoll_create1(0);
  things->semaphore = semget(IPC_PRIVATE, 1, IPC_CREAT | 0600);
  return things->event < 0 || epoll_ctl(things->set, EPOLL_CTL_ADD, things->event, &event) != 0 ||
         things->semaphore < 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, things->ends) != 0;
}

static int rank, ranks;
static atomic_int over;

// The other thread: its calls end with their time, and nothing else.
typedef struct {
  Things things;
  int calls, wrong;
} Other;

static void* sit(void* argument) {
  Other* other = argument;
  while (!atomic_load(&over)) {
    const int ended = kWays[other->calls % kWaysCount].wait(&other->things, 10);
    if (ended != kTimeIsUp) {
      fprintf(stderr, "rank %d: %s of another thread %s\n", rank, kWays[other->calls % kWaysCount].name,
              ended == kInterrupted ? "was interrupted" : "failed");
      ++other->wrong;
    }
    ++other->calls;
  }
  return NULL;
}

// Has what the main thread waits for come after a while.
typedef struct {
  const Way* way;
  const Things* things;
} Coming;

static void* come_late(void* argument) {
  const Coming* coming = argument;
  usleep(3 * kLate);
  return coming->way->come(coming->things) == 0 ? argument : NULL;
}

static char value_of(int round, int from, int at) { return (char)(round * 31 + from * 7 + at * 3 + 1); }

static int wrong_bytes(const char* all, int blocks, int bytes, int round, int first) {
  int wrong = 0;
  for (int block = 0; block < blocks; ++block) {
    for (int i = 0; i < bytes; ++i) wrong += all[block * bytes + i] != value_of(round, first + block, i);
  }
  return wrong;
}

// Waits until the call has its ordinary result; how often it was interrupted, or -1.
static int sit_through(const Way* way, const Things* things, int comes) {
  int interrupted = 0;
  for (;;) {
    const int ended = way->wait(things, comes ? kLong : kShort);
    if (ended == (comes ? kCame : kTimeIsUp)) return interrupted;
    if (ended != kInterrupted) {
      fprintf(stderr, "rank %d: %s ended as it must not: %s\n", rank, way->name, strerror(errno));
      return -1;
    }
    ++interrupted;
  }
}

static int one_round(int round, const Things* things, char* own, char* all, int* interrupted) {
  const Way* way = &kWays[round % kWaysCount];
  const int comes = round / 3 % 2;
  const int gathers = round / 6 % 2;
  const int bytes = round / 12 % 2 ? kLarge : kSmall;
  const int late = (round + round / kWaysCount) % ranks;
  for (int i = 0; i < bytes; ++i) own[i] = value_of(round, rank, i);
  if (!gathers && rank == late) memcpy(all, own, (size_t)bytes);
  Coming coming = {way, things};
  pthread_t thread;
  if (comes && pthread_create(&thread, NULL, come_late, &coming) != 0) return 1;
  if (rank == late) usleep(kLate);
  MPI_Request request;
  if (gathers) {
    MPI_Iallgather(own, bytes, MPI_CHAR, all, bytes, MPI_CHAR, MPI_COMM_WORLD, &request);
  } else {
    MPI_Ibcast(all, bytes, MPI_CHAR, late, MPI_COMM_WORLD, &request);
  }
  const int count = sit_through(way, things, comes);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  void* came = &coming;
  if (comes) pthread_join(thread, &came);
  interrupted[round % kWaysCount] += count > 0;
  const int wrong = gathers ? wrong_bytes(all, ranks, bytes, round, 0) : wrong_bytes(all, 1, bytes, round, late);
  if (wrong != 0) fprintf(stderr, "rank %d: round %d: %d bytes are wrong\n", rank, round, wrong);
  return (wrong != 0) + (count < 0) + (came == NULL);
}

static int never_interrupted(const int* interrupted) {
  int never = 0;
  for (int i = 0; i < kWaysCount; ++i) never += interrupted[i] == 0;
  return never;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int rounds = argc > 1 ? atoi(argv[1]) : 24;
  const int most = argc > 2 ? atoi(argv[2]) : 0;
  char* own = malloc(kLarge);
  char* all = malloc((size_t)ranks * kLarge);
  Things things;
  Other other = {.calls = 0};
  pthread_t thread;
  if (own == NULL || all == NULL || open_things(&things) || open_things(&other.things)) MPI_Abort(MPI_COMM_WORLD, 2);
  if (pthread_create(&thread, NULL, sit, &other) != 0) MPI_Abort(MPI_COMM_WORLD, 2);
  int wrong = 0;
  int interrupted[kWaysCount] = {0};
  for (int round = 0; round < rounds; ++round) {
    wrong += one_round(round, &things, own, all, interrupted);
    if (round + 1 < rounds || rounds >= most) continue;
    int never = never_interrupted(interrupted);
    MPI_Allreduce(MPI_IN_PLACE, &never, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (never != 0) ++rounds;
  }
  if (most != 0) wrong += never_interrupted(interrupted);
  atomic_store(&over, 1);
  pthread_join(thread, NULL);
  semctl(things.semaphore, 0, IPC_RMID);
  semctl(other.things.semaphore, 0, IPC_RMID);
  printf("rank %d: %d wrong in %d rounds, interrupted:", rank, wrong, rounds);
  for (int i = 0; i < kWaysCount; ++i) printf(" %s in %d,", kWays[i].name, interrupted[i]);
  printf(" another thread's %d calls %d wrong\n", other.calls, other.wrong);
  MPI_Finalize();
  free(own);
  free(all);
  return wrong + other.wrong != 0;
}
