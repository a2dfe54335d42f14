// SPDX-License-Identifier: BSD-3-Clause
/* The operation `max_and_place` of own_operations.c. */
#include <urakata_op.bpf.h>

struct extreme {
  int value, place;
};

URA_OP(struct extreme) {
  const struct extreme a = *left, b = *right;
  *result = (b.value != a.value ? b.value > a.value : b.place < a.place) ? b : a;
}
