// SPDX-License-Identifier: BSD-3-Clause
#include "part.h"

#include <stdlib.h>
#include <string.h>

#include "job.h"

// `count` blocks, `stride` apart.
static MPI_Datatype even(int count, int block, int stride) {
  MPI_Datatype type;
  MPI_Type_create_hvector(count, block, stride, MPI_BYTE, &type);
  return type;
}

// The blocks in any order, with any gaps.
static MPI_Datatype scattered(int count, int block, int* places, Random* r) {
  MPI_Datatype type;
  MPI_Aint* displacements = malloc((size_t)count * sizeof *displacements);
  if (displacements == NULL) fail("no memory", count, block);
  if (one_in(r, 2)) shuffle(r, places, count);
  for (int i = 0; i < count; ++i) displacements[i] = places[i];
  MPI_Type_create_hindexed_block(count, block, displacements, MPI_BYTE, &type);
  free(displacements);
  return type;
}

// The first half of the payload lies behind the second.
static MPI_Datatype halves(int count, int block, int stride, int* places) {
  const int first = count / 2, lengths[2] = {1, 1};
  const MPI_Aint displacements[2] = {(MPI_Aint)(count - first) * stride, 0};
  MPI_Datatype type, parts[2] = {even(first, block, stride), even(count - first, block, stride)};
  for (int i = 0; i < count; ++i) places[i] = (i < first ? i + count - first : i - first) * stride;
  MPI_Type_create_struct(2, lengths, displacements, parts, &type);
  MPI_Type_free(&parts[0]);
  MPI_Type_free(&parts[1]);
  return type;
}

void shape(Part* part, int bytes, Random* r) {
  static const int blocks[] = {1, 2, 4, 8, 24, 60, 100, 256, 3000};
  memset(part, 0, sizeof *part);
  part->request = MPI_REQUEST_NULL;
  part->block = blocks[below(r, 9)];
  const int count = bytes / part->block, stride = part->block + between(r, 0, one_in(r, 4) ? 40 : 5);
  if (count == 0 || bytes % part->block != 0 || one_in(r, 3)) {
    part->type = MPI_BYTE;
    part->count = bytes;
    part->memory = malloc((size_t)bytes + 1);
  } else {
    MPI_Datatype one;
    part->count = 1;
    part->memory = malloc((size_t)count * (size_t)stride + 1);
    part->places = malloc((size_t)count * sizeof *part->places);
    if (part->places == NULL) fail("no memory", bytes, 1);
    for (int i = 0; i < count; ++i) part->places[i] = i * stride;
    switch (below(r, count > 20000 ? 3 : 4)) {
      case 0:
        one = even(1, part->block, 0);
        MPI_Type_create_resized(one, 0, stride, &part->type);
        MPI_Type_free(&one);
        part->count = count;
        break;
      case 1:
        part->type = even(count, part->block, stride);
        break;
      case 2:
        part->type = halves(count, part->block, stride, part->places);
        break;
      default:
        part->type = scattered(count, part->block, part->places, r);
    }
    MPI_Type_commit(&part->type);
  }
  if (part->memory == NULL) fail("no memory", bytes, 0);
}

void forget_type(Part* part) {
  if (part->type != MPI_BYTE && part->type != MPI_DATATYPE_NULL) MPI_Type_free(&part->type);
}

void drop(Part* part) {
  if (part->places != NULL) forget_type(part);
  free(part->places);
  free(part->memory);
}
