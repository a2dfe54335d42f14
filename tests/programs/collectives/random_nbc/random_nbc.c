// SPDX-License-Identifier: BSD-3-Clause
// Random non-blocking and persistent collectives against the MPI library's blocking ones.
//
//     random_nbc [--seed N] [--cases N] [--batch N] [--verbose] [--no-early-free] [--no-persistent] [--no-derived]
//                [--mostly-moving] [--mixed-engines] [--blocking] [--no-messages]
//
// With --blocking the operations are blocking ones, on derived types and in place as the others, and compared with
// those of communicators by MPI_Comm_idup, which are the MPI library's.
//
// A batch starts a few operations on a few communicators, with messages between them, completes them all in a random
// way, and compares every byte of every buffer with what the blocking operation leaves. Each batch is a function of the
// seed and its number alone: --batch N runs only that one.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "collective.h"
#include "communicators.h"
#include "completion.h"
#include "messages.h"

enum { kMaxOperations = 5, kBatchSeconds = 60, kMostFailures = 5 };

static char progress[512];  // what is running, for the alarm

static void too_slow(int signal_number) {
  (void)signal_number;
  static const char text[] = "random_nbc: a batch takes more than a minute: ";
  if (write(STDERR_FILENO, text, sizeof text - 1) < 0 || write(STDERR_FILENO, progress, strlen(progress)) < 0) _exit(3);
  abort();
}

static void describe(char* text, size_t bytes, const Collective* c) {
  int at = snprintf(text, bytes, "%s, %s, on %s, rank %d of %d, root %d%s%s", operation_name(c->operation),
                    form_name(c->form), c->comm_name, c->rank, c->size, c->root, c->in_place ? ", in place" : "",
                    c->free_early ? ", handles freed early" : "");
  if (c->reduction) {
    snprintf(text + at, bytes - (size_t)at, ", %s of %d %s", c->op.name, c->send.shape.count, c->op.type_name);
  } else if (c->operation != BARRIER) {
    at += snprintf(text + at, bytes - (size_t)at, ", %d and %d elements of", c->send.shape.count, c->recv.shape.count);
    for (int i = 0; i < c->signature.parts; ++i) {
      at += snprintf(text + at, bytes - (size_t)at, " %d %s", c->signature.repeat[i], c->signature.part[i]->name);
    }
  }
}

static void idle(Random* local) {
  if (one_in(local, 20)) usleep((useconds_t)below(local, 300));
  volatile int work = 0;
  for (int n = below(local, 3000); n > 0; --n) work = work + n;
}

typedef struct {
  uint64_t seed;
  bool verbose;
  bool messages;  // of the program, between the operations
  Abilities able;
  Communicator communicators[kCommunicators];
  MPI_Comm exact, any;  // for messages
} Setting;

// Starts and completes once what the batch has drawn, then judges it. Returns how many operations were wrong.
static int run_round(const Setting* setting, int batch, Collective* cases, int n, Random* shared, Random* local) {
  const bool interrupted = one_in(shared, 6);
  for (int i = 0; i < n; ++i) fill(&cases[i], local);
  // Persistent operations may be started in any order; the others in the same order everywhere.
  int order[kMaxOperations];
  for (int i = 0; i < n; ++i) order[i] = i;
  int persistent[kMaxOperations];
  int persistents = 0;
  for (int i = 0; i < n; ++i) {
    if (is_persistent(&cases[i])) persistent[persistents++] = i;
  }
  shuffle(local, persistent, persistents);
  for (int i = 0, k = 0; i < n; ++i) {
    if (is_persistent(&cases[i])) order[i] = persistent[k++];
  }
  MPI_Request requests[kMaxOperations + 2 * kMessages + 1];
  MPI_Status statuses[kMaxOperations + 2 * kMessages + 1];
  for (int i = 0; i < n; ++i) {
    start(&cases[order[i]]);
    idle(local);
  }
  Messages messages = {0};
  if (setting->messages) post_messages(&messages, setting->exact, setting->any, shared, local);
  if (interrupted) {  // the MPI library's own collective in the midst of ours, on a communicator that ours use too
    int sum = 0;
    const int one = 1;
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  }
  int total = 0;
  for (int i = 0; i < n; ++i) requests[total++] = cases[i].request;
  requests[total++] = MPI_REQUEST_NULL;
  for (int i = 0; i < messages.requests; ++i) requests[total++] = messages.request[i];
  const char* way = complete(requests, statuses, total, local);
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    char text[400];
    char verdict[200];
    if (is_persistent(&cases[i])) {
      if (requests[i] != cases[i].request) {
        fprintf(stderr, "random_nbc: batch %d: completing a persistent request by %s changed its handle\n", batch, way);
        ++wrong;
      }
    } else if (requests[i] != MPI_REQUEST_NULL) {
      fprintf(stderr, "random_nbc: batch %d: %s left a request that is not null\n", batch, way);
      ++wrong;
    }
    if (!judge(&cases[i], verdict, sizeof verdict)) {
      describe(text, sizeof text, &cases[i]);
      fprintf(stderr, "random_nbc: wrong: --seed %llu --batch %d: %s; completed by %s: %s\n",
              (unsigned long long)setting->seed, batch, text, way, verdict);
      ++wrong;
    }
  }
  if (!check_messages(&messages, statuses + n + 1)) {
    fprintf(stderr,
            "random_nbc: wrong: --seed %llu --batch %d: a message of the program was changed; completed by %s\n",
            (unsigned long long)setting->seed, batch, way);
    ++wrong;
  }
  // A rank that is a round ahead must not send to a receive of this round that takes from anybody.
  if (messages.anybody) MPI_Barrier(setting->exact);
  return wrong;
}

// What hosts do rightly. (MPICH 5's MPI_Testall fails with its own persistent collectives. Open MPI 5's MPI_Ialltoallw
// in place takes a tag only on ranks that have any elements: the next operation waits for ever for those that have
// none.)
static Abilities of_library(Abilities all) {
#if defined(OPEN_MPI)
  return (Abilities){.persistent = all.persistent, .user_operators = all.user_operators, .blocking = all.blocking};
#else
  return (Abilities){.blocking = all.blocking, .typed_in_place = true};
#endif
}

// Returns how many operations were wrong; `*done` counts comparisons.
static int run_batch(const Setting* setting, int batch, int world_rank, int* done) {
  Random shared = random_of(setting->seed, (uint64_t)batch, 0);
  Random local = random_of(setting->seed, (uint64_t)batch, 1 + (uint64_t)world_rank);
  static Collective cases[kMaxOperations];
  const int operations = between(&shared, 1, kMaxOperations);
  int n = 0;
  snprintf(progress, sizeof progress, "--seed %llu --batch %d\n", (unsigned long long)setting->seed, batch);
  for (int k = 0; k < operations; ++k) {
    const int which = random_communicator(&shared);
    const Communicator* where = &setting->communicators[which];
    const uint64_t seed = random_next(&shared);
    if (where->comm == MPI_COMM_NULL) continue;
    Random of_case = random_of(seed, 0, 0);
    const Abilities able = which < kKnown ? setting->able : of_library(setting->able);
    prepare(&cases[n], where, able, &of_case, &local);
    if (setting->verbose) {
      char text[400];
      describe(text, sizeof text, &cases[n]);
      fprintf(stderr, "batch %d rank %d: %s\n", batch, world_rank, text);
    }
    if (is_persistent(&cases[n])) initialise(&cases[n]);
    ++n;
  }
  const int rounds = one_in(&shared, 2) ? 1 : between(&shared, 1, 3);
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    wrong += run_round(setting, batch, cases, n, &shared, &local);
    *done += operations;
  }
  for (int i = 0; i < n; ++i) discard(&cases[i]);
  return wrong;
}

static const char* argument(int argc, char** argv, const char* name) {
  for (int i = 1; i + 1 < argc; ++i) {
    if (strcmp(argv[i], name) == 0) return argv[i + 1];
  }
  return NULL;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const char* text = argument(argc, argv, "--seed");
  Setting setting = {.seed = text != NULL ? strtoull(text, NULL, 10) : 1, .messages = true};
  text = argument(argc, argv, "--cases");
  const int wanted = text != NULL ? atoi(text) : 3000;
  text = argument(argc, argv, "--batch");
  const int only = text != NULL ? atoi(text) : -1;
  setting.able = (Abilities){
      .early_free = true, .persistent = true, .derived_types = true, .user_operators = true, .typed_in_place = true};
  bool mixed = false;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--verbose") == 0) setting.verbose = true;
    if (strcmp(argv[i], "--no-early-free") == 0) setting.able.early_free = false;
    if (strcmp(argv[i], "--no-persistent") == 0) setting.able.persistent = false;
    if (strcmp(argv[i], "--no-derived") == 0) setting.able.derived_types = false;
    if (strcmp(argv[i], "--mostly-moving") == 0) setting.able.mostly_moving = true;
    if (strcmp(argv[i], "--mixed-engines") == 0) mixed = true;
    if (strcmp(argv[i], "--blocking") == 0) setting.able.blocking = true;
    if (strcmp(argv[i], "--no-messages") == 0) setting.messages = false;
  }
  signal(SIGALRM, too_slow);
  find_primitives();
  make_communicators(setting.communicators);
  if (setting.able.blocking) let_the_library_judge(setting.communicators);
  if (mixed) choose_engines(setting.communicators, setting.seed);
  MPI_Comm_dup(MPI_COMM_WORLD, &setting.exact);
  MPI_Comm_dup(MPI_COMM_WORLD, &setting.any);

  int done = 0;
  int wrong = 0;
  for (int batch = only < 0 ? 0 : only; done < wanted && wrong < kMostFailures; ++batch) {
    alarm(kBatchSeconds);
    int here = run_batch(&setting, batch, rank, &done);
    int everywhere = 0;
    MPI_Allreduce(&here, &everywhere, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += everywhere;
    if (only >= 0) break;
  }
  alarm(0);
  MPI_Allreduce(MPI_IN_PLACE, &wrong_operator_calls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) {
    printf("random_nbc: seed %llu, %d cases, %d wrong, %d calls of user functions with a wrong type\n",
           (unsigned long long)setting.seed, done, wrong, wrong_operator_calls);
  }
  MPI_Comm_free(&setting.exact);
  MPI_Comm_free(&setting.any);
  free_communicators(setting.communicators);
  MPI_Finalize();
  return wrong == 0 && wrong_operator_calls == 0 ? 0 : 1;
}
