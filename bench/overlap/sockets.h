/* SPDX-License-Identifier: BSD-3-Clause */
/* The floor of overlap over a network: the bytes of Iallgather by plain TCP, without MPI. Each rank has a thread that
   sends its block to one rank after the other, and one that receives theirs; both sleep in the kernel whenever they
   cannot go on. No library over TCP can take less of the computing core. */
#ifndef URAKATA_BENCH_OVERLAP_SOCKETS_H
#define URAKATA_BENCH_OVERLAP_SOCKETS_H

#include <errno.h>
#include <mpi.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ending.h"
#include "operations.h"
#include "own_address.h"

static struct sockets {
  int* peer; /* a connected socket for each rank; NULL until the first use */
  int rank, ranks;
  const struct call* call;
  pthread_t thread[2];
  sem_t begin[2], end;
} sockets;

static void sockets_fail(const char* what) { end_job("%s: %s", what, strerror(errno)); }

static void* sockets_send(void* unused) {
  (void)unused;
  for (;;) {
    while (sem_wait(&sockets.begin[0]) != 0) {
    }
    const struct call* c = sockets.call;
    if (!c) return NULL;
    for (int step = 1; step < c->ranks; ++step) {
      const int to = sockets.peer[(c->rank + step) % c->ranks];
      for (size_t sent = 0; sent < c->bytes;) {
        const ssize_t more = send(to, (const char*)c->send + sent, c->bytes - sent, MSG_NOSIGNAL);
        if (more <= 0) sockets_fail("overlap: send");
        sent += (size_t)more;
      }
    }
    sem_post(&sockets.end);
  }
}

static void* sockets_receive(void* unused) {
  (void)unused;
  for (;;) {
    while (sem_wait(&sockets.begin[1]) != 0) {
    }
    const struct call* c = sockets.call;
    if (!c) return NULL;
    memcpy((char*)c->recv + (size_t)c->rank * c->bytes, c->send, c->bytes);
    for (int step = 1; step < c->ranks; ++step) {
      const int from = (c->rank - step + c->ranks) % c->ranks;
      char* to = (char*)c->recv + (size_t)from * c->bytes;
      for (size_t got = 0; got < c->bytes;) {
        const ssize_t more = recv(sockets.peer[from], to + got, c->bytes - got, MSG_WAITALL);
        if (more <= 0) sockets_fail("overlap: recv");
        got += (size_t)more;
      }
    }
    sem_post(&sockets.end);
  }
}

/* Joins each two ranks by a socket. Collective over MPI_COMM_WORLD. */
static void sockets_open(const struct call* c) {
  sockets.rank = c->rank, sockets.ranks = c->ranks;
  sockets.peer = malloc((size_t)c->ranks * sizeof *sockets.peer);
  struct sockaddr_in* all = malloc((size_t)c->ranks * sizeof *all);
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), one = 1;
  struct sockaddr_in mine = {.sin_family = AF_INET, .sin_addr.s_addr = own_address()};
  socklen_t length = sizeof mine;
  if (!sockets.peer || !all || listener < 0 || bind(listener, (struct sockaddr*)&mine, sizeof mine) != 0 ||
      listen(listener, c->ranks) != 0 || getsockname(listener, (struct sockaddr*)&mine, &length) != 0) {
    sockets_fail("overlap: socket");
  }
  MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
  for (int i = 0; i < c->rank; ++i) { /* to all below; the first word says who calls */
    sockets.peer[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(sockets.peer[i], (struct sockaddr*)&all[i], sizeof *all) != 0) sockets_fail("overlap: connect");
    if (send(sockets.peer[i], &c->rank, sizeof c->rank, 0) != sizeof c->rank) sockets_fail("overlap: send");
  }
  for (int i = c->rank + 1; i < c->ranks; ++i) {
    int caller = -1;
    const int joined = accept(listener, NULL, NULL);
    if (joined < 0 || recv(joined, &caller, sizeof caller, MSG_WAITALL) != sizeof caller || caller <= c->rank ||
        caller >= c->ranks) {
      sockets_fail("overlap: accept");
    }
    sockets.peer[caller] = joined;
  }
  for (int i = 0; i < c->ranks; ++i) {
    if (i != c->rank) setsockopt(sockets.peer[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  }
  close(listener);
  free(all);
  sem_init(&sockets.begin[0], 0, 0), sem_init(&sockets.begin[1], 0, 0), sem_init(&sockets.end, 0, 0);
  if (pthread_create(&sockets.thread[0], NULL, sockets_send, NULL) != 0 ||
      pthread_create(&sockets.thread[1], NULL, sockets_receive, NULL) != 0) {
    sockets_fail("overlap: pthread_create");
  }
}

static int start_sockets(const struct call* c, MPI_Request* q) {
  if (!sockets.peer) sockets_open(c);
  *q = MPI_REQUEST_NULL;
  sockets.call = c;
  sem_post(&sockets.begin[0]);
  sem_post(&sockets.begin[1]);
  return MPI_SUCCESS;
}

static void wait_sockets(void) {
  for (int ended = 0; ended < 2;) ended += sem_wait(&sockets.end) == 0;
}

static int test_sockets(void) {
  int ended = 0;
  sem_getvalue(&sockets.end, &ended);
  if (ended < 2) return 0;
  wait_sockets();
  return 1;
}

static void sockets_close(void) {
  if (!sockets.peer) return;
  sockets.call = NULL;
  for (int i = 0; i < 2; ++i) sem_post(&sockets.begin[i]), pthread_join(sockets.thread[i], NULL);
  for (int i = 0; i < sockets.ranks; ++i) {
    if (i != sockets.rank) close(sockets.peer[i]);
  }
  free(sockets.peer);
}

static const struct operation sockets_operation = {"sockets", ONE, ALL, 0, 0, start_sockets, from_each};

/* MPI_Wait and MPI_Test for an operation of any sort. */
static void finish(const struct operation* op, MPI_Request* request) {
  if (op == &sockets_operation) {
    wait_sockets();
  } else if (op->start == start_isend) {
    MPI_Request both[2] = {*request, ring_send};
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  } else {
    MPI_Wait(request, MPI_STATUS_IGNORE);
  }
}

static void probe(const struct operation* op, MPI_Request* request, int* done) {
  if (op == &sockets_operation) {
    *done = test_sockets();
  } else if (op->start == start_isend) {
    MPI_Request both[2] = {*request, ring_send};
    MPI_Testall(2, both, done, MPI_STATUSES_IGNORE);
  } else {
    MPI_Test(request, done, MPI_STATUS_IGNORE);
  }
}

#endif
