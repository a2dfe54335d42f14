/* SPDX-License-Identifier: BSD-3-Clause */
/* The operation of examples/affine.bpf.c, attached to the test's eBPF code. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

struct affine {
  unsigned long long a, b;
};
/* right = right after left */
void compose(const struct affine* left, struct affine* right);

#ifdef __cplusplus
}
#endif
