// SPDX-License-Identifier: BSD-3-Clause
// Sockets and lost time: see kernel.h.
#define _GNU_SOURCE
#include <dirent.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "kernel.h"
#include "own_address.h"

static int without_delay(int socket) {
  const int one = 1;
  if (setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one) != 0) fail("cannot set up a socket");
  return socket;
}

// Each rank connects to all below it, which find out by a first word who it is: a connection is there before it is
// accepted.
void open_sockets(int* sockets) {
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  struct sockaddr_in mine = {.sin_family = AF_INET, .sin_addr.s_addr = own_address()};
  struct sockaddr_in* const all = allocate((size_t)ranks * sizeof *all);
  socklen_t length = sizeof mine;
  if (bind(listener, (struct sockaddr*)&mine, sizeof mine) != 0 || listen(listener, ranks) != 0 ||
      getsockname(listener, (struct sockaddr*)&mine, &length) != 0)
    fail("cannot open a socket");
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  for (int low = 0; low < rank; ++low) {
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(made, (struct sockaddr*)&all[low], sizeof all[low]) != 0) fail("cannot connect two ranks");
    sockets[low] = without_delay(made);
    send_all(made, &rank, sizeof rank);
  }
  for (int more = rank + 1; more < ranks; ++more) {
    const int made = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
    int who = 0;
    receive_all(made, &who, sizeof who);
    sockets[who] = without_delay(made);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  free(all);
  close(listener);
}

void send_all(int socket, const void* bytes, size_t count) {
  for (size_t sent = 0; sent < count;) {
    const ssize_t more = send(socket, (const char*)bytes + sent, count - sent, MSG_NOSIGNAL);
    if (more <= 0) fail("a socket of the benchmark's broke");
    sent += (size_t)more;
  }
}

void receive_all(int socket, void* bytes, size_t count) {
  for (size_t got = 0; got < count;) {
    const ssize_t more = recv(socket, (char*)bytes + got, count - got, MSG_WAITALL);
    if (more <= 0) fail("a socket of the benchmark's broke");
    got += (size_t)more;
  }
}

void tell(int socket) { send_all(socket, "", 1); }

void wait_for(int socket) {
  char byte;
  receive_all(socket, &byte, 1);
}

// Well above a turn, and below any interrupt.
static const double limit_ns = 400;

static unsigned long long turn(unsigned long long before, const struct calm* calm, struct loss* loss) {
  const unsigned long long now = ticks(), took = now - before;
  if (took > calm->limit) {
    loss->ns += ((double)took - calm->turn) * calm->tick_ns;
    ++loss->breaks;
  }
  return now;
}

struct calm measure_calm(void) {
  enum { TURNS = 20001 };
  static double turns[TURNS];
  const double begin = now_ns();
  const unsigned long long first = ticks();
  spin_ns(50e6);
  struct calm calm = {.tick_ns = (now_ns() - begin) / (double)(ticks() - first)};
  unsigned long long before = ticks();
  for (int i = 0; i < TURNS; ++i) {
    const unsigned long long now = ticks();
    turns[i] = (double)(now - before);
    before = now;
  }
  sort_samples(turns, TURNS);
  calm.turn = quantile(turns, TURNS, 0.5);
  calm.limit = (unsigned long long)(calm.turn + limit_ns / calm.tick_ns);
  struct loss loss = {0};
  compute_for(100e6, &calm, &loss);
  calm.lost = loss.ns / loss.spent;
  return calm;
}

bool compute_until(const volatile unsigned char* byte, unsigned char value, double most_ns, const struct calm* calm,
                   struct loss* loss) {
  const unsigned long long begin = ticks(), end = begin + (unsigned long long)(most_ns / calm->tick_ns);
  bool here = *byte == value;
  unsigned long long at = begin;
  while (!here && at < end) {
    at = turn(at, calm, loss);
    here = *byte == value;
  }
  loss->spent += (double)(at - begin) * calm->tick_ns;
  return here;
}

void compute_for(double ns, const struct calm* calm, struct loss* loss) {
  const unsigned char never = 0;
  compute_until(&never, 1, ns, calm, loss);
}

int io_workers(void) {
  int found = 0;
  DIR* tasks = opendir("/proc/self/task");
  for (struct dirent* task; tasks && (task = readdir(tasks));) {
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/self/task/%s/comm", task->d_name);
    FILE* file = fopen(path, "re");
    if (file && fgets(name, sizeof name, file) && strncmp(name, "iou-wrk", 7) == 0) ++found;
    if (file) fclose(file);
  }
  if (tasks) closedir(tasks);
  return found;
}
