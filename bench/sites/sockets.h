/* SPDX-License-Identifier: BSD-3-Clause */
// Plain TCP between rank 0 and the ranks of other sites: so many connections, dealt out to them in turn, a thread each
// at both ends.
#ifndef URAKATA_BENCH_SITES_SOCKETS_H
#define URAKATA_BENCH_SITES_SOCKETS_H

enum { MAX_SOCKETS = 512 };  // of rank 0, which has a descriptor and a thread for each

struct plain_sockets;

// Collective. Ranks from `home` on are at other sites. `count`: how many, a number of 1 to MAX_SOCKETS. `to_root`: they
// send, else rank 0 does.
struct plain_sockets* open_sockets(int rank, int ranks, int home, const char* count, int to_root);

// `bytes` in all, an equal part over each connection, to a byte. Returns when the own part is done: where it is sent
// when the kernel has all, elsewhere when all has come.
void move_sockets(struct plain_sockets* links, char* buffer, long bytes);

#endif
