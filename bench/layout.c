// Messages of derived datatypes between two ranks of a node: half a round trip, in place, of halo patterns of known
// programs and of a sweep over block, stride and size. Run it with and without `urakata-exec --space`.
//
// The ranks send and receive the same elements in turn, so that what is sent was last written by the sender, as in a
// program. Of each turn the mean over its trips counts; the median over turns is printed, one JSON object a line, by
// rank 0:
//   {"pattern": "nas-mg-x", "bytes": 131072, "us": 61.3, "fast_us": 60.2, "low_us": 60.8, "high_us": 63.0}
//   {"pattern": "sweep", "block": 8, "stride": 64, "bytes": 65536, "us": 17.1, "fast_us": 16.9, ...}
// low and high are the quartiles, fast is the fastest turn: what is left of noise when other programs run beside.
//
// The patterns are those that the literature on derived datatypes uses (Schneider, Gerstenberger, Hoefler:
// Micro-applications for communication data access patterns and MPI datatypes, EuroMPI 2012), with shapes of our own.
#define _GNU_SOURCE
#include "arguments.h"
#include "layout_patterns.h"
#include "loaded.h"

static const char usage[] =
    "usage: layout [--patterns 0|1] [--blocks LIST] [--gaps LIST] [--sizes LIST] [--turns N] [--turn-us N]\n"
    "  --patterns  1: the halo patterns (1)\n"
    "  --blocks    bytes of a block in the sweep (8,32,64,256,4K); 0: no sweep\n"
    "  --gaps      stride in blocks (2,4,16)\n"
    "  --sizes     payload bytes (1K,8K,64K,512K)\n"
    "  --turns     turns for each point (5)\n"
    "  --turn-us   time for one turn (2000)";

enum { LARGEST_SPAN = 128 << 20, MOST_TURNS = 101, CHECKED = 7 };

static int rank, turns = 5;
static double turn_ns = 2e6;

// Elements in memory: a rank sends the first type and receives the second.
struct exchange {
  MPI_Datatype out, in;
  unsigned char* memory;
};

static void trip(const struct exchange* e) {
  if (rank == 0) {
    MPI_Send(e->memory, 1, e->out, 1, 1, MPI_COMM_WORLD);
    MPI_Recv(e->memory, 1, e->in, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  } else {
    MPI_Recv(e->memory, 1, e->in, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(e->memory, 1, e->out, 0, 1, MPI_COMM_WORLD);
  }
}

static double trips(const struct exchange* e, long count) {
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = now_ns();
  for (long i = 0; i < count; ++i) trip(e);
  return (now_ns() - begin) / (double)count / 2;
}

// What rank 0 packs must be what rank 1 unpacks: the payload is numbered there, sent, and packed here.
static void check(const struct exchange* e, int bytes, size_t span) {
  unsigned char* packed = allocate((size_t)bytes);
  int position = 0;
  memset(e->memory, 0, span);
  for (int i = 0; i < bytes; ++i) packed[i] = (unsigned char)(i * CHECKED + i / 256);
  if (rank == 0) {
    MPI_Unpack(packed, bytes, &position, e->memory, 1, e->out, MPI_COMM_WORLD);
    MPI_Send(e->memory, 1, e->out, 1, 2, MPI_COMM_WORLD);
  } else {
    MPI_Recv(e->memory, 1, e->in, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < bytes; ++i) packed[i] = 0;
    MPI_Pack(e->memory, 1, e->in, packed, bytes, &position, MPI_COMM_WORLD);
    for (int i = 0; i < bytes; ++i) {
      if (packed[i] == (unsigned char)(i * CHECKED + i / 256)) continue;
      fprintf(stderr, "layout: byte %d of %d arrived wrong\n", i, bytes);
      MPI_Abort(MPI_COMM_WORLD, 1);
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
  struct exchange e = {pattern.out, pattern.in, allocate(span)};
  check(&e, bytes, span);
  double values[MOST_TURNS];
  trips(&e, 5);
  double once = trips(&e, 10);
  MPI_Bcast(&once, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  const long count = once * 2 * 4 > turn_ns ? 4 : (long)(turn_ns / once / 2);
  for (int t = 0; t < turns; ++t) values[t] = trips(&e, count);
  sort_samples(values, turns);
  if (rank == 0) {
    printf("{%s, \"bytes\": %d, \"us\": %.4f, \"fast_us\": %.4f, \"low_us\": %.4f, \"high_us\": %.4f}\n", words, bytes,
           quantile(values, turns, 0.5) / 1e3, values[0] / 1e3, quantile(values, turns, 0.25) / 1e3,
           quantile(values, turns, 0.75) / 1e3);
    fflush(stdout);
  }
  free(e.memory);
  MPI_Type_free(&pattern.out);
  if (e.in != e.out) MPI_Type_free(&pattern.in);
}

int main(int argc, char** argv) {
  static char all_blocks[] = "8,32,64,256,4K", all_gaps[] = "2,4,16", all_sizes[] = "1K,8K,64K,512K";
  char *blocks = all_blocks, *gaps = all_gaps, *sizes = all_sizes;
  int patterns = 1, ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) fail("layout: two ranks");
  for (int i = 1; i < argc; i += 2) {
    const char* option = argv[i];
    char* value = i + 1 < argc ? argv[i + 1] : NULL;
    if (!value)
      fail("%s", usage);
    else if (strcmp(option, "--patterns") == 0)
      patterns = (int)parse_number(option, value, 0);
    else if (strcmp(option, "--blocks") == 0)
      blocks = value;
    else if (strcmp(option, "--gaps") == 0)
      gaps = value;
    else if (strcmp(option, "--sizes") == 0)
      sizes = value;
    else if (strcmp(option, "--turns") == 0)
      turns = (int)parse_number(option, value, 1);
    else if (strcmp(option, "--turn-us") == 0)
      turn_ns = (double)parse_number(option, value, 1) * 1e3;
    else
      fail("unknown option %s\n%s", option, usage);
  }
  if (turns > MOST_TURNS) fail("--turns: at most %d", MOST_TURNS);
  print_loaded();

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
  MPI_Finalize();
  return 0;
}
