// Random point-to-point traffic in rounds: all modes, persistent requests, probes, wildcards, cancels, derived types of
// several constructors, often freed while the message is under way, on communicators that come about in different ways.
// Each message says who sent it, with what tag, and its number; a receiver checks every byte, and that messages of one
// sender with one tag come in the order in which they were sent.
//
// random_messages [--rounds N] [--seed S] [--messages M] [--largest B]: M messages a rank and round, on average, of at
// most B bytes.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random_nbc/random.h"

enum { kTags = 4, kMostMessages = 4096, kLargest = 1500000, kHeader = 16, kMostRanks = 64, kNeverTag = 77 };

typedef struct {
  int source, dest, tag, bytes;
} Plan;

typedef struct {
  MPI_Request request;
  MPI_Datatype type;
  int count;
  int block, *places;  // where the payload lies: blocks of `block` bytes; no places: as it is
  unsigned char* memory;
  MPI_Status status;
  int done;
} Part;

static int rank, ranks, largest = kLargest;
static uint64_t seed;
static Plan plans[kMostMessages];
static Part sends[kMostMessages], receives[kMostMessages];
static long total;

static void fail(const char* what, int a, int b) {
  fprintf(stderr, "random_messages: rank %d, seed %llu: %s (%d, %d)\n", rank, (unsigned long long)seed, what, a, b);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static unsigned char byte_of(int source, int tag, int number, int at) {
  return (unsigned char)(source * 53 + tag * 17 + number * 7 + at * 3 + at / 251);
}

static int size_of(Random* r) {
  int bytes = between(r, kHeader, 80);
  if (one_in(r, 4)) bytes = between(r, 200, 2000);
  if (one_in(r, 20)) bytes = between(r, 2000, 100000);
  if (one_in(r, 150)) bytes = between(r, 300000, kLargest);
  return bytes < largest ? bytes : largest;
}

// `count` blocks, `stride` apart.
static MPI_Datatype even(int count, int block, int stride) {
  MPI_Datatype type;
  MPI_Type_create_hvector(count, block, stride, MPI_BYTE, &type);
  return type;
}

// The blocks in any order, with any gaps.
static MPI_Datatype scattered(int count, int block, int* places, Random* r) {
  MPI_Datatype type;
  MPI_Aint* displacements = malloc((size_t)count * sizeof *displacements);
  if (displacements == NULL) fail("no memory", count, block);
  if (one_in(r, 2)) shuffle(r, places, count);
  for (int i = 0; i < count; ++i) displacements[i] = places[i];
  MPI_Type_create_hindexed_block(count, block, displacements, MPI_BYTE, &type);
  free(displacements);
  return type;
}

// The first half of the payload lies behind the second.
static MPI_Datatype halves(int count, int block, int stride, int* places) {
  const int first = count / 2, lengths[2] = {1, 1};
  const MPI_Aint displacements[2] = {(MPI_Aint)(count - first) * stride, 0};
  MPI_Datatype type, parts[2] = {even(first, block, stride), even(count - first, block, stride)};
  for (int i = 0; i < count; ++i) places[i] = (i < first ? i + count - first : i - first) * stride;
  MPI_Type_create_struct(2, lengths, displacements, parts, &type);
  MPI_Type_free(&parts[0]);
  MPI_Type_free(&parts[1]);
  return type;
}

// A part for up to `bytes` payload, contiguous or of a derived type.
static void shape(Part* part, int bytes, Random* r) {
  static const int blocks[] = {1, 2, 4, 8, 24, 60, 100, 256, 3000};
  memset(part, 0, sizeof *part);
  part->request = MPI_REQUEST_NULL;
  part->block = blocks[below(r, 9)];
  const int count = bytes / part->block, stride = part->block + between(r, 0, one_in(r, 4) ? 40 : 5);
  if (count == 0 || bytes % part->block != 0 || one_in(r, 3)) {
    part->type = MPI_BYTE;
    part->count = bytes;
    part->memory = malloc((size_t)bytes + 1);
  } else {
    MPI_Datatype one;
    part->count = 1;
    part->memory = malloc((size_t)count * (size_t)stride + 1);
    part->places = malloc((size_t)count * sizeof *part->places);
    if (part->places == NULL) fail("no memory", bytes, 1);
    for (int i = 0; i < count; ++i) part->places[i] = i * stride;
    switch (below(r, count > 20000 ? 3 : 4)) {
      case 0:
        one = even(1, part->block, 0);
        MPI_Type_create_resized(one, 0, stride, &part->type);
        MPI_Type_free(&one);
        part->count = count;
        break;
      case 1:
        part->type = even(count, part->block, stride);
        break;
      case 2:
        part->type = halves(count, part->block, stride, part->places);
        break;
      default:
        part->type = scattered(count, part->block, part->places, r);
    }
    MPI_Type_commit(&part->type);
  }
  if (part->memory == NULL) fail("no memory", bytes, 0);
}

static unsigned char* at(const Part* part, int i) {
  return part->memory + (part->places == NULL ? i : part->places[i / part->block] + i % part->block);
}

// The program's hold on the type ends here at the latest; often while the message is still under way.
static void forget_type(Part* part) {
  if (part->type != MPI_BYTE && part->type != MPI_DATATYPE_NULL) MPI_Type_free(&part->type);
}

static void drop(Part* part) {
  if (part->places != NULL) forget_type(part);
  free(part->places);
  free(part->memory);
}

static void start_send(const Plan* plan, int number, MPI_Comm comm, Random* r, Part* part) {
  shape(part, plan->bytes, r);
  const int header[4] = {plan->source, plan->tag, number, plan->bytes};
  for (int i = 0; i < plan->bytes; ++i) {
    *at(part, i) = i < kHeader ? ((const unsigned char*)header)[i] : byte_of(plan->source, plan->tag, number, i);
  }
  switch (below(r, 8)) {
    case 0:
      MPI_Issend(part->memory, part->count, part->type, plan->dest, plan->tag, comm, &part->request);
      break;
    case 1:
      MPI_Send_init(part->memory, part->count, part->type, plan->dest, plan->tag, comm, &part->request);
      MPI_Start(&part->request);
      break;
    case 2:
      MPI_Ibsend(part->memory, part->count, part->type, plan->dest, plan->tag, comm, &part->request);
      break;
    case 3:
      // The standard lets it wait for its receive; no MPI does, but for MPICH on a message to oneself.
      if (plan->bytes <= 80 && plan->dest != plan->source) {
        MPI_Send(part->memory, part->count, part->type, plan->dest, plan->tag, comm);
        break;
      }  // fall through
    default:
      MPI_Isend(part->memory, part->count, part->type, plan->dest, plan->tag, comm, &part->request);
  }
  if (one_in(r, 2)) forget_type(part);
}

// What arrived. `numbers`: by source and tag, one more than the number of the message that came before.
static void check(Part* part, int numbers[][kTags]) {
  int header[4];
  for (int i = 0; i < kHeader; ++i) ((unsigned char*)header)[i] = *at(part, i);
  int bytes = 0;
  MPI_Get_count(&part->status, MPI_BYTE, &bytes);
  if (part->count > 1 && part->places != NULL && bytes % part->block == 0) {  // hosts differ about parts of elements
    MPI_Count elements;
    MPI_Get_elements_x(&part->status, part->type, &elements);
    if (elements != bytes) fail("elements of bytes", (int)elements, bytes);
  }
  if (header[0] != part->status.MPI_SOURCE) fail("source", header[0], part->status.MPI_SOURCE);
  if (header[1] != part->status.MPI_TAG) fail("tag", header[1], part->status.MPI_TAG);
  if (header[3] != bytes) fail("bytes", header[3], bytes);
  for (int i = kHeader; i < bytes; ++i) {
    if (*at(part, i) != byte_of(header[0], header[1], header[2], i)) fail("payload at, of", i, bytes);
  }
  int* next = &numbers[header[0]][header[1]];
  if (header[2] < *next) fail("order", header[2], *next);
  *next = header[2] + 1;
  ++total;
}

// Completes all requests of the parts, in one of the ways that MPI has.
static void complete(Part* parts, int n, Random* r) {
  static MPI_Request requests[kMostMessages];
  static MPI_Status statuses[kMostMessages];
  static int indices[kMostMessages], where[kMostMessages];
  int open = 0;
  for (int i = 0; i < n; ++i) {
    if (parts[i].done || parts[i].request == MPI_REQUEST_NULL) continue;
    where[open] = i;
    requests[open++] = parts[i].request;
  }
  const int way = below(r, 6);
  if (way == 0) {
    MPI_Waitall(open, requests, statuses);
    for (int i = 0; i < open; ++i) parts[where[i]].status = statuses[i];
  } else if (way == 1) {
    int flag = 0;
    while (!flag) MPI_Testall(open, requests, &flag, statuses);
    for (int i = 0; i < open; ++i) parts[where[i]].status = statuses[i];
  } else if (way == 2) {
    for (int i = open - 1; i >= 0; --i) MPI_Wait(&requests[i], &parts[where[i]].status);
  } else if (way == 3) {
    for (int i = 0; i < open; ++i) {
      int flag = 0;
      while (!flag) MPI_Test(&requests[i], &flag, &parts[where[i]].status);
    }
  } else {
    for (int left = open; left > 0;) {
      int done = 0;
      if (way == 4) {
        MPI_Waitsome(open, requests, &done, indices, statuses);
      } else {
        MPI_Waitany(open, requests, indices, statuses);
        done = 1;
      }
      if (done == MPI_UNDEFINED || indices[0] == MPI_UNDEFINED) fail("nothing active", left, open);
      for (int k = 0; k < done; ++k) parts[where[indices[k]]].status = statuses[k];
      left -= done;
    }
  }
  for (int i = 0; i < open; ++i) {
    parts[where[i]].done = 1;
    if (requests[i] != MPI_REQUEST_NULL) MPI_Request_free(&requests[i]);  // persistent
    parts[where[i]].request = MPI_REQUEST_NULL;
  }
}

// The receive for one planned message, by a pattern that may have wildcards.
static void start_receive(int source, int tag, MPI_Comm comm, int probes, Random* r, Part* part) {
  const int way = probes ? below(r, 6) : between(r, 2, 5);
  MPI_Status found;
  if (way >= 2) {
    shape(part, kLargest / 2 * 2, r);
    if (way == 2) {
      MPI_Recv(part->memory, part->count, part->type, source, tag, comm, &part->status);
      part->done = 1;
    } else if (way == 3) {
      MPI_Recv_init(part->memory, part->count, part->type, source, tag, comm, &part->request);
      MPI_Start(&part->request);
    } else {
      MPI_Irecv(part->memory, part->count, part->type, source, tag, comm, &part->request);
    }
    return;
  }
  int bytes = 0;
  MPI_Message message = MPI_MESSAGE_NULL;
  if (way == 0) {
    if (one_in(r, 2)) {
      int flag = 0;
      while (!flag) MPI_Iprobe(source, tag, comm, &flag, &found);
    } else {
      MPI_Probe(source, tag, comm, &found);
    }
    MPI_Get_count(&found, MPI_BYTE, &bytes);
    shape(part, bytes, r);
    MPI_Recv(part->memory, part->count, part->type, found.MPI_SOURCE, found.MPI_TAG, comm, &part->status);
    part->done = 1;
    return;
  }
  if (one_in(r, 2)) {
    int flag = 0;
    while (!flag) MPI_Improbe(source, tag, comm, &flag, &message, &found);
  } else {
    MPI_Mprobe(source, tag, comm, &message, &found);
  }
  MPI_Get_count(&found, MPI_BYTE, &bytes);
  shape(part, bytes, r);
  if (one_in(r, 2)) {
    MPI_Mrecv(part->memory, part->count, part->type, &message, &part->status);
    part->done = 1;
  } else {
    MPI_Imrecv(part->memory, part->count, part->type, &message, &part->request);
  }
  if (message != MPI_MESSAGE_NULL) fail("a message that was received is not MPI_MESSAGE_NULL", 0, 0);
}

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
  static int order[kMostMessages];
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

static void play_round(MPI_Comm comm, int messages, Random shared, Random* own) {
  int me, size;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  int n = messages * size;
  if (n > kMostMessages) n = kMostMessages;
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
  // Sends may still be on their way while this rank is in the host.
  if (below(&shared, 2)) {
    MPI_Barrier(comm);
    complete(sends, sent, own);
  } else {
    complete(sends, sent, own);
    MPI_Barrier(comm);
  }
  for (int i = 0; i < sent; ++i) drop(&sends[i]);
}

// A ring with a Sendrecv to the right, one with its own buffer, and ends at MPI_PROC_NULL.
static void ring(MPI_Comm comm, Random shared) {
  int me, size;
  MPI_Comm_rank(comm, &me);
  MPI_Comm_size(comm, &size);
  const int bytes = size_of(&shared);
  const int open = below(&shared, 2);
  const int right = open && me == size - 1 ? MPI_PROC_NULL : (me + 1) % size;
  const int left = open && me == 0 ? MPI_PROC_NULL : (me + size - 1) % size;
  unsigned char* out = malloc((size_t)bytes);
  unsigned char* in = malloc((size_t)bytes);
  if (out == NULL || in == NULL) fail("no memory", bytes, 0);
  MPI_Status status;
  for (int replace = 0; replace < 2; ++replace) {
    memset(out, me + 1, (size_t)bytes);
    memset(in, 0xee, (size_t)bytes);
    if (replace) {
      MPI_Sendrecv_replace(out, bytes, MPI_BYTE, right, 3, left, 3, comm, &status);
    } else {
      MPI_Sendrecv(out, bytes, MPI_BYTE, right, 3, in, bytes, MPI_BYTE, left, 3, comm, &status);
    }
    if (status.MPI_SOURCE != left) fail("source of a Sendrecv", status.MPI_SOURCE, left);
    const unsigned char* got = replace ? out : in;
    const int expected = left != MPI_PROC_NULL ? left + 1 : replace ? me + 1 : 0xee;
    for (int i = 0; i < bytes; ++i) {
      if (got[i] != expected) fail("Sendrecv", got[i], expected);
    }
  }
  free(out);
  free(in);
}

int main(int argc, char** argv) {
  int rounds = 40, messages = 40;
  seed = 1;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--rounds") == 0) rounds = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--messages") == 0) messages = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--largest") == 0) largest = atoi(argv[i + 1]);
    if (strcmp(argv[i], "--seed") == 0) seed = strtoull(argv[i + 1], NULL, 10);
  }
  if (ranks > kMostRanks || largest < kHeader) fail("too many ranks, or too few bytes", ranks, largest);
  static char room[1 << 26];
  MPI_Buffer_attach(room, sizeof room);

  MPI_Comm comms[6] = {MPI_COMM_WORLD};
  MPI_Request made;
  int size[1] = {ranks}, periodic[1] = {1};
  MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
  MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comms[2]);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comms[3]);
  MPI_Comm_idup(MPI_COMM_WORLD, &comms[4], &made);
  MPI_Wait(&made, MPI_STATUS_IGNORE);
  MPI_Cart_create(MPI_COMM_WORLD, 1, size, periodic, 0, &comms[5]);

  for (int round = 0; round < rounds; ++round) {
    Random shared = random_of(seed, (uint64_t)round, 0);
    Random own = random_of(seed, (uint64_t)round, (uint64_t)rank + 1);
    const MPI_Comm comm = comms[below(&shared, 6)];
    ring(comm, shared);
    play_round(comm, between(&shared, 1, 2 * messages), shared, &own);
  }
  for (int i = 1; i < 6; ++i) MPI_Comm_free(&comms[i]);
  void* back;
  int bytes;
  MPI_Buffer_detach(&back, &bytes);
  long all = 0;
  MPI_Reduce(&total, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%ld messages, seed %llu\n", all, (unsigned long long)seed);
  MPI_Finalize();
  return 0;
}
