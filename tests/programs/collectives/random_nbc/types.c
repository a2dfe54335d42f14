// SPDX-License-Identifier: BSD-3-Clause
#include "types.h"

#include <stdbool.h>

enum { kMaxPrimitives = 80 };
Primitive primitives[kMaxPrimitives];
int primitive_count;

static void add(const char* name, MPI_Datatype type, Class class) {
  if (type == MPI_DATATYPE_NULL || primitive_count == kMaxPrimitives) return;
  int size = 0;
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  if (MPI_Type_size(type, &size) != MPI_SUCCESS || size <= 0) return;
  if (MPI_Type_get_extent(type, &lb, &extent) != MPI_SUCCESS) return;
  Primitive* p = &primitives[primitive_count++];
  *p = (Primitive){.name = name, .type = type, .class = class, .size = size, .extent = extent};
  if (class == CLASS_COMPLEX) p->value_size = size / 2;
}

static void add_pair(const char* name, MPI_Datatype type, int value_size, int value_float, int index_offset,
                     int index_float) {
  const int before = primitive_count;
  add(name, type, CLASS_PAIR);
  if (primitive_count == before) return;
  Primitive* p = &primitives[before];
  p->value_size = value_size;
  p->value_float = value_float;
  p->index_offset = index_offset;
  p->index_float = index_float;
}

#define ADD(name, class) add(#name, name, class)

void find_primitives(void) {
  MPI_Errhandler before;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  ADD(MPI_INT, CLASS_INTEGER);
  ADD(MPI_DOUBLE, CLASS_FLOAT);
  ADD(MPI_SIGNED_CHAR, CLASS_INTEGER);
  ADD(MPI_UNSIGNED_CHAR, CLASS_INTEGER);
  ADD(MPI_SHORT, CLASS_INTEGER);
  ADD(MPI_UNSIGNED_SHORT, CLASS_INTEGER);
  ADD(MPI_UNSIGNED, CLASS_INTEGER);
  ADD(MPI_LONG, CLASS_INTEGER);
  ADD(MPI_UNSIGNED_LONG, CLASS_INTEGER);
  ADD(MPI_LONG_LONG, CLASS_INTEGER);
  ADD(MPI_UNSIGNED_LONG_LONG, CLASS_INTEGER);
  ADD(MPI_INT8_T, CLASS_INTEGER);
  ADD(MPI_INT16_T, CLASS_INTEGER);
  ADD(MPI_INT32_T, CLASS_INTEGER);
  ADD(MPI_INT64_T, CLASS_INTEGER);
  ADD(MPI_UINT8_T, CLASS_INTEGER);
  ADD(MPI_UINT16_T, CLASS_INTEGER);
  ADD(MPI_UINT32_T, CLASS_INTEGER);
  ADD(MPI_UINT64_T, CLASS_INTEGER);
  ADD(MPI_FLOAT, CLASS_FLOAT);
  ADD(MPI_LONG_DOUBLE, CLASS_FLOAT);
  ADD(MPI_C_FLOAT_COMPLEX, CLASS_COMPLEX);
  ADD(MPI_C_DOUBLE_COMPLEX, CLASS_COMPLEX);
  ADD(MPI_C_LONG_DOUBLE_COMPLEX, CLASS_COMPLEX);
  ADD(MPI_C_BOOL, CLASS_LOGICAL);
  ADD(MPI_BYTE, CLASS_BYTE);
  ADD(MPI_AINT, CLASS_MULTI);
  ADD(MPI_OFFSET, CLASS_MULTI);
  ADD(MPI_COUNT, CLASS_MULTI);
  ADD(MPI_CHAR, CLASS_MOVE);
  ADD(MPI_WCHAR, CLASS_MOVE);
  add_pair("MPI_FLOAT_INT", MPI_FLOAT_INT, 4, true, 4, false);
  add_pair("MPI_2INT", MPI_2INT, 4, false, 4, false);
// Blocking MPI_Reduce of Intel MPI 2021.18 of them is wrong on three ranks and more, from some 16 KiB up.
#if !defined(I_MPI_NUMVERSION)
  add_pair("MPI_DOUBLE_INT", MPI_DOUBLE_INT, 8, true, 8, false);
  add_pair("MPI_LONG_INT", MPI_LONG_INT, sizeof(long), false, sizeof(long), false);
  add_pair("MPI_SHORT_INT", MPI_SHORT_INT, 2, false, 4, false);
  add_pair("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, sizeof(long double), true, sizeof(long double), false);
#endif
// MPICH 4.0's blocking reductions of C++'s complex types end in a segmentation fault.
#if defined(MPI_CXX_BOOL) && !(defined(MPICH_NUMVERSION) && MPICH_NUMVERSION < 40100000)
  ADD(MPI_CXX_BOOL, CLASS_LOGICAL);
  ADD(MPI_CXX_FLOAT_COMPLEX, CLASS_COMPLEX);
  ADD(MPI_CXX_DOUBLE_COMPLEX, CLASS_COMPLEX);
#endif
#ifdef FORTRAN  // an MPI library built without Fortran knows these names but does not move them rightly
  ADD(MPI_INTEGER, CLASS_FORTRAN_INTEGER);
  ADD(MPI_REAL, CLASS_FLOAT);
  ADD(MPI_DOUBLE_PRECISION, CLASS_FLOAT);
  ADD(MPI_COMPLEX, CLASS_COMPLEX);
  ADD(MPI_DOUBLE_COMPLEX, CLASS_COMPLEX);
  ADD(MPI_LOGICAL,
      CLASS_MOVE);  // its reductions are the MPI library's, and MPICH 4.0's persistent forms fail in Testall
  ADD(MPI_CHARACTER, CLASS_MOVE);
  ADD(MPI_INTEGER1, CLASS_FORTRAN_INTEGER);
  ADD(MPI_INTEGER2, CLASS_FORTRAN_INTEGER);
  ADD(MPI_INTEGER4, CLASS_FORTRAN_INTEGER);
  ADD(MPI_INTEGER8, CLASS_FORTRAN_INTEGER);
  ADD(MPI_REAL4, CLASS_FLOAT);
  ADD(MPI_REAL8, CLASS_FLOAT);
  add_pair("MPI_2INTEGER", MPI_2INTEGER, 4, false, 4, false);
  add_pair("MPI_2REAL", MPI_2REAL, 4, true, 4, true);
  add_pair("MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION, 8, true, 8, true);
#endif
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&before);
}

static int has_padding(const Primitive* p) {
  const int part = p->class == CLASS_FLOAT ? p->size : p->value_size;
  return p->size != p->extent || part > 8;
}

// Open MPI 5.0 moves the wrong bytes, in MPI_Pack as in its messages, of repeated structures of complex numbers with
// gaps.
static bool fit_to_derive_from(const Primitive* p) {
#if defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION == 5
  return p->class != CLASS_COMPLEX;
#else
  (void)p;
  return true;
#endif
}

Signature random_signature(bool derived, Random* shared) {
  Signature s = {.derived = derived, .parts = derived && one_in(shared, 3) ? between(shared, 2, 3) : 1};
  for (int i = 0; i < s.parts; ++i) {
    do {  // hosts may or may not move padding; such types are met in reductions
      s.part[i] = &primitives[below(shared, primitive_count)];
    } while (has_padding(s.part[i]) || (derived ? !fit_to_derive_from(s.part[i]) : s.part[i]->class == CLASS_PAIR));
    s.repeat[i] = derived && one_in(shared, 3) ? between(shared, 2, 4) : 1;
  }
  return s;
}

Shape shape_of(MPI_Datatype type, int count) {
  Shape shape = {.type = type, .count = count};
  MPI_Aint lb = 0;
  MPI_Type_get_extent(type, &lb, &shape.extent);
  MPI_Type_get_true_extent(type, &shape.true_lb, &shape.true_extent);
  return shape;
}

void free_shape(Shape* shape) {
  if (shape->type != MPI_DATATYPE_NULL) MPI_Type_free(&shape->type);
}

// One unit: its parts in random places, with gaps, perhaps below the address, perhaps with an extent beyond.
static MPI_Datatype unit_type(const Signature* s, Random* local) {
  MPI_Datatype type;
  if (!s->derived || (s->parts == 1 && s->repeat[0] == 1 && one_in(local, 2))) {
    MPI_Type_dup(s->part[0]->type, &type);
    return type;
  }
  int order[3] = {0, 1, 2};
  shuffle(local, order, s->parts);
  const int grain = one_in(local, 4) ? 1 : 8;
  MPI_Aint at = grain * between(local, -6, 6);
  const MPI_Aint low = at;
  MPI_Aint displacement[3];
  MPI_Datatype types[3];
  int lengths[3];
  for (int i = 0; i < s->parts; ++i) {
    const int part = order[i];
    displacement[part] = at;
    types[part] = s->part[part]->type;
    lengths[part] = s->repeat[part];
    at += s->part[part]->extent * s->repeat[part] + grain * below(local, 4);
  }
  MPI_Datatype bare;
  MPI_Type_create_struct(s->parts, lengths, displacement, types, &bare);
  const MPI_Aint lb = low - grain * below(local, 3);
  MPI_Type_create_resized(bare, lb, at - lb + grain * below(local, 3), &type);
  MPI_Type_free(&bare);
  return type;
}

// `group` elements of `type` as one element, in one of MPI's ways. Frees `type`.
static MPI_Datatype grouped(MPI_Datatype type, int group, Random* local) {
  MPI_Datatype result;
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(type, &lb, &extent);
  int block = between(local, 1, group);
  while (group % block != 0) --block;
  const int blocks = group / block;
  int starts[64];
  int lengths[64];
  MPI_Aint offsets[64];
  const int gap = below(local, 3);
  for (int i = 0; i < blocks; ++i) {
    starts[i] = i * (block + gap);
    offsets[i] = i * (block * extent + 8 * gap);
    lengths[i] = block;
  }
  // Now and then backwards: the type map is then in another order than memory.
  if (one_in(local, 4)) {
    for (int i = 0; i < blocks / 2; ++i) {
      const int other = blocks - 1 - i;
      const int start = starts[i];
      const MPI_Aint offset = offsets[i];
      starts[i] = starts[other];
      offsets[i] = offsets[other];
      starts[other] = start;
      offsets[other] = offset;
    }
  }
  switch (below(local, 6)) {
    case 0:
      MPI_Type_contiguous(group, type, &result);
      break;
    case 1:
      MPI_Type_vector(blocks, block, block + gap, type, &result);
      break;
    case 2:
      MPI_Type_create_hvector(blocks, block, block * extent + 8 * gap, type, &result);
      break;
    case 3:
      MPI_Type_indexed(blocks, lengths, starts, type, &result);
      break;
    case 4:
      MPI_Type_create_hindexed(blocks, lengths, offsets, type, &result);
      break;
    default:
      MPI_Type_create_indexed_block(blocks, block, starts, type, &result);
      break;
  }
  MPI_Type_free(&type);
  return result;
}

Shape unit_shape(const Signature* signature, int units, Random* local) {
  MPI_Datatype type = unit_type(signature, local);
  MPI_Type_commit(&type);
  return shape_of(type, units);
}

Shape random_shape(const Signature* signature, int units, Random* local) {
  MPI_Datatype type = unit_type(signature, local);
  int count = units;
  for (int depth = signature->derived ? below(local, 3) : 0; depth > 0 && count > 1; --depth) {
    int group = between(local, 1, count < 48 ? count : 48);
    while (count % group != 0) --group;
    type = grouped(type, group, local);
    count /= group;
  }
  MPI_Type_commit(&type);
  return shape_of(type, count);
}
