/* SPDX-License-Identifier: BSD-3-Clause */
// What blocks of a neighbourhood's ends are made of: predefined types, and types made of each.
#pragma once

#include <mpi.h>

// Elements of which ends are made; those of both ends of an edge may differ.
typedef struct {
  MPI_Datatype type;
  int items, extent;  // of a base type: in one element, and from one to the next
} Layout;
enum { PLAIN, SPACED, SHIFTED, SINGLE, VECTOR = SINGLE, STRUCT, SUBARRAY, LAYOUTS };  // SINGLE: so many have one item
enum { kWhole = 4, kEvenly = 24 };  // items that all of them divide, of payload and of memory
enum { kMostBases = 64 };
typedef struct {
  MPI_Datatype type;
  MPI_Aint extent;
  Layout layouts[LAYOUTS];
} Base;
extern Base bases[kMostBases];
extern int base_count;

void make_all_layouts(void);
void free_layouts(void);
