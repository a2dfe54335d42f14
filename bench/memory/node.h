/* SPDX-License-Identifier: BSD-3-Clause */
// What a node's memory holds for this job, as the kernel accounts for it.
#ifndef URAKATA_BENCH_MEMORY_NODE_H
#define URAKATA_BENCH_MEMORY_NODE_H

// All in KiB. A page that several processes have is split between them, so that a sum over processes counts it once.
struct node_memory {
  long pss;          // proportional set size, page tables not among it
  long page_tables;  // page tables of the lowest level and above (VmPTE)
  long anonymous;    // part of pss: private memory
  long shared;       // part of pss: shared memory and tmpfs
  long beside;       // pss and page tables of processes beside the ranks (proxy processes); part of the above
  int spaces;        // address spaces counted
};

// Adds up the processes of this session and the children of its leader's parent. It counts ranks of this program, proxy
// processes (urakata-exec), tasks of a space and the space daemon. Tasks and daemon of a space have the same memory: it
// is counted once. Launchers are left out, with and without Urakata. One job of a program in a session at a time.
// Returns 0, or -1 where /proc cannot be read.
int read_node_memory(struct node_memory* all);

#endif
