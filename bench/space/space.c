// SPDX-License-Identifier: BSD-3-Clause
// Messages between two ranks of a node, plain MPI: half round trips, and how many messages and bytes a second pass one
// way with several outstanding. The floor stands beside: a cache line that goes to and fro between two threads of rank
// 0 on the same two cores, and memcpy. Each rank pins itself to a core of its own among those that the launcher gave
// it.
//
// All is measured in turns of a millisecond or so each: each turn takes the floor and every size once, so that what is
// compared runs close together, and a turn that something disturbs does not decide.
// Rank 0 prints the median over the turns, the fastest turn, and the quartiles, one JSON object a line:
//   {"measure": "setup", "cores": [0, 1], "space": true}
//   {"measure": "line", "bytes": 64, "ns": 140.2, "fast_ns": 139.0, "low_ns": 139.8, "high_ns": 141.0,
//    "turns": {"ns": [140.2, ...]}}
// measure is one of line (one way), half-round-trip (the usual ping-pong), persistent (the same by persistent
// requests), fresh (one message that the sender has just written and the receiver reads), memcpy and stream (the time
// for one message of many; has "window" too), and barrier (one MPI_Barrier of many). Barriers and half round trips have
// "over_line", too: in each turn over the line of that turn, the median; persistent ones "over_half_round_trip"
// likewise. These are the ratios to believe where a virtual machine's cores are now near each other, now far. What
// arrives is compared with what was sent.
#define _GNU_SOURCE
#include <stdbool.h>

#include "arguments.h"
#include "line.h"
#include "loaded.h"
#include "turns.h"

static const char usage[] =
    "usage: space [--measure LIST] [--sizes LIST] [--turns N] [--budget-ms N] [--window N]\n"
    "             [--together I/N:FILE]\n"
    "  --measure    of line, memcpy, latency, persistent, fresh, stream, barrier (all but barrier)\n"
    "  --sizes      message sizes in bytes, with K and M (0,1,2,4 ... 4M); of streams and memcpy those above 0\n"
    "  --turns      how often each is measured (21)\n"
    "  --budget-ms  after so long no further turn begins, but for the first three (3000); not where jobs take turns\n"
    "  --window     messages outstanding in a stream; fewer where they would be more than 8 MiB (64)\n" TOGETHER_USAGE;

enum {
  MOST_WINDOW = 256,
  WINDOW_BYTES = 8 << 20,
  LARGEST_SIZE = 64 << 20,
  LEAST_TURNS = 3,
  MOST_TRIPS = 300,
  TAG = 1,
  GO_TAG = 2
};

// The names, in the order of `enum measure`.
static const char* const measures[] = {"line", "memcpy", "latency", "persistent", "fresh", "stream", "barrier"};
enum measure { LINE, MEMCPY, LATENCY, PERSISTENT, FRESH, STREAM, BARRIER, MEASURES };

struct settings {
  bool wanted[MEASURES];
  long sizes[MAX_LIST];
  int size_count;
  int turns;
  double budget_ns;
  int window;
  const char* together;
};

static int rank;
// The cores that the two ranks run on.
static int cores[2];
static char *out, *in;

static struct settings parse(int argc, char** argv) {
  static char all_sizes[] = "0,1,2,4,8,16,32,64,128,256,512,1K,2K,4K,8K,16K,32K,64K,128K,256K,512K,1M,2M,4M";
  static char all_measures[] = "line,memcpy,latency,persistent,fresh,stream";
  char *sizes = all_sizes, *wanted = all_measures, *together = NULL;
  long turns = 21, budget_ms = 3000, window = 64;
  const struct option options[] = {{"--measure", &wanted, NULL, 0}, {"--sizes", &sizes, NULL, 0},
                                   {"--turns", NULL, &turns, 1},    {"--budget-ms", NULL, &budget_ms, 1},
                                   {"--window", NULL, &window, 1},  {"--together", &together, NULL, 0}};
  parse_options(argc, argv, options, 6, usage);
  struct settings s = {
      .turns = parse_turns(turns), .budget_ns = (double)budget_ms * 1e6, .window = (int)window, .together = together};
  if (s.window > MOST_WINDOW) fail("--window: at most %d", MOST_WINDOW);
  s.size_count = parse_numbers("--sizes", sizes, 0, s.sizes);
  for (int i = 0; i < s.size_count; ++i)
    if (s.sizes[i] > LARGEST_SIZE) fail("--sizes: at most %d", LARGEST_SIZE);
  char* names[MAX_LIST];
  const int count = split_list("--measure", wanted, names);
  for (int i = 0; i < count; ++i) {
    int m = 0;
    while (m < MEASURES && strcmp(names[i], measures[m]) != 0) ++m;
    if (m == MEASURES)
      fail("--measure: '%s' is none of line, memcpy, latency, persistent, fresh, stream, barrier", names[i]);
    s.wanted[m] = true;
  }
  return s;
}

// Where the ranks sit ----------------------------------------------------------------------------------------------

// The first core that is allowed, other than `taken`; -1 where there is none.
static int first_core(const cpu_set_t* allowed, int taken) {
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (core != taken && CPU_ISSET((size_t)core, allowed)) return core;
  return -1;
}

// Two cores for the two ranks, from what each is allowed.
static void settle(void) {
  cpu_set_t allowed[2];
  sched_getaffinity(0, sizeof allowed[0], &allowed[rank]);
  MPI_Sendrecv(&allowed[rank], sizeof allowed[0], MPI_BYTE, 1 - rank, TAG, &allowed[1 - rank], sizeof allowed[0],
               MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  cores[0] = first_core(&allowed[0], -1);
  cores[1] = first_core(&allowed[1], cores[0]);
  if (cores[1] < 0) {
    cores[1] = first_core(&allowed[1], -1);
    cores[0] = first_core(&allowed[0], cores[1]);
  }
  if (cores[0] < 0) fail("space: both ranks may run on one core only, the same");
  pin(cores[rank]);
}

// The floor ----------------------------------------------------------------------------------------------------------

static double memcpy_ns(long bytes) {
  const long times = (1 << 20) / (bytes + 64) + 2;
  double begin = 0;
  for (long i = -times / 4 - 1; i < times; ++i) {
    if (i == 0) begin = now_ns();
    memcpy(in, out, (size_t)bytes);
    __asm__ volatile("" ::"r"(in), "r"(out) : "memory");
  }
  return (now_ns() - begin) / (double)times;
}

// Rank 0 works alone while rank 1 sleeps: the floor is measured on both cores.
static void begin_alone(void) {
  if (rank == 0) return;
  const struct timespec nap = {0, 1000000};
  for (int arrived = 0; !arrived; nanosleep(&nap, NULL))
    MPI_Iprobe(0, GO_TAG, MPI_COMM_WORLD, &arrived, MPI_STATUS_IGNORE);
  MPI_Recv(NULL, 0, MPI_BYTE, 0, GO_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void end_alone(void) {
  if (rank == 0) MPI_Send(NULL, 0, MPI_BYTE, 1, GO_TAG, MPI_COMM_WORLD);
}

// Messages -----------------------------------------------------------------------------------------------------------

static void fill(long bytes, int turn) { memset(out, 'a' + (turn + rank) % 26, (size_t)bytes); }

static void check(const char* what, long bytes, int turn, int from) {
  if (bytes == 0) return;
  if (in[0] != 'a' + (turn + from) % 26 || memcmp(in, in + 1, (size_t)bytes - 1) != 0)
    fail("space: %s of %ld bytes: something else arrived than was sent", what, bytes);
}

static double half_round_trip_ns(long bytes, int turn) {
  long trips = (2 << 20) / (bytes + 1000);
  if (trips < 4) trips = 4;
  const int size = (int)bytes;
  fill(bytes, turn);
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = 0;
  for (long i = -trips / 4 - 1; i < trips; ++i) {
    if (i == 0) begin = now_ns();
    if (rank == 0) {
      MPI_Send(out, size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD);
      MPI_Recv(in, size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
      MPI_Recv(in, size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      MPI_Send(out, size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD);
    }
  }
  const double took = now_ns() - begin;
  check("ping-pong", bytes, turn, 1 - rank);
  return took / (double)trips / 2;
}

// The same by persistent requests, each started and waited for in its turn.
static double persistent_ns(long bytes, int turn) {
  long trips = (2 << 20) / (bytes + 1000);
  if (trips < 4) trips = 4;
  const int size = (int)bytes;
  fill(bytes, turn);
  MPI_Request send, receive;
  MPI_Send_init(out, size, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD, &send);
  MPI_Recv_init(in, size, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD, &receive);
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = 0;
  for (long i = -trips / 4 - 1; i < trips; ++i) {
    if (i == 0) begin = now_ns();
    for (int half = 0; half < 2; ++half) {
      MPI_Request* const request = half == rank ? &send : &receive;
      MPI_Start(request);
      MPI_Wait(request, MPI_STATUS_IGNORE);
    }
  }
  const double took = now_ns() - begin;
  MPI_Request_free(&send);
  MPI_Request_free(&receive);
  check("persistent ping-pong", bytes, turn, 1 - rank);
  return took / (double)trips / 2;
}

// The median time from the call of MPI_Send to the return of the MPI_Recv that already waits, on the node's one clock,
// of messages that the sender has just written and the receiver reads: their lines are in the sender's cache only,
// while the buffers of a ping-pong, which nobody writes, stay in both.
static double fresh_ns(long bytes) {
  double mine[2][MOST_TRIPS], other[2][MOST_TRIPS];  // when each was sent, when each came
  long trips = (1 << 20) / (bytes + 4000);
  if (trips < 3) trips = 3;
  const int size = (int)bytes;
  MPI_Barrier(MPI_COMM_WORLD);
  for (long i = -1; i < trips; ++i) {
    const long place = i < 0 ? 0 : i;
    for (int sender = 0; sender < 2; ++sender) {
      if (rank == sender) {
        memset(out, (int)(i + sender) % 100, (size_t)bytes);
        mine[0][place] = now_ns();
        MPI_Send(out, size, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD);
      } else {
        MPI_Recv(in, size, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mine[1][place] = now_ns();
        if (bytes > 0 && (in[0] != (char)((i + sender) % 100) || memcmp(in, in + 1, (size_t)bytes - 1) != 0))
          fail("space: a message of %ld bytes: something else arrived than was sent", bytes);
      }
    }
  }
  MPI_Sendrecv(mine, sizeof mine, MPI_BYTE, 1 - rank, TAG, other, sizeof other, MPI_BYTE, 1 - rank, TAG, MPI_COMM_WORLD,
               MPI_STATUS_IGNORE);
  double times[2 * MOST_TRIPS];
  for (long i = 0; i < trips; ++i) {
    times[2 * i] = other[1][i] - mine[0][i];
    times[2 * i + 1] = mine[1][i] - other[0][i];
  }
  sort_samples(times, 2 * (int)trips);
  return quantile(times, 2 * (int)trips, 0.5);
}

static double barrier_ns(void) {
  enum { BARRIERS = 2000 };
  double begin = 0;
  for (int i = -BARRIERS / 4; i < BARRIERS; ++i) {
    if (i == 0) begin = now_ns();
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return (now_ns() - begin) / BARRIERS;
}

static int window_of(long bytes, int most) {
  const long fitting = bytes > 0 ? WINDOW_BYTES / bytes : most;
  return fitting < 1 ? 1 : fitting < most ? (int)fitting : most;
}

// Rank 0 sends `window` messages, each from a place of its own, and goes on when rank 1 says that all have arrived.
static double stream_ns(long bytes, int window, int turn) {
  MPI_Request requests[MOST_WINDOW];
  long rounds = (8 << 20) / ((bytes + 500) * window);
  if (rounds < 2) rounds = 2;
  const int size = (int)bytes;
  fill(bytes * window, turn);
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = 0;
  for (long round = -rounds / 4 - 1; round < rounds; ++round) {
    if (round == 0) begin = now_ns();
    for (int i = 0; i < window; ++i) {
      if (rank == 0)
        MPI_Isend(out + bytes * i, size, MPI_BYTE, 1, TAG, MPI_COMM_WORLD, &requests[i]);
      else
        MPI_Irecv(in + bytes * i, size, MPI_BYTE, 0, TAG, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
    if (rank == 0)
      MPI_Recv(NULL, 0, MPI_BYTE, 1, GO_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else
      MPI_Send(NULL, 0, MPI_BYTE, 0, GO_TAG, MPI_COMM_WORLD);
  }
  const double took = now_ns() - begin;
  if (rank == 1) check("stream", bytes * window, turn, 0);
  return took / ((double)rounds * window);
}

// Turns --------------------------------------------------------------------------------------------------------------

// One column of samples, a value for each turn.
struct series {
  double values[MOST_TURNS];
};

// What samples are divided by, turn by turn.
struct floor {
  const char* name;  // of the ratio; NULL: none
  const struct series* series;
};

// Sorts the samples. `floors`: two.
static void print_series(const char* measure, long bytes, int window, struct series* series, const struct floor* floors,
                         int turns) {
  if (rank != 0) return;
  const struct series in_turn = *series;
  printf("{\"measure\": \"%s\", \"bytes\": %ld, ", measure, bytes);
  if (window) printf("\"window\": %d, ", window);
  for (int f = 0; floors && f < 2 && floors[f].name; ++f) {
    double ratios[MOST_TURNS];
    for (int t = 0; t < turns; ++t) ratios[t] = series->values[t] / floors[f].series->values[t];
    sort_samples(ratios, turns);
    printf("\"%s\": %.4f, ", floors[f].name, quantile(ratios, turns, 0.5));
  }
  sort_samples(series->values, turns);
  printf("\"ns\": %.3f, \"fast_ns\": %.3f, \"low_ns\": %.3f, \"high_ns\": %.3f", quantile(series->values, turns, 0.5),
         series->values[0], quantile(series->values, turns, 0.25), quantile(series->values, turns, 0.75));
  print_turns(&(struct turn_values){"ns", in_turn.values}, 1, turns);
}

static void run(const struct settings* s) {
  struct series* const line = allocate(sizeof *line);
  struct series* by_size[MEASURES];
  for (int m = MEMCPY; m < MEASURES; ++m) by_size[m] = allocate(MAX_LIST * sizeof *line);
  const double begin = now_ns();
  int turns = 0;
  for (int more = 1; more; ++turns) {
    const int t = turns;
    turns_next();
    begin_alone();
    if (rank == 0) {
      if (s->wanted[LINE]) line->values[t] = line_ns(cores[1]);
      for (int i = 0; s->wanted[MEMCPY] && i < s->size_count; ++i)
        by_size[MEMCPY][i].values[t] = memcpy_ns(s->sizes[i]);
    }
    end_alone();
    if (s->wanted[BARRIER]) by_size[BARRIER]->values[t] = barrier_ns();
    for (int i = 0; i < s->size_count; ++i) {
      const long bytes = s->sizes[i];
      if (s->wanted[LATENCY]) by_size[LATENCY][i].values[t] = half_round_trip_ns(bytes, t);
      if (s->wanted[PERSISTENT]) by_size[PERSISTENT][i].values[t] = persistent_ns(bytes, t);
      if (s->wanted[FRESH]) by_size[FRESH][i].values[t] = fresh_ns(bytes);
      if (s->wanted[STREAM] && bytes > 0)
        by_size[STREAM][i].values[t] = stream_ns(bytes, window_of(bytes, s->window), t);
    }
    const int in_time = s->together != NULL || turns + 1 < LEAST_TURNS || now_ns() - begin < s->budget_ns;
    more = turns + 1 < s->turns && in_time;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  for (int i = 0; i < s->size_count; ++i) {
    const long bytes = s->sizes[i];
    // The persistent form first, since what it is compared with is sorted when it is printed.
    const struct floor by_line = {s->wanted[LINE] ? "over_line" : NULL, line};
    const struct floor by_own = {s->wanted[LATENCY] ? "over_half_round_trip" : NULL, &by_size[LATENCY][i]};
    const struct floor two[] = {s->wanted[LINE] ? by_line : by_own, s->wanted[LINE] ? by_own : (struct floor){0}};
    const struct floor one[] = {by_line, {0}};
    if (s->wanted[PERSISTENT]) print_series("persistent", bytes, 0, &by_size[PERSISTENT][i], two, turns);
    if (s->wanted[LATENCY]) print_series("half-round-trip", bytes, 0, &by_size[LATENCY][i], one, turns);
    if (s->wanted[FRESH]) print_series("fresh", bytes, 0, &by_size[FRESH][i], NULL, turns);
    if (s->wanted[MEMCPY] && bytes > 0) print_series("memcpy", bytes, 0, &by_size[MEMCPY][i], NULL, turns);
    if (s->wanted[STREAM] && bytes > 0)
      print_series("stream", bytes, window_of(bytes, s->window), &by_size[STREAM][i], NULL, turns);
  }
  const struct floor barrier_by_line[] = {{s->wanted[LINE] ? "over_line" : NULL, line}, {0}};
  if (s->wanted[BARRIER]) print_series("barrier", 0, 0, by_size[BARRIER], barrier_by_line, turns);
  if (s->wanted[LINE]) print_series("line", 64, 0, line, NULL, turns);
  free(line);
  for (int m = MEMCPY; m < MEASURES; ++m) free(by_size[m]);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const struct settings settings = parse(argc, argv);
  if (ranks != 2) fail("space: two ranks, not %d", ranks);
  print_loaded();
  settle();
  if (rank == 0)
    printf("{\"measure\": \"setup\", \"cores\": [%d, %d], \"space\": %s}\n", cores[0], cores[1],
           in_space() ? "true" : "false");
  long largest = WINDOW_BYTES;
  for (int i = 0; i < settings.size_count; ++i)
    if (settings.sizes[i] > largest) largest = settings.sizes[i];
  out = allocate((size_t)largest);
  in = allocate((size_t)largest);
  memset(out, 0, (size_t)largest);
  memset(in, 0, (size_t)largest);
  turns_join(settings.together);
  run(&settings);
  turns_leave();
  free(out);
  free(in);
  MPI_Finalize();
  return 0;
}
