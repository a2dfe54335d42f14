// Blocking point-to-point between ranks 0 and 1: nothing here is Urakata's business, so nothing may become slower by
// it.
//
// Rank 0 prints a JSON object a size, and one for each call that goes nowhere (a partner of MPI_PROC_NULL):
//   {"kind": "pingpong", "bytes": 8, "batches": 200, "ns": 260.0}   half a round trip, as OSU's latency
//   {"kind": "call", "name": "MPI_Send", "batches": 200, "ns": 9.1}  one call
// The batches' mean times are the samples; ns is their median.
#define _GNU_SOURCE
#include "arguments.h"
#include "loaded.h"

static const char usage[] =
    "usage: bypass [--sizes LIST] [--batches N] [--batch-us N]\n"
    "  --sizes     message sizes in bytes, with K and M (8,64,512,4K,16K,64K)\n"
    "  --batches   batches a size (200)\n"
    "  --batch-us  about how long a batch takes (300)";

struct ends {
  int rank, partner;
  char* buffer;
};

static void ping_pong(const struct ends* ends, int bytes, int turns) {
  for (int i = 0; i < turns; ++i) {
    if (ends->rank == 0) {
      MPI_Send(ends->buffer, bytes, MPI_BYTE, ends->partner, 1, MPI_COMM_WORLD);
      MPI_Recv(ends->buffer, bytes, MPI_BYTE, ends->partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(ends->buffer, bytes, MPI_BYTE, ends->partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(ends->buffer, bytes, MPI_BYTE, ends->partner, 1, MPI_COMM_WORLD);
    }
  }
}

static void send_nowhere(const struct ends* ends, int bytes, int turns) {
  for (int i = 0; i < turns; ++i) MPI_Send(ends->buffer, bytes, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
}

static void receive_nowhere(const struct ends* ends, int bytes, int turns) {
  for (int i = 0; i < turns; ++i)
    MPI_Recv(ends->buffer, bytes, MPI_BYTE, MPI_PROC_NULL, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

typedef void (*subject)(const struct ends*, int bytes, int turns);

// Median time of one turn. All ranks take part and use the same numbers of turns.
static double measure(subject run, const struct ends* ends, int bytes, int batches, double batch_ns) {
  enum { TRIAL = 100 };
  run(ends, bytes, TRIAL);
  MPI_Barrier(MPI_COMM_WORLD);
  double before = now_ns();
  run(ends, bytes, TRIAL);
  double turns = batch_ns / ((now_ns() - before) / TRIAL) + 1;
  MPI_Bcast(&turns, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  double* const samples = allocate((size_t)batches * sizeof(double));
  for (int i = 0; i < batches; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    before = now_ns();
    run(ends, bytes, (int)turns);
    samples[i] = (now_ns() - before) / (int)turns;
  }
  sort_samples(samples, batches);
  const double median = quantile(samples, batches, 0.5);
  free(samples);
  return median;
}

int main(int argc, char** argv) {
  static char all_sizes[] = "8,64,512,4K,16K,64K";
  char* sizes = all_sizes;
  long batches_wanted = 200, batch_us = 300;
  MPI_Init(&argc, &argv);
  const struct option options[] = {
      {"--sizes", &sizes, NULL, 0}, {"--batches", NULL, &batches_wanted, 1}, {"--batch-us", NULL, &batch_us, 1}};
  parse_options(argc, argv, options, 3, usage);
  const int batches = (int)batches_wanted;
  const double batch_ns = (double)batch_us * 1e3;
  long bytes[MAX_LIST];
  const int size_count = parse_numbers("--sizes", sizes, 1, bytes);
  long largest = 0;
  for (int i = 0; i < size_count; ++i)
    if (bytes[i] > largest) largest = bytes[i];
  int ranks = 0;
  struct ends ends;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) fail("bypass wants exactly two ranks, not %d", ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &ends.rank);
  print_loaded();
  ends.partner = 1 - ends.rank;
  ends.buffer = allocate((size_t)largest);
  memset(ends.buffer, 0, (size_t)largest);

  for (int i = 0; i < size_count; ++i) {
    const double ns = measure(ping_pong, &ends, (int)bytes[i], batches, batch_ns) / 2;
    if (ends.rank == 0)
      printf("{\"kind\": \"pingpong\", \"bytes\": %ld, \"batches\": %d, \"ns\": %.2f}\n", bytes[i], batches, ns);
  }
  static const struct {
    const char* name;
    subject run;
  } calls[] = {{"MPI_Send", send_nowhere}, {"MPI_Recv", receive_nowhere}};
  for (int i = 0; i < 2; ++i) {
    const double ns = measure(calls[i].run, &ends, 1, batches, batch_ns);
    if (ends.rank == 0)
      printf("{\"kind\": \"call\", \"name\": \"%s\", \"batches\": %d, \"ns\": %.2f}\n", calls[i].name, batches, ns);
  }
  free(ends.buffer);
  MPI_Finalize();
  return 0;
}
