// SPDX-License-Identifier: BSD-3-Clause
// Partitions of the grid: by blocks of rows, and by METIS.
#include <stdlib.h>
#include <string.h>

#include "solver.h"

#ifdef URAKATA_METIS
#include <metis.h>
#endif

int neighbours_of_row(int n, int row, int* around) {
  const int x = row % n, y = row / n % n, z = row / n / n;
  int count = 0;
  for (int dz = z > 0 ? -1 : 0; dz <= (z < n - 1); ++dz) {
    for (int dy = y > 0 ? -1 : 0; dy <= (y < n - 1); ++dy) {
      for (int dx = x > 0 ? -1 : 0; dx <= (x < n - 1); ++dx) {
        if (dx || dy || dz) around[count++] = row + (dz * n + dy) * n + dx;
      }
    }
  }
  return count;
}

static void blocks(int rows, int parts, int* part_of) {
  const int least = rows / parts, longer = rows % parts;  // the first `longer` blocks have a row more
  int row = 0;
  for (int part = 0; part < parts; ++part) {
    for (const int end = row + least + (part < longer); row < end; ++row) part_of[row] = part;
  }
}

#ifdef URAKATA_METIS
static void by_metis(int n, int rows, int parts, int* part_of) {
  idx_t vertices = rows, constraints = 1, wanted = parts, cut = 0;
  idx_t options[METIS_NOPTIONS];
  idx_t* const begin = allocate(((size_t)rows + 1) * sizeof *begin);
  idx_t* const around = allocate((size_t)rows * 26 * sizeof *around);
  begin[0] = 0;
  for (int row = 0; row < rows; ++row) {
    begin[row + 1] = begin[row] + neighbours_of_row(n, row, around + begin[row]);
  }
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = 1;
  if (METIS_PartGraphKway(&vertices, &constraints, begin, around, NULL, NULL, NULL, &wanted, NULL, NULL, options, &cut,
                          part_of) != METIS_OK) {
    end_job("solver: METIS cannot split %d rows into %d parts", rows, parts);
  }
  free(around);
  free(begin);
}
#endif

int* make_partition(const char* name, int n, int parts) {
  const int rows = n * n * n;
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int* const part_of = allocate((size_t)rows * sizeof *part_of);
  const bool metis = strcmp(name, "metis") == 0;
  if (!metis && strcmp(name, "rows") != 0) fail("--partition: '%s' is neither rows nor metis", name);
  if (!metis || parts == 1) {
    blocks(rows, parts, part_of);
    return part_of;
  }
#ifdef URAKATA_METIS
  if (rank == 0) by_metis(n, rows, parts, part_of);
#else
  fail("--partition metis: this program was built without METIS (Debian's libmetis-dev)");
#endif
  MPI_Bcast(part_of, rows, MPI_INT, 0, MPI_COMM_WORLD);
  return part_of;
}

struct partition_counts count_partition(const int* part_of, int n, int parts) {
  struct partition_counts counts = {0};
  const int rows = n * n * n;
  int* const size = calloc((size_t)parts, sizeof *size);
  char* const meet = calloc((size_t)parts * (size_t)parts, 1);
  if (!size || !meet) fail("no memory to count %d parts", parts);
  for (int row = 0; row < rows; ++row) {
    int around[26], needed_by[26], others = 0;
    const int points = neighbours_of_row(n, row, around), own = part_of[row];
    ++size[own];
    for (int i = 0; i < points; ++i) {
      const int other = part_of[around[i]];
      int known = other == own;
      for (int j = 0; j < others && !known; ++j) known = needed_by[j] == other;
      if (known) continue;
      needed_by[others++] = other;
      meet[(size_t)own * (size_t)parts + (size_t)other] = 1;
    }
    counts.values += others;
  }
  counts.least_rows = rows;
  int* const neighbours = calloc((size_t)parts, sizeof *neighbours);
  if (!neighbours) fail("no memory to count %d parts", parts);
  for (int part = 0; part < parts; ++part) {
    for (int other = 0; other < parts; ++other) {
      neighbours[part] += meet[(size_t)part * (size_t)parts + (size_t)other];
    }
    counts.messages += neighbours[part];
    if (neighbours[part] > counts.most_neighbours) counts.most_neighbours = neighbours[part];
    if (size[part] > counts.most_rows) counts.most_rows = size[part];
    if (size[part] < counts.least_rows) counts.least_rows = size[part];
  }
  for (int wanted = 0, seen = 0; 2 * seen < parts; ++wanted) {
    for (int part = 0; part < parts; ++part) {
      if (neighbours[part] == wanted) counts.typical = part, ++seen;
    }
  }
  free(neighbours);
  free(meet);
  free(size);
  return counts;
}
