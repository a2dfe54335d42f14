// SPDX-License-Identifier: BSD-3-Clause
// The last rank of a ring is killed while the others wait in an exchange with their neighbours: in MPI_Wait of a
// persistent neighbourhood collective ("neighbours"), in a blocking one ("calls"), in MPI_Waitall of persistent sends
// and receives that have met before ("pairs"), in ura_halo_end ("halo"), or in MPI_Wait of several collectives of
// MPI_COMM_WORLD ("collectives"), where the last rank has started them, too. Every rank says "pid P" first. With a
// folder as second argument errors are returned, and each rank that gets one says so, and ends when all but the killed
// one have; files there tell. The host, of which the test says that it listens at ports 20000 to 20999, does not see
// the end: a process that lives on holds its connections, and only those.
#include <arpa/inet.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <urakata.h>

#include "meeting_files.h"

enum { kEach = 512, kRounds = 5 };

static int rank, ranks;
static double from[2 * kEach], to[2 * kEach];
static const char* folder;

static void wait_for_survivors(void) { wait_for_all(folder, "ended", ranks - 1); }

static void end_with(int code) {
  int class = MPI_SUCCESS;
  MPI_Error_class(code, &class);
  printf("rank %d: the exchange ended with class %d\n", rank, class);
  fflush(stdout);
  say(folder, "ended", rank);
  wait_for_survivors();
  _exit(0);  // the host has lost a rank, too
}

static int is_hosts(const struct sockaddr_in* end) {
  return end->sin_family == AF_INET && ntohs(end->sin_port) / 1000 == 20;
}

static void die(void) {
  if (folder != NULL && fork() == 0) {
    alarm(60);
    for (int open = 3; open < 1024; ++open) {
      struct sockaddr_in here = {0}, there = {0};
      socklen_t size = sizeof here, other = sizeof there;
      getsockname(open, (struct sockaddr*)&here, &size);
      getpeername(open, (struct sockaddr*)&there, &other);
      if (!is_hosts(&here) && !is_hosts(&there)) close(open);
    }
    wait_for_survivors();
    _exit(0);
  }
  raise(SIGKILL);
}

static MPI_Comm ring_of_all(void) {
  const int both[2] = {(rank + ranks - 1) % ranks, (rank + 1) % ranks};
  MPI_Comm ring;
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, both, MPI_UNWEIGHTED, 2, both, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                 &ring);
  if (folder != NULL) MPI_Comm_set_errhandler(ring, MPI_ERRORS_RETURN);
  return ring;
}

static void calls(void) {
  MPI_Comm ring = ring_of_all();
  for (int round = 0;; ++round) {
    if (round == kRounds && rank == ranks - 1) die();
    const int code = MPI_Neighbor_alltoall(from, kEach, MPI_DOUBLE, to, kEach, MPI_DOUBLE, ring);
    if (code != MPI_SUCCESS) end_with(code);
  }
}

static void pairs(void) {
  enum { kFew = 16 };  // doubles, so that what is sent is put into the pair's ring
  MPI_Request requests[4];
  for (int side = 0; side < 2; ++side) {
    const int peer = (rank + (side == 0 ? 1 : ranks - 1)) % ranks;
    MPI_Recv_init(to + side * kFew, kFew, MPI_DOUBLE, peer, 1 - side, MPI_COMM_WORLD, &requests[side]);
    MPI_Send_init(from + side * kFew, kFew, MPI_DOUBLE, peer, side, MPI_COMM_WORLD, &requests[2 + side]);
  }
  for (int round = 0;; ++round) {
    int code = MPI_Startall(4, requests);
    if (round == kRounds && rank == ranks - 1) die();
    if (code == MPI_SUCCESS) code = MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    if (code != MPI_SUCCESS) end_with(code);
  }
}

static void neighbours(void) {
  MPI_Comm ring = ring_of_all();
  MPI_Request request;
  MPI_Neighbor_alltoall_init(from, kEach, MPI_DOUBLE, to, kEach, MPI_DOUBLE, ring, MPI_INFO_NULL, &request);
  for (int round = 0;; ++round) {
    int code = MPI_Start(&request);
    if (round == kRounds && rank == ranks - 1) die();
    if (code == MPI_SUCCESS) code = MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) end_with(code);
  }
}

static void halo(void) {
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks, count = kEach;
  int first[kEach], last[kEach];
  for (int i = 0; i < kEach; ++i) {
    first[i] = i;
    last[i] = kEach + i;
  }
  const ura_halo_side send = {1, &next, &count, first, 2 * kEach}, receive = {1, &before, &count, last, 2 * kEach};
  ura_halo* made;
  if (ura_halo_create(MPI_COMM_WORLD, sizeof *from, &send, &receive, &made) != MPI_SUCCESS) exit(2);
  for (int round = 0;; ++round) {
    if (round == kRounds && rank == ranks - 1) die();
    int code = ura_halo_begin(made, from, from);
    if (code == MPI_SUCCESS) code = ura_halo_end(made);
    if (code != MPI_SUCCESS) end_with(code);
  }
}

static void collectives(void) {
  static double gathered[kEach * 64], turned[kEach * 64], given[kEach * 64], few[64];
  MPI_Request requests[4];
  if (ranks > 64) exit(2);
  for (int round = 0;; ++round) {
    int codes[4] = {MPI_Iallgather(from, kEach, MPI_DOUBLE, gathered, kEach, MPI_DOUBLE, MPI_COMM_WORLD, &requests[0]),
                    MPI_Ibcast(to, kEach, MPI_DOUBLE, ranks - 1, MPI_COMM_WORLD, &requests[1]),
                    MPI_Ialltoall(given, kEach, MPI_DOUBLE, turned, kEach, MPI_DOUBLE, MPI_COMM_WORLD, &requests[2]),
                    MPI_Iallgather(from, 1, MPI_DOUBLE, few, 1, MPI_DOUBLE, MPI_COMM_WORLD, &requests[3])};
    if (round == kRounds && rank == ranks - 1) die();
    int failed = 0;
    for (int i = 0; i < 4; ++i) {
      if (codes[i] == MPI_SUCCESS) codes[i] = MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
      if (codes[i] != MPI_SUCCESS) failed = codes[i];
    }
    if (failed != 0) end_with(failed);
  }
}

int main(int argc, char** argv) {
  if (argc != 2 && argc != 3) return 2;
  if (argc == 3) folder = argv[2];
  MPI_Init(&argc, &argv);
  if (folder != NULL) MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  printf("pid %ld\n", (long)getpid());
  fflush(stdout);
  MPI_Barrier(MPI_COMM_WORLD);
  if (strcmp(argv[1], "neighbours") == 0) neighbours();
  if (strcmp(argv[1], "calls") == 0) calls();
  if (strcmp(argv[1], "pairs") == 0) pairs();
  if (strcmp(argv[1], "halo") == 0) halo();
  if (strcmp(argv[1], "collectives") == 0) collectives();
  return 2;
}
