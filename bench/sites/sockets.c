// SPDX-License-Identifier: BSD-3-Clause
#define _GNU_SOURCE
#include "sockets.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "own_address.h"
#include "timing.h"

struct plain_sockets {
  int count, sending;
  int total;  // of all ranks
  int socket[MAX_SOCKETS];
  int number[MAX_SOCKETS];  // of all
};

struct part {
  int socket, sending;
  char* begin;
  long bytes;
};

struct plain_sockets* open_sockets(int rank, int ranks, int home, const char* count, int to_root) {
  char* rest = NULL;
  const long sockets = strtol(count, &rest, 10);
  if (rest == count || *rest != '\0' || sockets < 1 || sockets > MAX_SOCKETS)
    fail("SITES_SOCKETS=%s is not a number of 1 to %d", count, MAX_SOCKETS);
  struct plain_sockets* const links = calloc(1, sizeof *links);
  struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = INADDR_ANY};
  const int listener = socket(AF_INET, SOCK_STREAM, 0);
  socklen_t size = sizeof own;
  if (links == NULL || listener < 0 || bind(listener, (struct sockaddr*)&own, sizeof own) != 0 ||
      listen(listener, MAX_SOCKETS) != 0 || getsockname(listener, (struct sockaddr*)&own, &size) != 0)
    fail("cannot listen");
  own.sin_addr.s_addr = own_address();
  struct sockaddr_in* const all = malloc((size_t)ranks * sizeof *all);
  if (all == NULL) fail("no memory");
  MPI_Allgather(&own, sizeof own, MPI_BYTE, all, sizeof own, MPI_BYTE, MPI_COMM_WORLD);
  links->total = (int)sockets;
  links->sending = (rank == 0) != (to_root != 0);
  for (int i = 0; i < links->total; ++i) {
    const int peer = home + i % (ranks - home);
    int made = -1;
    if (rank == 0) {
      made = socket(AF_INET, SOCK_STREAM, 0);
      if (connect(made, (struct sockaddr*)&all[peer], sizeof all[peer]) != 0) fail("cannot connect to rank %d", peer);
    } else if (rank == peer) {
      made = accept(listener, NULL, NULL);
    }
    if (made < 0) continue;
    const int one = 1;
    setsockopt(made, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    links->number[links->count] = i;
    links->socket[links->count++] = made;
  }
  close(listener);
  free(all);
  return links;
}

static void* move_part(void* of) {
  struct part* const part = of;
  long done = 0;
  while (done < part->bytes) {
    const size_t left = (size_t)(part->bytes - done);
    const ssize_t more = part->sending ? send(part->socket, part->begin + done, left, MSG_NOSIGNAL)
                                       : recv(part->socket, part->begin + done, left, MSG_WAITALL);
    if (more <= 0) fail("a socket broke");
    done += more;
  }
  return NULL;
}

void move_sockets(struct plain_sockets* links, char* buffer, long bytes) {
  pthread_t threads[MAX_SOCKETS];
  struct part parts[MAX_SOCKETS];
  for (int i = 0; i < links->count; ++i) {
    const long begin = bytes * links->number[i] / links->total, end = bytes * (links->number[i] + 1) / links->total;
    parts[i] = (struct part){links->socket[i], links->sending, buffer + begin, end - begin};
    if (pthread_create(&threads[i], NULL, move_part, &parts[i]) != 0) fail("cannot make a thread");
  }
  for (int i = 0; i < links->count; ++i) pthread_join(threads[i], NULL);
}
