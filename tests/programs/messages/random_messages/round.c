// SPDX-License-Identifier: BSD-3-Clause
#include "round.h"

#include <string.h>

#include "completion.h"
#include "job.h"
#include "message.h"

enum { kNeverTag = 77 };

static Plan plans[kMostParts];
static Part sends[kMostParts], receives[kMostParts];

static void cancel_one(MPI_Comm comm) {
  int room = 0, cancelled = 0;
  MPI_Request request;
  MPI_Status status;
  MPI_Irecv(&room, 1, MPI_INT, MPI_ANY_SOURCE, kNeverTag, comm, &request);
  MPI_Cancel(&request);
  MPI_Wait(&request, &status);
  MPI_Test_cancelled(&status, &cancelled);
  if (!cancelled) fail("a receive that nothing matches was not cancelled", 0, 0);
}

// Receives of one each, from any source, of any tag or one tag.
static int receive_wild(int n, int tag, MPI_Comm comm, Random* own, int received) {
  for (int i = 0; i < n; ++i) start_receive(MPI_ANY_SOURCE, tag, comm, 0, own, &receives[received++]);
  return received;
}

// Receives of which many could take the same message: `wild` ones from any source, mixed with so many from each source
// as are left for them whatever the wild ones take; then any source again for what remains.
static int receive_overlapping(int me, int size, int n, MPI_Comm comm, Random* own) {
  const int tag = below(own, 2) ? MPI_ANY_TAG : below(own, kTags);
  int all[kMostRanks] = {0}, fitting[kMostRanks] = {0}, total_fitting = 0, received = 0, mine = 0;
  for (int i = 0; i < n; ++i) {
    if (plans[i].dest != me) continue;
    ++mine;
    ++all[plans[i].source];
    if (tag != MPI_ANY_TAG && plans[i].tag != tag) continue;
    ++fitting[plans[i].source];
    ++total_fitting;
  }
  int wild = between(own, 1, 8);
  if (wild > total_fitting) wild = total_fitting;
  // A receive from one source of any tag before a wild one of one tag could leave that without its message.
  if (tag != MPI_ANY_TAG) received = receive_wild(wild, tag, comm, own, received), wild = received;
  static int order[kMostParts];
  int ordered = 0;
  for (int i = 0; i < wild && tag == MPI_ANY_TAG; ++i) order[ordered++] = MPI_ANY_SOURCE;
  for (int s = 0; s < size; ++s) {
    const int taken = wild < fitting[s] ? wild : fitting[s];
    for (int i = taken; i < all[s]; ++i) order[ordered++] = s;
  }
  shuffle(own, order, ordered);
  for (int i = 0; i < ordered; ++i) {
    int flag;
    if (one_in(own, 16)) MPI_Iprobe(order[i], MPI_ANY_TAG, comm, &flag, MPI_STATUS_IGNORE);
    start_receive(order[i], MPI_ANY_TAG, comm, 0, own, &receives[received++]);
  }
  if (one_in(own, 2)) complete(receives, received, own);
  return receive_wild(mine - received, MPI_ANY_TAG, comm, own, received);
}

int play_round(MPI_Comm comm, int messages, Random shared, Random* own) {
  int me, size;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  int n = messages * size;
  if (n > kMostParts) n = kMostParts;
  const int wild = below(&shared, 6);  // bit 0: any source, bit 1: any tag; from 4 on: see receive_overlapping
  for (int i = 0; i < n; ++i) {
    plans[i] = (Plan){below(&shared, size), below(&shared, size), below(&shared, kTags), size_of(&shared)};
  }
  int sent = 0, received = 0;
  for (int i = 0; i < n; ++i) {
    if (plans[i].source == me) start_send(&plans[i], i, comm, own, &sends[sent++]);
  }
  if (wild >= 4) received = receive_overlapping(me, size, n, comm, own);
  for (int i = 0; i < n; ++i) {
    if (wild >= 4 || plans[i].dest != me) continue;
    Part* part = &receives[received++];
    start_receive(wild & 1 ? MPI_ANY_SOURCE : plans[i].source, wild & 2 ? MPI_ANY_TAG : plans[i].tag, comm, 1, own,
                  part);
  }
  if (one_in(own, 3)) cancel_one(comm);
  complete(receives, received, own);
  static int numbers[kMostRanks][kTags];
  memset(numbers, 0, sizeof numbers);
  for (int i = 0; i < received; ++i) {
    check(&receives[i], numbers);
    drop(&receives[i]);
  }
  // Sends may still be on their way while this rank is in the MPI library.
  if (below(&shared, 2)) {
    MPI_Barrier(comm);
    complete(sends, sent, own);
  } else {
    complete(sends, sent, own);
    MPI_Barrier(comm);
  }
  for (int i = 0; i < sent; ++i) drop(&sends[i]);
  return received;
}
