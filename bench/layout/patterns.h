/* SPDX-License-Identifier: BSD-3-Clause */
// The halo patterns that layout measures: what each program sends to a neighbour, as derived datatypes.
#ifndef URAKATA_BENCH_LAYOUT_PATTERNS_H
#define URAKATA_BENCH_LAYOUT_PATTERNS_H

#include "timing.h"

// What a rank sends and what it receives; the same type but in a transposition.
struct pattern {
  MPI_Datatype out, in;
};

enum pattern_name {
  WRF_X,
  WRF_Y,
  MILC_ZD,
  NAS_LU_X,
  NAS_LU_Y,
  NAS_MG_X,
  NAS_MG_Y,
  NAS_MG_Z,
  SPECFEM3D_OC,
  SPECFEM3D_CM,
  SPECFEM3D_MT,
  LAMMPS_FULL,
  LAMMPS_ATOMIC,
  FFT2,
  PATTERNS
};

static const char* const pattern_names[PATTERNS] = {
    "wrf-x",    "wrf-y",        "milc-su3-zd",  "nas-lu-x",     "nas-lu-y",    "nas-mg-x",      "nas-mg-y",
    "nas-mg-z", "specfem3d-oc", "specfem3d-cm", "specfem3d-mt", "lammps-full", "lammps-atomic", "fft2"};

static inline MPI_Datatype cut_out(int dimensions, const int* sizes, const int* part, const int* from,
                                   MPI_Datatype of) {
  MPI_Datatype type;
  MPI_Type_create_subarray(dimensions, sizes, part, from, MPI_ORDER_C, of, &type);
  return type;
}

// Places one after the other in memory, each type at its own.
static inline MPI_Datatype joined(int count, MPI_Datatype* types, const MPI_Aint* places) {
  int ones[16];
  MPI_Datatype type;
  for (int i = 0; i < count; ++i) ones[i] = 1;
  MPI_Type_create_struct(count, ones, places, types, &type);
  for (int i = 0; i < count; ++i) MPI_Type_free(&types[i]);
  return type;
}

// Weather: the halo of a tile, three points wide, of four 2D and four 3D fields of floats with vertical levels between
// the two horizontal directions.
static inline MPI_Datatype wrf(int along_x) {
  enum { NX = 70, NY = 70, NZ = 28, WIDTH = 3 };
  const int flat[2] = {NY, NX}, deep[3] = {NY, NZ, NX};
  const int part2[2] = {along_x ? NY : WIDTH, along_x ? WIDTH : NX};
  const int part3[3] = {part2[0], NZ, part2[1]};
  const int from2[2] = {along_x ? 0 : WIDTH, along_x ? WIDTH : 0}, from3[3] = {from2[0], 0, from2[1]};
  MPI_Datatype types[8];
  MPI_Aint places[8], at = 0;
  for (int i = 0; i < 8; ++i) {
    places[i] = at;
    types[i] = i < 4 ? cut_out(2, flat, part2, from2, MPI_FLOAT) : cut_out(3, deep, part3, from3, MPI_FLOAT);
    at += (MPI_Aint)sizeof(float) * NX * NY * (i < 4 ? 1 : NZ);
  }
  return joined(8, types, places);
}

// Lattice gauge theory: the two outermost z planes of a 4D lattice of complex 3-vectors, t outermost.
static inline MPI_Datatype milc(void) {
  enum { NX = 16, NY = 16, NZ = 16, NT = 16, NUMBERS = 6 };
  const int sizes[4] = {NT, NZ, NY * NX / 2, NUMBERS}, part[4] = {NT, 2, NY * NX / 2, NUMBERS}, from[4] = {0, 0, 0, 0};
  return cut_out(4, sizes, part, from, MPI_FLOAT);
}

// Fluid dynamics: a face of a 3D grid with five doubles a point; along x the points lie together.
static inline MPI_Datatype nas_lu(int along_x) {
  enum { N = 66, NUMBERS = 5 };
  const int sizes[3] = {N, N, NUMBERS};
  const int part[3] = {along_x ? 1 : N, along_x ? N : 1, NUMBERS}, from[3] = {along_x, !along_x, 0};
  return cut_out(3, sizes, part, from, MPI_DOUBLE);
}

// Multigrid: a face of a 3D grid of doubles, across direction 0 (x, innermost), 1 or 2.
static inline MPI_Datatype nas_mg(int across) {
  enum { N = 130 };
  const int sizes[3] = {N, N, N};
  int part[3] = {N - 2, N - 2, N - 2}, from[3] = {1, 1, 1};
  part[2 - across] = 1;
  return cut_out(3, sizes, part, from, MPI_DOUBLE);
}

// The points of an irregular boundary: `count` ascending places among ten times as many, always the same ones.
static inline void boundary(int count, int* places) {
  unsigned state = 12345;
  for (int i = 0; i < count; ++i) {
    state = state * 1103515245U + 12345U;
    places[i] = 10 * i + (int)(state >> 16U) % 10;
  }
}

static inline MPI_Datatype of_boundary(int count, int numbers, MPI_Datatype number) {
  int* places = allocate((size_t)count * sizeof(int));
  MPI_Datatype type;
  boundary(count, places);
  for (int i = 0; i < count; ++i) places[i] *= numbers;
  MPI_Type_create_indexed_block(count, numbers, places, number, &type);
  free(places);
  return type;
}

// Seismology: accelerations at the boundary of the outer core (one float a point) ...
static inline MPI_Datatype specfem_oc(void) { return of_boundary(6000, 1, MPI_FLOAT); }

// ... of crust, mantle and inner core (three floats a point) ...
static inline MPI_Datatype specfem_cm(void) {
  MPI_Datatype types[2] = {of_boundary(4000, 3, MPI_FLOAT), of_boundary(500, 3, MPI_FLOAT)};
  const MPI_Aint places[2] = {0, 4000 * 10 * 12};
  return joined(2, types, places);
}

// ... and a mass matrix that is sent column by column.
static inline MPI_Datatype specfem_mt(void) {
  MPI_Datatype type;
  MPI_Type_vector(3000, 3, 6, MPI_FLOAT, &type);
  return type;
}

// Molecular dynamics: what is known of the atoms on an irregular list, an array each.
static inline MPI_Datatype lammps(int full) {
  enum { ATOMS = 1500 };
  MPI_Datatype types[6];
  MPI_Aint places[6], at = 0;
  const int numbers[6] = {3, 1, 1, 1, 1, 1};
  const int count = full ? 6 : 4;
  for (int i = 0; i < count; ++i) {
    places[i] = at;
    types[i] = of_boundary(ATOMS, numbers[i], i < 4 ? MPI_DOUBLE : MPI_INT);
    at += (MPI_Aint)ATOMS * 10 * 8 * numbers[i];
  }
  return joined(count, types, places);
}

// Fourier transform: one rank's block of a matrix of complex numbers, column by column, into rows.
static inline struct pattern fft2(void) {
  enum { N = 512, COLUMNS = 64 };
  struct pattern pattern;
  MPI_Datatype number, column, spaced;
  MPI_Type_contiguous(2, MPI_DOUBLE, &number);
  MPI_Type_vector(N, 1, N, number, &column);
  MPI_Type_create_resized(column, 0, 16, &spaced);
  MPI_Type_contiguous(COLUMNS, spaced, &pattern.out);
  MPI_Type_contiguous(N * COLUMNS, number, &pattern.in);
  MPI_Type_free(&spaced);
  MPI_Type_free(&column);
  MPI_Type_free(&number);
  return pattern;
}

static inline struct pattern make_pattern(enum pattern_name name) {
  MPI_Datatype one = MPI_DATATYPE_NULL;
  switch (name) {
    case WRF_X:
    case WRF_Y:
      one = wrf(name == WRF_X);
      break;
    case MILC_ZD:
      one = milc();
      break;
    case NAS_LU_X:
    case NAS_LU_Y:
      one = nas_lu(name == NAS_LU_X);
      break;
    case NAS_MG_X:
    case NAS_MG_Y:
    case NAS_MG_Z:
      one = nas_mg((int)(name - NAS_MG_X));
      break;
    case SPECFEM3D_OC:
      one = specfem_oc();
      break;
    case SPECFEM3D_CM:
      one = specfem_cm();
      break;
    case SPECFEM3D_MT:
      one = specfem_mt();
      break;
    case LAMMPS_FULL:
    case LAMMPS_ATOMIC:
      one = lammps(name == LAMMPS_FULL);
      break;
    case FFT2:
      return fft2();
    case PATTERNS:
      break;
  }
  return (struct pattern){one, one};
}

#endif
