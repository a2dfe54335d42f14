/* SPDX-License-Identifier: BSD-3-Clause */
/* The eBPF code as a part of a test (ebpf.c). */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct ura_xdp_slot;
/* The slots of a user's table; 0: there is none. */
void give_table(unsigned user, struct ura_xdp_slot* slots);
/* What the kernel would do with an Ethernet frame, as XDP_PASS, XDP_DROP, XDP_TX; an answer is in its place. */
int run_ebpf(void* frame, unsigned long bytes);

#ifdef __cplusplus
}
#endif
