// SPDX-License-Identifier: BSD-3-Clause
// The floor over a network: the same bytes by plain TCP, a connection for each neighbour, without MPI and without a
// thread. What the kernel takes at once is sent in start(); what is left then goes, and comes, in finish().
#define _GNU_SOURCE

#include <errno.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "own_address.h"
#include "solver.h"

struct link {
  int socket;
  size_t sent, received;  // bytes of this exchange
};

struct sockets {
  struct link* links;   // of each neighbour
  struct pollfd* open;  // as many
};

static void broken(const char* what) { end_job("%s: %s", what, strerror(errno)); }

static int call(const struct sockaddr_in* to, int tag) {
  const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int who[2] = {rank, tag};
  if (connect(made, (const struct sockaddr*)to, sizeof *to) != 0) broken("solver: connect");
  if (send(made, who, sizeof who, MSG_NOSIGNAL) != sizeof who) broken("solver: send");
  return made;
}

// Takes one call, and finds out of whom.
static void answer(const struct pattern* p, int listener, struct link* links) {
  int who[2] = {-1, -1};
  const int made = accept(listener, NULL, NULL);
  if (made < 0 || recv(made, who, sizeof who, MSG_WAITALL) != sizeof who) broken("solver: accept");
  for (int i = 0; i < p->neighbours; ++i) {
    if (p->rank[i] == who[0] && p->tag[i] == who[1]) links[i].socket = made;
  }
}

// The higher rank of two calls the lower one.
const char* prepare_sockets(struct exchange* e) {
  const struct pattern* const p = e->pattern;
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const size_t length = (size_t)p->rows + (size_t)p->ghosts;
  e->vector = allocate(length * sizeof(double));
  memset(e->vector, 0, length * sizeof(double));
  struct sockets* const own = allocate(sizeof *own);
  struct link* const links = calloc((size_t)p->neighbours + 1, sizeof *links);
  *own = (struct sockets){links, allocate((size_t)p->neighbours * sizeof *own->open)};
  struct sockaddr_in* const all = allocate((size_t)ranks * sizeof *all);
  struct sockaddr_in mine = {.sin_family = AF_INET, .sin_addr.s_addr = own_address()};
  socklen_t size = sizeof mine;
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
  if (!links || listener < 0 || bind(listener, (struct sockaddr*)&mine, sizeof mine) != 0 ||
      listen(listener, p->neighbours + 1) != 0 || getsockname(listener, (struct sockaddr*)&mine, &size) != 0) {
    broken("solver: socket");
  }
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, e->comm);
  for (int i = 0; i < p->neighbours; ++i) {
    if (p->rank[i] < rank) links[i].socket = call(&all[p->rank[i]], p->tag[i]);
  }
  for (int i = 0; i < p->neighbours; ++i) {
    if (p->rank[i] > rank) answer(p, listener, links);
  }
  for (int i = 0; i < p->neighbours; ++i) setsockopt(links[i].socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  close(listener);
  free(all);
  e->own = own;
  return NULL;
}

void discard_sockets(struct exchange* e) {
  struct sockets* const own = e->own;
  for (int i = 0; i < e->pattern->neighbours; ++i) close(own->links[i].socket);
  free(own->links);
  free(own->open);
  free(own);
  free(e->vector);
}

// Bytes that went, 0 where none can go now.
static size_t moved(ssize_t result, const char* what) {
  if (result > 0) return (size_t)result;
  if (result == 0 || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR)) broken(what);
  return 0;
}

static size_t bytes_out(const struct pattern* p, int i) { return (size_t)send_count(p, i) * sizeof(double); }
static size_t bytes_in(const struct pattern* p, int i) { return (size_t)recv_count(p, i) * sizeof(double); }

static void send_some(struct exchange* e, struct link* link, int i) {
  const size_t all = bytes_out(e->pattern, i);
  if (link->sent == all) return;
  const char* const from = (const char*)(e->packed + e->pattern->send_at[i]);
  link->sent +=
      moved(send(link->socket, from + link->sent, all - link->sent, MSG_DONTWAIT | MSG_NOSIGNAL), "solver: send");
}

static void receive_some(struct exchange* e, struct link* link, int i) {
  const size_t all = bytes_in(e->pattern, i);
  if (link->received == all) return;
  char* const to = (char*)ghosts(e, i);
  link->received += moved(recv(link->socket, to + link->received, all - link->received, MSG_DONTWAIT), "solver: recv");
}

void start_sockets(struct exchange* e) {
  struct link* const links = ((struct sockets*)e->own)->links;
  for (int i = 0; i < e->pattern->neighbours; ++i) {
    links[i].sent = links[i].received = 0;
    pack(e, i);
    send_some(e, &links[i], i);
  }
}

void finish_sockets(struct exchange* e) {
  const struct pattern* const p = e->pattern;
  const struct sockets* const own = e->own;
  struct link* const links = own->links;
  for (;;) {
    int open = 0;
    for (int i = 0; i < p->neighbours; ++i) {
      receive_some(e, &links[i], i);
      send_some(e, &links[i], i);
      const short events =
          (short)((links[i].received < bytes_in(p, i) ? POLLIN : 0) | (links[i].sent < bytes_out(p, i) ? POLLOUT : 0));
      if (events) own->open[open++] = (struct pollfd){links[i].socket, events, 0};
    }
    if (open == 0) return;
    poll(own->open, (nfds_t)open, -1);
  }
}
