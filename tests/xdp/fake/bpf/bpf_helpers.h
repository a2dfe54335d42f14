/* SPDX-License-Identifier: BSD-3-Clause */
/* What eBPF code is written with, for eBPF code that is a part of a test: maps are the test's memory, a packet is in
 * one piece. */
#pragma once

#define SEC(name)
#define __uint(name, value) int(*name)[value]
#define __type(name, value) value* name
#define __array(name, value) value* name
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))

struct fake_packet {
  unsigned long data;
  unsigned long data_end;
};
#define xdp_md fake_packet

void* bpf_map_lookup_elem(void* map, const void* key);

/* As the kernel's: until the function returns other than 0. */
#define bpf_loop(count, function, context, flags)                          \
  do {                                                                     \
    for (__u32 at_ = 0; at_ < (count) && !function(at_, context); ++at_) { \
    }                                                                      \
  } while (0)

long bpf_xdp_load_bytes(struct fake_packet* packet, __u32 offset, void* to, __u32 bytes);
long bpf_xdp_store_bytes(struct fake_packet* packet, __u32 offset, const void* from, __u32 bytes);
