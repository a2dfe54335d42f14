// SPDX-License-Identifier: BSD-3-Clause
// Messages of derived datatypes between two ranks of a node: halo patterns of known programs, and a sweep over block,
// stride and size. Run it with and without `urakata-exec --space`.
//
// A trip is what a program does with a halo: the sender writes what it sends, the message goes, the receiver reads what
// it got; then the other way round. Counted is the time from the call of MPI_Send to the return from the MPI_Recv that
// already waits, with the node's one clock. Without the writing and reading, lines that nobody changes would stay in
// both caches, or be copied by the same core in both directions, and a message would look cheaper than it is.
// Over all trips, by rank 0, one JSON object a line:
//   {"pattern": "nas-mg-x", "bytes": 131072, "us": 61.3, "fast_us": 60.2, "low_us": 60.8, "high_us": 63.0}
//   {"pattern": "sweep", "block": 8, "stride": 64, "bytes": 65536, "us": 17.1, "fast_us": 16.9, ...}
// us is the median, low and high are the quartiles, fast is the tenth part: what is left of noise when other programs
// run beside. A record ends with "turns": {"us": [...], "fast_us": [...]}, those of each turn.
//
// The patterns are those that the literature on derived datatypes uses (Schneider, Gerstenberger, Hoefler:
// Micro-applications for communication data access patterns and MPI datatypes, EuroMPI 2012), with shapes of our own.
#define _GNU_SOURCE
#include "arguments.h"
#include "loaded.h"
#include "patterns.h"
#include "turns.h"

static const char usage[] =
    "usage: layout [--patterns 0|1] [--blocks LIST] [--gaps LIST] [--sizes LIST] [--trips N] [--budget-ms N]\n"
    "              [--turns N] [--together I/N:FILE]\n"
    "  --patterns  1: the halo patterns (1)\n"
    "  --blocks    bytes of a block in the sweep (8,32,64,256,4K); 0: no sweep\n"
    "  --gaps      stride in blocks (2,4,16)\n"
    "  --sizes     payload bytes (1K,8K,64K,512K)\n"
    "  --trips     most trips for each point (400)\n"
    "  --budget-ms time for a point (10)\n" TURNS_USAGE;

enum { LARGEST_SPAN = 128 << 20, LINE = 64, LEAST_TRIPS = 5 };

static int rank, most_trips, turns;
static double budget_ns;

// Elements in memory: a rank sends the first type and receives the second. The places: one payload byte in each cache
// line that has some.
struct exchange {
  MPI_Datatype out, in;
  unsigned char* memory;
  size_t *out_places, *in_places;
  size_t out_count, in_count;
};

static size_t* places_of(MPI_Datatype type, int bytes, unsigned char* memory, size_t span, size_t* count) {
  unsigned char* ones = allocate((size_t)bytes);
  size_t* places = allocate((span / LINE + 1) * sizeof(size_t));
  int position = 0;
  memset(memory, 0, span);
  for (int i = 0; i < bytes; ++i) ones[i] = 1;
  MPI_Unpack(ones, bytes, &position, memory, 1, type, MPI_COMM_SELF);
  *count = 0;
  for (size_t i = 0; i < span; ++i) {
    if (memory[i] == 0) continue;
    places[(*count)++] = i;
    i |= LINE - 1;
  }
  free(ones);
  return places;
}

static void write_payload(const struct exchange* e) {
  for (size_t i = 0; i < e->out_count; ++i) e->memory[e->out_places[i]]++;
}

static void read_payload(const struct exchange* e) {
  unsigned sum = 0;
  for (size_t i = 0; i < e->in_count; ++i) sum += e->memory[e->in_places[i]];
  __asm__ volatile("" ::"r"(sum));
}

// `when`: for each trip when this rank's send began, and when its receive ended.
static void trips(const struct exchange* e, int count, double (*when)[2]) {
  for (int i = 0; i < count; ++i) {
    if (rank == 1) {
      MPI_Recv(e->memory, 1, e->in, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      when[i][1] = now_ns();
      read_payload(e);
    }
    write_payload(e);
    when[i][0] = now_ns();
    MPI_Send(e->memory, 1, e->out, 1 - rank, 1, MPI_COMM_WORLD);
    if (rank == 0) {
      MPI_Recv(e->memory, 1, e->in, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      when[i][1] = now_ns();
      read_payload(e);
    }
  }
}

// What rank 0 packs must be what rank 1 unpacks: the payload is numbered there, sent, and packed here.
static void check(const struct exchange* e, int bytes, size_t span) {
  unsigned char* packed = allocate((size_t)bytes);
  int position = 0;
  memset(e->memory, 0, span);
  for (int i = 0; i < bytes; ++i) packed[i] = (unsigned char)(i * 7 + i / 256);
  if (rank == 0) {
    MPI_Unpack(packed, bytes, &position, e->memory, 1, e->out, MPI_COMM_WORLD);
    MPI_Send(e->memory, 1, e->out, 1, 2, MPI_COMM_WORLD);
  } else {
    MPI_Recv(e->memory, 1, e->in, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < bytes; ++i) packed[i] = 0;
    MPI_Pack(e->memory, 1, e->in, packed, bytes, &position, MPI_COMM_WORLD);
    for (int i = 0; i < bytes; ++i) {
      if (packed[i] != (unsigned char)(i * 7 + i / 256)) end_job("layout: byte %d of %d arrived wrong", i, bytes);
    }
  }
  free(packed);
}

// `words`: what the line says of the point besides its bytes.
static void measure(const char* words, struct pattern pattern) {
  int bytes;
  MPI_Aint lower, extent;
  MPI_Type_commit(&pattern.out);
  if (pattern.in != pattern.out) MPI_Type_commit(&pattern.in);
  MPI_Type_size(pattern.out, &bytes);
  size_t span = 0;
  MPI_Datatype both[2] = {pattern.out, pattern.in};
  for (int i = 0; i < 2; ++i) {
    MPI_Type_get_true_extent(both[i], &lower, &extent);
    if (lower + extent > (MPI_Aint)span) span = (size_t)(lower + extent);
  }
  struct exchange e = {.out = pattern.out, .in = pattern.in, .memory = allocate(span)};
  e.out_places = places_of(e.out, bytes, e.memory, span, &e.out_count);
  e.in_places = places_of(e.in, bytes, e.memory, span, &e.in_count);
  check(&e, bytes, span);
  const size_t most = (size_t)(most_trips + turns);
  double(*own)[2] = allocate(most * sizeof *own);
  double(*other)[2] = allocate(most * sizeof *other);
  double* values = allocate(most * 2 * sizeof *values);

  const double begin = now_ns();
  trips(&e, LEAST_TRIPS, own);
  double fitting = budget_ns / ((now_ns() - begin) / LEAST_TRIPS);
  MPI_Bcast(&fitting, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const int all = fitting > most_trips ? most_trips : fitting < LEAST_TRIPS ? LEAST_TRIPS : (int)fitting;
  const int of_turn = (all + turns - 1) / turns, count = of_turn * turns;
  for (int t = 0; t < turns; ++t) {
    turns_next();
    trips(&e, 1, own + t * of_turn);
    trips(&e, of_turn, own + t * of_turn);
  }
  MPI_Sendrecv(own, 2 * count, MPI_DOUBLE, 1 - rank, 3, other, 2 * count, MPI_DOUBLE, 1 - rank, 3, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  if (rank == 0) {
    for (int i = 0; i < count; ++i) {
      values[2 * i] = other[i][1] - own[i][0];
      values[2 * i + 1] = own[i][1] - other[i][0];
    }
    double medians[MOST_TURNS], fast[MOST_TURNS];
    for (int t = 0; t < turns; ++t) {
      double* const own_values = values + 2 * t * of_turn;
      sort_samples(own_values, 2 * of_turn);
      medians[t] = quantile(own_values, 2 * of_turn, 0.5) / 1e3;
      fast[t] = quantile(own_values, 2 * of_turn, 0.1) / 1e3;
    }
    sort_samples(values, 2 * count);
    printf("{%s, \"bytes\": %d, \"us\": %.4f, \"fast_us\": %.4f, \"low_us\": %.4f, \"high_us\": %.4f", words, bytes,
           quantile(values, 2 * count, 0.5) / 1e3, quantile(values, 2 * count, 0.1) / 1e3,
           quantile(values, 2 * count, 0.25) / 1e3, quantile(values, 2 * count, 0.75) / 1e3);
    const struct turn_values of_turns[] = {{"us", medians}, {"fast_us", fast}};
    print_turns(of_turns, 2, turns);
  }
  free(values);
  free(other);
  free(own);
  free(e.in_places);
  free(e.out_places);
  free(e.memory);
  MPI_Type_free(&pattern.out);
  if (e.in != e.out) MPI_Type_free(&pattern.in);
}

int main(int argc, char** argv) {
  static char all_blocks[] = "8,32,64,256,4K", all_gaps[] = "2,4,16", all_sizes[] = "1K,8K,64K,512K";
  char *blocks = all_blocks, *gaps = all_gaps, *sizes = all_sizes, *together = NULL;
  long patterns = 1, trips_wanted = 400, budget_ms = 10, turns_wanted = 1;
  int ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) fail("layout: two ranks");
  const struct option options[] = {{"--patterns", NULL, &patterns, 0},
                                   {"--blocks", &blocks, NULL, 0},
                                   {"--gaps", &gaps, NULL, 0},
                                   {"--sizes", &sizes, NULL, 0},
                                   {"--trips", NULL, &trips_wanted, LEAST_TRIPS},
                                   {"--budget-ms", NULL, &budget_ms, 1},
                                   {"--turns", NULL, &turns_wanted, 1},
                                   {"--together", &together, NULL, 0}};
  parse_options(argc, argv, options, 8, usage);
  turns = parse_turns(turns_wanted);
  most_trips = (int)trips_wanted;
  budget_ns = (double)budget_ms * 1e6;
  print_loaded();

  turns_join(together);
  char words[128];
  for (int p = 0; patterns && p < PATTERNS; ++p) {
    snprintf(words, sizeof words, "\"pattern\": \"%s\"", pattern_names[p]);
    measure(words, make_pattern((enum pattern_name)p));
  }
  long block[MAX_LIST], gap[MAX_LIST], size[MAX_LIST];
  const int block_count = parse_numbers("--blocks", blocks, 0, block);
  const int gap_count = parse_numbers("--gaps", gaps, 2, gap);
  const int size_count = parse_numbers("--sizes", sizes, 1, size);
  for (int s = 0; s < size_count; ++s) {
    for (int b = 0; b < block_count; ++b) {
      for (int g = 0; block[b] != 0 && g < gap_count; ++g) {
        const long count = size[s] / block[b];
        const long stride = gap[g] * block[b];
        if (count < 2 || count * stride > LARGEST_SPAN) continue;
        snprintf(words, sizeof words, "\"pattern\": \"sweep\", \"block\": %ld, \"stride\": %ld", block[b], stride);
        struct pattern pattern;
        MPI_Type_create_hvector((int)count, (int)block[b], stride, MPI_BYTE, &pattern.out);
        pattern.in = pattern.out;
        measure(words, pattern);
      }
    }
  }
  turns_leave();
  MPI_Finalize();
  return 0;
}
