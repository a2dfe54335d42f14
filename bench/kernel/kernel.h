/* SPDX-License-Identifier: BSD-3-Clause */
// What the parts of bench/kernel share.
#ifndef URAKATA_BENCH_KERNEL_H
#define URAKATA_BENCH_KERNEL_H

#include <stdbool.h>
#include <stddef.h>

#include "timing.h"

// How a relay hands on what comes.
enum method {
  COLLECTIVE,  // MPI_Ibcast: the MPI library's own, or by the engine that Urakata was started with
  EXPLICIT,    // the program's own MPI_Irecv, MPI_Isend and MPI_Test
  BLOCKED,     // a thread of the program that blocks in recv() and send() on sockets: what any engine has to beat
};

struct settings {
  enum method method;
  long sizes[64];
  int size_count;
  int repetitions;
  double test_us;    // between two tests of EXPLICIT in part `hop`
  double most_ns;    // that its relay, or a rank of part `group`, computes without a call, where nothing comes
  long product;      // edge of the matrices in part `lost`
  double budget_ns;  // for one size in part `group`
};

// Parts: each measures all sizes and prints a JSON object for each.
void measure_hop(const struct settings* settings);
void measure_lost(const struct settings* settings);
void measure_group(const struct settings* settings);
void measure_small(const struct settings* settings);
void measure_own(const struct settings* settings);

// --- sockets of the program's own between the ranks of a relay ---

enum { SOURCE, RELAY, SINK, RELAY_RANKS };

// A connected socket to each other rank; sockets[own rank] is left alone. Collective over MPI_COMM_WORLD.
void open_sockets(int* sockets);
void tell(int socket);      // one byte
void wait_for(int socket);  // sleeps until it is there
void send_all(int socket, const void* bytes, size_t count);
void receive_all(int socket, void* bytes, size_t count);

// --- what a core loses while it computes without a call ---

// A loop that does nothing but read the processor's counter, which is no call, finds what interrupts it: a turn that
// takes longer than a few others was interrupted for the rest of its time.
static inline unsigned long long ticks(void) {
#if defined(__x86_64__) || defined(__i386__)
  return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
  unsigned long long value;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return (unsigned long long)now_ns();
#endif
}

struct loss {
  double ns;     // in all
  long breaks;   // interruptions
  double spent;  // of the loop, in all
};

// Turns of an undisturbed loop, and what this core loses when nothing goes on, for each nanosecond. Once, by each rank.
struct calm {
  double tick_ns;            // of the counter
  unsigned long long limit;  // ticks of a turn that was interrupted
  double turn;               // ticks of one that was not
  double lost;
};
struct calm measure_calm(void);

// Computes until the byte has the value, for at most `most_ns`; adds what was lost meanwhile. False: it has not come.
bool compute_until(const volatile unsigned char* byte, unsigned char value, double most_ns, const struct calm* calm,
                   struct loss* loss);
// The same for a time.
void compute_for(double ns, const struct calm* calm, struct loss* loss);

// --- who takes the interrupts ---

// On which core packets are taken in (softirq NET_RX), and which cores others interrupt: to run a function there, or to
// have the scheduler look there, as for the work of a chain.
enum interrupt_kind { PACKETS, FUNCTION_CALLS, RESCHEDULES, INTERRUPT_KINDS };
enum { MOST_CORES = 1024 };  // those above are not counted

// Of the whole machine since its start.
struct interrupts {
  bool known;
  double counts[INTERRUPT_KINDS][MOST_CORES];
};
void count_interrupts(struct interrupts* counted);
// Into an open JSON object: for each kind and core what came between, for each operation; cores without any are left
// out. Nothing where the kernel does not show it.
void print_interrupts(const struct interrupts* before, const struct interrupts* after, int operations);

int io_workers(void);  // kernel threads of io_uring that work for this process

#endif
