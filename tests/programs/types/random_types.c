// SPDX-License-Identifier: BSD-3-Clause
// Random datatypes of all constructors, packed and unpacked by non-blocking collectives and by MPI_Pack, against the
// list of their bytes' offsets in the order of the type map, made by the definitions of the standard.
//
//     random_types [CASES [SEED]]      prints the seed; exit code 1 where bytes are wrong
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "features.h"

enum { kMostBytes = 4000, kFew = 6 };

typedef struct {
  MPI_Datatype type;
  bool derived;
  bool odd;  // the MPI library's own MPI_Pack is not to be trusted with it, or moves padding otherwise
  long count;
  long bytes[kMostBytes];
  long extent;
} Type;

static unsigned long long state;

static long between(long least, long most) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return least + (long)((state >> 33) % (unsigned long long)(most - least + 1));
}

// `length` elements of `old` at `at`; false when there are more bytes than a test wants.
static bool place(Type* made, const Type* old, long at, long length) {
  for (long i = 0; i < length; ++i) {
    if (made->count + old->count > kMostBytes) return false;
    for (long b = 0; b < old->count; ++b) made->bytes[made->count++] = at + i * old->extent + old->bytes[b];
  }
  return true;
}

static void predefined(Type* made) {
  static const struct {
    const char* name;
    bool odd;
  } kinds[] = {{"char", 0}, {"short", 0},     {"int", 0},        {"double", 0},         {"float complex", 1},
               {"pair", 0}, {"short int", 0}, {"double int", 0}, {"long double int", 1}};
  const MPI_Datatype types[] = {MPI_CHAR,      MPI_SHORT,     MPI_INT,        MPI_DOUBLE,         MPI_C_FLOAT_COMPLEX,
                                MPI_FLOAT_INT, MPI_SHORT_INT, MPI_DOUBLE_INT, MPI_LONG_DOUBLE_INT};
  const long which = between(0, (long)(sizeof types / sizeof types[0]) - 1);
  int size = 0;
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  made->type = types[which];
  made->odd = kinds[which].odd;
  made->derived = false;
  MPI_Type_size(made->type, &size);
  MPI_Type_get_extent(made->type, &lb, &extent);
  made->extent = extent;
  made->count = size;
  for (long i = 0; i < size; ++i) made->bytes[i] = made->type == MPI_SHORT_INT && i >= 2 ? i + 2 : i;
}

// Lists of lengths and displacements of the constructors that take them.
typedef struct {
  int count;
  int lengths[kFew];
  int displacements[kFew];
  MPI_Aint addresses[kFew];
#if HAVE_LARGE_COUNT
  MPI_Count large_lengths[kFew];
  MPI_Count large_displacements[kFew];
#endif
} Lists;

static void draw(Lists* lists, long reach) {
  lists->count = (int)between(1, kFew);
  for (int i = 0; i < lists->count; ++i) {
    lists->lengths[i] = (int)between(i == 0, 3);
    lists->displacements[i] = (int)between(-reach, reach);
    lists->addresses[i] = lists->displacements[i];
#if HAVE_LARGE_COUNT
    lists->large_lengths[i] = lists->lengths[i];
    lists->large_displacements[i] = lists->displacements[i];
#endif
  }
}

// The last two arguments are how the type is made with ints, and how with large counts.
#if HAVE_LARGE_COUNT
#define MAKE(plain, large) (between(0, 2) == 0 ? (large) : (plain))
#else
#define MAKE(plain, large) (plain)
#endif

static bool vector(Type* made, const Type* old) {
  const int count = (int)between(1, 6);
  const int length = (int)between(1, 3);
  const bool in_bytes = between(0, 1) == 0;
  long stride = between(-5, 8);
  if (in_bytes) stride = 8 * stride + between(0, 3);
  if (!in_bytes && stride * old->extent == -1) stride = 1;  // Open MPI takes -1 bytes for the old type's extent
  if (in_bytes) {
    MAKE(MPI_Type_create_hvector(count, length, stride, old->type, &made->type),
         MPI_Type_create_hvector_c(count, length, stride, old->type, &made->type));
  } else {
    MAKE(MPI_Type_vector(count, length, (int)stride, old->type, &made->type),
         MPI_Type_vector_c(count, length, stride, old->type, &made->type));
  }
  for (long i = 0; i < count; ++i) {
    if (!place(made, old, i * stride * (in_bytes ? 1 : old->extent), length)) return false;
  }
  return true;
}

static bool indexed(Type* made, const Type* old) {
  Lists lists;
  const bool in_bytes = between(0, 1) == 0;
  draw(&lists, in_bytes ? 90 : 10);
  const int block = (int)between(1, 3);
  const bool equal = between(0, 1) == 0;
  MPI_Datatype* type = &made->type;
  if (equal && in_bytes) {
    MAKE(MPI_Type_create_hindexed_block(lists.count, block, lists.addresses, old->type, type),
         MPI_Type_create_hindexed_block_c(lists.count, block, lists.large_displacements, old->type, type));
  } else if (equal) {
    MAKE(MPI_Type_create_indexed_block(lists.count, block, lists.displacements, old->type, type),
         MPI_Type_create_indexed_block_c(lists.count, block, lists.large_displacements, old->type, type));
  } else if (in_bytes) {
    MAKE(MPI_Type_create_hindexed(lists.count, lists.lengths, lists.addresses, old->type, type),
         MPI_Type_create_hindexed_c(lists.count, lists.large_lengths, lists.large_displacements, old->type, type));
  } else {
    MAKE(MPI_Type_indexed(lists.count, lists.lengths, lists.displacements, old->type, type),
         MPI_Type_indexed_c(lists.count, lists.large_lengths, lists.large_displacements, old->type, type));
  }
  for (int i = 0; i < lists.count; ++i) {
    const long at = lists.displacements[i] * (in_bytes ? 1 : old->extent);
    if (!place(made, old, at, equal ? block : lists.lengths[i])) return false;
  }
  return true;
}

static bool structure(Type* made, const Type* old) {
  static Type other;
  predefined(&other);
  Lists lists;
  draw(&lists, 90);
  const Type* members[kFew];
  MPI_Datatype types[kFew];
  for (int i = 0; i < lists.count; ++i) {
    members[i] = between(0, 1) == 0 ? old : &other;
    types[i] = members[i]->type;
  }
  MAKE(MPI_Type_create_struct(lists.count, lists.lengths, lists.addresses, types, &made->type),
       MPI_Type_create_struct_c(lists.count, lists.large_lengths, lists.large_displacements, types, &made->type));
  made->odd |= other.odd;
  for (int i = 0; i < lists.count; ++i) {
    if (!place(made, members[i], lists.displacements[i], lists.lengths[i])) return false;
  }
  return true;
}

// The elements of an array whose index in dimension d is one of the first wanted[d][0] of wanted[d][1...].
static bool array(Type* made, const Type* old, int dimensions, const int* sizes, int (*wanted)[8], int order) {
  long at[4] = {0};
  for (;;) {
    long index = 0;
    for (int i = 0; i < dimensions; ++i) {
      const int d = order == MPI_ORDER_C ? i : dimensions - 1 - i;
      index = index * sizes[d] + wanted[d][1 + at[d]];
    }
    if (!place(made, old, index * old->extent, 1)) return false;
    int i = dimensions - 1;
    for (; i >= 0; --i) {  // the next index, the fastest dimension first
      const int d = order == MPI_ORDER_C ? i : dimensions - 1 - i;
      if (++at[d] < wanted[d][0]) break;
      at[d] = 0;
    }
    if (i < 0) return true;
  }
}

static bool subarray(Type* made, const Type* old) {
  const int dimensions = (int)between(1, 4);
  const int order = between(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  int sizes[4];
  int subsizes[4];
  int starts[4];
  int wanted[4][8];
  for (int d = 0; d < dimensions; ++d) {
    sizes[d] = (int)between(1, 5);
    subsizes[d] = (int)between(1, sizes[d]);
    starts[d] = (int)between(0, sizes[d] - subsizes[d]);
    wanted[d][0] = subsizes[d];
    for (int i = 0; i < subsizes[d]; ++i) wanted[d][1 + i] = starts[d] + i;
  }
#if HAVE_LARGE_COUNT
  MPI_Count large[3][4];
  for (int d = 0; d < dimensions; ++d) {
    large[0][d] = sizes[d];
    large[1][d] = subsizes[d];
    large[2][d] = starts[d];
  }
#endif
  MAKE(MPI_Type_create_subarray(dimensions, sizes, subsizes, starts, order, old->type, &made->type),
       MPI_Type_create_subarray_c(dimensions, large[0], large[1], large[2], order, old->type, &made->type));
  return array(made, old, dimensions, sizes, wanted, order);
}

static bool darray(Type* made, const Type* old) {
  const int dimensions = (int)between(1, 3);
  const int order = between(0, 1) == 0 ? MPI_ORDER_C : MPI_ORDER_FORTRAN;
  int sizes[3];
  int kinds[3];
  int blocks[3];
  int grid[3];
  int ranks = 1;
  for (int d = 0; d < dimensions; ++d) {
    grid[d] = (int)between(1, 2);
    sizes[d] = (int)between(grid[d] == 1 ? 1 : 4, 7);  // large enough that every rank has elements
    kinds[d] = grid[d] == 1 ? MPI_DISTRIBUTE_NONE : between(0, 1) == 0 ? MPI_DISTRIBUTE_BLOCK : MPI_DISTRIBUTE_CYCLIC;
    blocks[d] = kinds[d] == MPI_DISTRIBUTE_CYCLIC && between(0, 1) == 0 ? 2 : MPI_DISTRIBUTE_DFLT_DARG;
    ranks *= grid[d];
  }
  const int rank = (int)between(0, ranks - 1);
  int wanted[4][8] = {{0}};
  int rest = rank;
  for (int d = dimensions - 1; d >= 0; --d) {
    const int mine = rest % grid[d];
    rest /= grid[d];
    const int block = blocks[d] == 2 ? 2 : kinds[d] == MPI_DISTRIBUTE_CYCLIC ? 1 : (sizes[d] + grid[d] - 1) / grid[d];
    for (int i = 0; i < sizes[d]; ++i) {
      if (i / block % grid[d] == mine) wanted[d][1 + wanted[d][0]++] = i;
    }
  }
  MPI_Type_create_darray(ranks, rank, dimensions, sizes, kinds, blocks, grid, order, old->type, &made->type);
  return array(made, old, dimensions, sizes, wanted, order);
}

static bool derive(Type* made, const Type* old) {
  made->count = 0;
  made->derived = true;
  made->odd = old->odd;
  bool fits = true;
  switch (between(0, 9)) {
    case 0: {
      const int count = (int)between(1, 5);
      MAKE(MPI_Type_contiguous(count, old->type, &made->type), MPI_Type_contiguous_c(count, old->type, &made->type));
      fits = place(made, old, 0, count);
      break;
    }
    case 1:
      MPI_Type_dup(old->type, &made->type);
      made->odd =
          true;  // MPICH 5.0 packs the second element of a copied struct from another place than its extent says
      fits = place(made, old, 0, 1);
      break;
    case 2: {
      const long lb = between(-40, 40);
      const long extent = between(-60, 120);
      MAKE(MPI_Type_create_resized(old->type, lb, extent, &made->type),
           MPI_Type_create_resized_c(old->type, lb, extent, &made->type));
      fits = place(made, old, 0, 1);
      break;
    }
    case 3:
    case 4:
      fits = vector(made, old);
      break;
    case 5:
    case 6:
      fits = indexed(made, old);
      break;
    case 7:
      fits = structure(made, old);
      break;
    case 8:
      fits = subarray(made, old);
      break;
    default:
      fits = darray(made, old);
  }
  MPI_Aint lb = 0;
  MPI_Aint extent = 0;
  MPI_Type_get_extent(made->type, &lb, &extent);
  made->extent = extent;
  made->odd |= extent < 0;  // MPICH 5.0 packs the second element of types built on such a one from another place
  return fits;
}

// A type of up to five levels; false: too large, nothing is left.
static bool random_type(Type* type) {
  static Type below;
  predefined(type);
  bool fits = true;
  for (long depth = between(1, 5); fits && depth > 0; --depth) {
    below = *type;
    fits = derive(type, &below);
    if (below.derived) MPI_Type_free(&below.type);
  }
  if (!fits) MPI_Type_free(&type->type);
  return fits;
}

static unsigned char value(long i, int rank) { return (unsigned char)(i * 37 + i / 256 + rank * 101 + 11); }

typedef struct {
  int ranks;
  int rank;
  long wrong;   // by the collectives
  long native;  // MPI_Pack's, where it should be right
} Outcome;

static void check(const Type* type, Outcome* outcome) {
  const int ranks = outcome->ranks;
  const int count = (int)between(1, 3);
  const long payload = count * type->count;
  const long elements = (long)count * ranks;
  long low = 0;
  long high = 1;
  for (long e = 0; e < elements; ++e) {
    for (long b = 0; b < type->count; ++b) {
      const long at = e * type->extent + type->bytes[b];
      if (at < low) low = at;
      if (at >= high) high = at + 1;
    }
  }
  unsigned char* memory = malloc((size_t)(high - low));
  unsigned char* expected = malloc((size_t)(high - low));
  unsigned char* times = calloc((size_t)(high - low), 1);
  unsigned char* packed = malloc((size_t)(payload * ranks + 1));
  unsigned char* right = malloc((size_t)(payload * ranks + 1));
  MPI_Request request;

  // Packed: every rank's elements arrive as bytes.
  for (long i = 0; i < high - low; ++i) memory[i] = value(i, outcome->rank);
  for (int r = 0; r < ranks; ++r) {
    for (long b = 0; b < payload; ++b) {
      right[r * payload + b] = value(b / type->count * type->extent + type->bytes[b % type->count] - low, r);
    }
  }
  memset(packed, 0, (size_t)(payload * ranks));
  MPI_Iallgather(memory - low, count, type->type, packed, (int)payload, MPI_PACKED, MPI_COMM_WORLD, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  outcome->wrong += memcmp(packed, right, (size_t)(payload * ranks)) != 0;
  int position = 0;
  MPI_Pack(memory - low, count, type->type, packed, (int)payload, &position, MPI_COMM_WORLD);
  outcome->native += !type->odd && memcmp(packed, right + outcome->rank * payload, (size_t)payload) != 0;

  // Unpacked: bytes from every rank arrive as elements, where those do not overlap each other.
  bool overlap = false;
  memset(memory, 0, (size_t)(high - low));
  memset(expected, 0, (size_t)(high - low));
  for (long b = 0; b < payload * ranks; ++b) {
    const long at = b / type->count * type->extent + type->bytes[b % type->count] - low;
    overlap |= times[at]++ != 0;
    expected[at] = value(b % payload, (int)(b / payload));
  }
  if (!overlap) {
    for (int r = 0; r < ranks; ++r) {
      for (long b = 0; b < payload; ++b) packed[r * payload + b] = value(b, outcome->rank);
    }
    MPI_Ialltoall(packed, (int)payload, MPI_PACKED, memory - low, count, type->type, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    outcome->wrong += memcmp(memory, expected, (size_t)(high - low)) != 0;
  }
  free(memory);
  free(expected);
  free(times);
  free(packed);
  free(right);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const long cases = argc > 1 ? atol(argv[1]) : 1000;
  const unsigned long long seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
  Outcome outcome = {0};
  MPI_Comm_size(MPI_COMM_WORLD, &outcome.ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &outcome.rank);
  static Type type;
  for (long i = 0; i < cases; ++i) {
    state = seed * 1000003 + (unsigned long long)i;
    if (!random_type(&type)) continue;
    MPI_Type_commit(&type.type);
    const long before = outcome.wrong + outcome.native;
    check(&type, &outcome);
    if (outcome.wrong + outcome.native != before && outcome.rank == 0) printf("wrong: seed %llu case %ld\n", seed, i);
    if (type.derived) MPI_Type_free(&type.type);
  }
  // Intel MPI 2021.18 alone packs wrong bytes for about one type in 200, of no one kind: its MPI_Pack is only reported.
  char version[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(version, &length);
  const bool trusted = strstr(version, "Intel") == NULL;
  long all[] = {outcome.wrong, outcome.native};
  MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  if (outcome.rank == 0) {
    printf("random_types: seed %llu, %ld cases, %ld wrong, %ld wrong by MPI_Pack\n", seed, cases, all[0], all[1]);
  }
  MPI_Finalize();
  return all[0] == 0 && (all[1] == 0 || !trusted) ? 0 : 1;
}
