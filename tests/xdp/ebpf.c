// SPDX-License-Identifier: BSD-3-Clause
// The eBPF code as a function of the test: urakata_reduce(), on the tables that give_table() has named.
#include "ebpf.h"

#include <string.h>

#include "../../src/xdp/reduce.bpf.c"

static struct ura_xdp_slot* tables[URA_XDP_USERS];

void give_table(unsigned user, struct ura_xdp_slot* slots) { tables[user] = slots; }

void* bpf_map_lookup_elem(void* map, const void* key) {
  __u32 number;
  memcpy(&number, key, sizeof number);
  if (map == &users) return number < URA_XDP_USERS ? tables[number] : 0;
  return number < URA_XDP_SLOTS ? (struct ura_xdp_slot*)map + number : 0;
}

long bpf_xdp_load_bytes(struct fake_packet* packet, __u32 offset, void* to, __u32 bytes) {
  if (packet->data + offset + bytes > packet->data_end) return -1;
  memcpy(to, (const void*)(packet->data + offset), bytes);
  return 0;
}

long bpf_xdp_store_bytes(struct fake_packet* packet, __u32 offset, const void* from, __u32 bytes) {
  if (packet->data + offset + bytes > packet->data_end) return -1;
  memcpy((void*)(packet->data + offset), from, bytes);
  return 0;
}

int run_ebpf(void* frame, unsigned long bytes) {
  struct fake_packet packet = {(unsigned long)frame, (unsigned long)frame + bytes};
  return urakata_reduce(&packet);
}
