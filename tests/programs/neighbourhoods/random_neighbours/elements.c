// SPDX-License-Identifier: BSD-3-Clause
#include "elements.h"

#include <stddef.h>

Base bases[kMostBases];
int base_count;

static void keep(int base, int which, MPI_Datatype made, int items, int extent) {
  Layout* const layout = &bases[base].layouts[which];
  *layout = (Layout){.items = items, .extent = extent};
  MPI_Type_create_resized(made, 0, extent * bases[base].extent, &layout->type);
  MPI_Type_commit(&layout->type);
  MPI_Type_free(&made);
}

static void make_layouts(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return;  // one that this MPI has not
  const int base = base_count++;
  MPI_Aint lower = 0;
  MPI_Type_get_extent(type, &lower, &bases[base].extent);
  const MPI_Aint extent = bases[base].extent;
  bases[base].type = type;
  MPI_Datatype made;
  bases[base].layouts[PLAIN] = (Layout){.type = type, .items = 1, .extent = 1};
  MPI_Type_contiguous(1, type, &made);
  keep(base, SPACED, made, 1, 3);  // an item, and two that are left alone
  const int one = 1;
  MPI_Type_create_hindexed(1, &one, &extent, type, &made);
  keep(base, SHIFTED, made, 1, 3);  // an item between two that are left alone
  MPI_Type_vector(2, 1, 3, type, &made);
  keep(base, VECTOR, made, 2, 4);
  const int counts[] = {1, 1};
  const MPI_Aint places[] = {extent, 5 * extent};
  MPI_Datatype three;
  MPI_Type_contiguous(3, type, &three);
  const MPI_Datatype types[] = {type, three};
  MPI_Type_create_struct(2, counts, places, types, &made);
  MPI_Type_free(&three);
  keep(base, STRUCT, made, 4, 8);
  const int sizes[] = {3, 4}, parts[] = {2, 2}, starts[] = {1, 1};
  MPI_Type_create_subarray(2, sizes, parts, starts, MPI_ORDER_C, type, &made);
  keep(base, SUBARRAY, made, 4, 12);
}

void make_all_layouts(void) {
  // Without MPI_C_LONG_DOUBLE_COMPLEX: with some layouts of it Open MPI 5.0.11 receives something else in each run.
  const MPI_Datatype types[] = {
      MPI_INT,
      MPI_CHAR,
      MPI_SIGNED_CHAR,
      MPI_UNSIGNED_CHAR,
      MPI_BYTE,
      MPI_PACKED,
      MPI_WCHAR,
      MPI_SHORT,
      MPI_UNSIGNED_SHORT,
      MPI_UNSIGNED,
      MPI_LONG,
      MPI_UNSIGNED_LONG,
      MPI_LONG_LONG,
      MPI_UNSIGNED_LONG_LONG,
      MPI_FLOAT,
      MPI_DOUBLE,
      MPI_LONG_DOUBLE,
      MPI_INT8_T,
      MPI_INT16_T,
      MPI_INT32_T,
      MPI_INT64_T,
      MPI_UINT8_T,
      MPI_UINT16_T,
      MPI_UINT32_T,
      MPI_UINT64_T,
      MPI_C_BOOL,
      MPI_C_FLOAT_COMPLEX,
      MPI_C_DOUBLE_COMPLEX,
      MPI_AINT,
      MPI_OFFSET,
      MPI_COUNT,
      MPI_FLOAT_INT,
      MPI_DOUBLE_INT,
      MPI_LONG_INT,
      MPI_2INT,
      MPI_SHORT_INT,
      MPI_LONG_DOUBLE_INT,
  };
  for (size_t i = 0; i < sizeof types / sizeof types[0]; ++i) make_layouts(types[i]);
}

void free_layouts(void) {
  for (int base = 0; base < base_count; ++base) {
    for (int i = PLAIN + 1; i < LAYOUTS; ++i) MPI_Type_free(&bases[base].layouts[i].type);
  }
}
