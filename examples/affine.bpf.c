/* A reduction operation of a program's own as eBPF code: the composition of maps x -> a x + b, which does not commute
 * (linear recurrences, and what is made of them). Numbers are modulo 2^64. own_operation.c uses it.
 *
 *   clang -target bpf -mcpu=v3 -O2 -g -I /usr/include/x86_64-linux-gnu -c affine.bpf.c
 *   sudo urakata kernel attach eth0 --user anna --op affine=affine.bpf.o     on every node, once */
#include <urakata_op.bpf.h>

struct affine {
  __u64 a, b;
};

URA_OP(struct affine) {
  const struct affine first = *left, then = *right;
  result->a = first.a * then.a;
  result->b = then.a * first.b + then.b;
}
// SPDX-License-Identifier: BSD-3-Clause
