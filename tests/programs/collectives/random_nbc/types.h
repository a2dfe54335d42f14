/* SPDX-License-Identifier: BSD-3-Clause */
// Predefined types, and random derived types that say the same (equal signature) in different ways (type maps).
#ifndef URAKATA_TESTS_TYPES_H
#define URAKATA_TESTS_TYPES_H

#include <stdbool.h>
#include <stddef.h>

#include "features.h"
#include "random.h"

typedef enum {
  CLASS_MOVE,     // may only be moved
  CLASS_INTEGER,  // C integer: every operation but minloc, maxloc
  CLASS_FORTRAN_INTEGER,
  CLASS_MULTI,  // MPI_AINT and its like
  CLASS_FLOAT,
  CLASS_COMPLEX,
  CLASS_LOGICAL,
  CLASS_BYTE,
  CLASS_PAIR
} Class;

typedef struct {
  const char* name;
  MPI_Datatype type;
  Class class;
  int size;  // payload bytes
  MPI_Aint extent;
  int value_size;    // pairs: bytes of the value; complex: of one part
  int value_float;   // pairs: the value is a floating point number
  int index_offset;  // pairs
  int index_float;   // pairs of Fortran: the index is of the value's type
} Primitive;

extern Primitive primitives[];
extern int primitive_count;

void find_primitives(void);

// A sequence of primitives: what one unit of a message consists of.
typedef struct {
  bool derived;
  int parts;
  const Primitive* part[3];
  int repeat[3];
} Signature;

// derived: false for one number, which all ranks see as such.
Signature random_signature(bool derived, Random* shared);

// How this rank sees `units` units of a signature: `count` elements of `type`.
typedef struct {
  MPI_Datatype type;
  int count;
  MPI_Aint extent;
  MPI_Aint true_lb;
  MPI_Aint true_extent;
} Shape;

// One unit an element, whatever `units` is (v-forms count in elements).
Shape unit_shape(const Signature* signature, int units, Random* local);
// Any grouping of the units into elements.
Shape random_shape(const Signature* signature, int units, Random* local);
Shape shape_of(MPI_Datatype type, int count);
void free_shape(Shape* shape);

#endif
