/* SPDX-License-Identifier: BSD-3-Clause */
// What a cache line takes from core to core: the floor of all that ranks of a node tell each other. Needs _GNU_SOURCE
// and
// -pthread.
#ifndef URAKATA_BENCH_LINE_H
#define URAKATA_BENCH_LINE_H

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "timing.h"

enum { LINE_TRIPS = 5000 };

static void pin(int core) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET((size_t)core, &one);
  if (sched_setaffinity(0, sizeof one, &one) != 0) fail("cannot run on core %d", core);
}

static _Alignas(128) atomic_long there;
static _Alignas(128) atomic_long back;

static void* answer(void* core) {
  pin(*(int*)core);
  for (long i = 1; i <= LINE_TRIPS; ++i) {
    while (atomic_load_explicit(&there, memory_order_acquire) != i) {
    }
    atomic_store_explicit(&back, i, memory_order_release);
  }
  return NULL;
}

// Nanoseconds that a cache line takes from the caller's core, on which it stays, to that core, one way.
static double line_ns(int core) {
  atomic_store(&there, 0);
  atomic_store(&back, 0);
  pthread_t other;
  if (pthread_create(&other, NULL, answer, &core) != 0) fail("cannot start a thread");
  double begin = 0;
  for (long i = 1; i <= LINE_TRIPS; ++i) {
    if (i == LINE_TRIPS / 5 + 1) begin = now_ns();
    atomic_store_explicit(&there, i, memory_order_release);
    while (atomic_load_explicit(&back, memory_order_acquire) != i) {
    }
  }
  const double took = now_ns() - begin;
  pthread_join(other, NULL);
  return took / (LINE_TRIPS - LINE_TRIPS / 5) / 2;
}

#endif
