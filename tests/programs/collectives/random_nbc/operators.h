/* SPDX-License-Identifier: BSD-3-Clause */
// Reductions: which operation on which type, and values whose result does not depend on the order of evaluation.
#ifndef URAKATA_TESTS_OPERATORS_H
#define URAKATA_TESTS_OPERATORS_H

#include "types.h"

typedef struct {
  const char* name;  // of the operation
  const char* type_name;
  const Primitive* primitive;  // null for user-defined operations
  int user;                    // which user-defined operation, where primitive is null
  int product;                 // values are chosen so that products stay small
  MPI_Op op;                   // to be freed where primitive is null
  MPI_Datatype type;           // likewise
} Operator;

Operator random_operator(bool user, Random* shared);  // user: it may be a user-defined one
MPI_Op user_op(const Operator* o);                    // another handle of the same user-defined operation
void free_operator(Operator* o);

// `count` elements at `base` become legal operands.
void fill_operands(const Operator* o, char* base, int count, Random* local);
// Makes equal what may differ between two right results: padding, the sign of a complex zero.
void canonical(const Operator* o, char* base, int count);

extern int wrong_operator_calls;  // user functions called with another type than theirs

#endif
