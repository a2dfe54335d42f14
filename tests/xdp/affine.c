// SPDX-License-Identifier: BSD-3-Clause
/* The example's operation, as its eBPF code and as its function. */
#include "../../examples/affine.bpf.c"

void compose(const struct affine* left, struct affine* right);
void compose(const struct affine* left, struct affine* right) { ura_op_combine(left, right, right); }
