/* SPDX-License-Identifier: BSD-3-Clause */
/* A reduction operation of a program's own as eBPF code, for `urakata kernel attach INTERFACE --op NAME=FILE` and
 * ura_op_kernel() of urakata.h. A file has one operation:
 *
 *     #include <urakata_op.bpf.h>
 *
 *     struct extreme { int value, place; };
 *     URA_OP(struct extreme) {
 *       *result = right->value > left->value ? *right : *left;
 *     }
 *
 *     clang -target bpf -mcpu=v3 -O2 -g -I /usr/include/x86_64-linux-gnu -c extreme.bpf.c
 *
 * The function's body has three pointers to elements: what the lower ranks give (`left`), what the next one does
 * (`right`), and `result`, which may be the same place as `left`: read what you need before you write. It computes
 * exactly what the MPI_User_function of the operation does on one element (with invec as `left`, inoutvec as `right`
 * and then as `result`), since where a rank's own data come last that function computes the result. The element is what
 * MPI_Type_contiguous() and its like make without holes: MPI's size of the datatype is sizeof(type).
 *
 * The kernel's verifier reads all of it when it is attached: no loops without an end that it sees, no memory but the
 * three elements and little of the stack, no floating-point instructions: float and double are added, multiplied and
 * compared in integers, from the bits of one in a __u64, by ura_add_f64() and its like below. */
#ifndef URAKATA_OP_BPF_H
#define URAKATA_OP_BPF_H

/* libbpf's headers need the kernel's before them. */
// clang-format off
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
// clang-format on

#include "urakata_ieee.h"

/* Exactly as processors do, with subnormals, rounding to nearest even; which NaN comes out may differ. */
#define URA_FLOATS(bits)                                                                             \
  URA_IEEE_APART __u64 ura_add_f##bits(__u64 a, __u64 b) { return ura_add(ura_binary##bits, a, b); } \
  URA_IEEE_APART __u64 ura_mul_f##bits(__u64 a, __u64 b) { return ura_mul(ura_binary##bits, a, b); } \
  URA_IEEE_APART int ura_less_f##bits(__u64 a, __u64 b) { return ura_less(ura_binary##bits, a, b); }
URA_FLOATS(32)
URA_FLOATS(64)

#define URA_OP_BYTES 1408 /* of a row: all elements that a rank gives */

struct ura_op_row {
  __u8 bytes[URA_OP_BYTES];
};

/* The attached eBPF code has eight of these, each of which is replaced by that of a file: element by element,
 * result = left (op) right, of `bytes` bytes. 0: done. */
#define URA_OP_FUNCTION(number)                                                                                 \
  int ura_op_##number(const struct ura_op_row* left, const struct ura_op_row* right, struct ura_op_row* result, \
                      __u32 bytes)

struct ura_op_rows {
  const struct ura_op_row* left;
  const struct ura_op_row* right;
  struct ura_op_row* result;
};

/* ura_op_combine() is a function of its own, so that its type tells who attaches it how large an element is. */
#define URA_OP(type)                                                                                            \
  typedef type ura_op_element;                                                                                  \
  static void ura_op_combine(const ura_op_element* left, const ura_op_element* right, ura_op_element* result);  \
  static long ura_op_step(__u32 i, struct ura_op_rows* rows) {                                                  \
    if (i >= URA_OP_BYTES / sizeof(type)) return 1;                                                             \
    ura_op_combine((const ura_op_element*)&rows->left->bytes[i * sizeof(type)],                                 \
                   (const ura_op_element*)&rows->right->bytes[i * sizeof(type)],                                \
                   (ura_op_element*)&rows->result->bytes[i * sizeof(type)]);                                    \
    return 0;                                                                                                   \
  }                                                                                                             \
  URA_OP_FUNCTION(0) {                                                                                          \
    struct ura_op_rows rows = {left, right, result};                                                            \
    if (!left || !right || !result) return 1;                                                                   \
    bpf_loop(bytes / sizeof(type), ura_op_step, &rows, 0);                                                      \
    return 0;                                                                                                   \
  }                                                                                                             \
  __attribute__((noinline)) static void ura_op_combine(const ura_op_element* left, const ura_op_element* right, \
                                                       ura_op_element* result)

#endif
