// SPDX-License-Identifier: BSD-3-Clause
#include "operators.h"

#include <stdbool.h>
#include <string.h>

int wrong_operator_calls;

typedef struct {
  int a;  // x -> a x + b, modulo kPrime
  int b;
} Affine;
enum { kPrime = 97, kMatrix = 0, kAffine, kAffineBelow, kModulo, kFirst, kModuloLarge, kUserOps };

static void check_type(MPI_Datatype type, int size) {
  int actual = 0;
  MPI_Type_size(type, &actual);
  if (actual != size) ++wrong_operator_calls;
}

static int get(const char* at) {
  int value;
  memcpy(&value, at, sizeof value);
  return value;
}
static void put(char* at, int value) { memcpy(at, &value, sizeof value); }

static void multiply_matrices(void* in, void* inout, int* count, MPI_Datatype* type) {
  check_type(*type, 4 * (int)sizeof(int));
  const char* a = in;
  char* b = inout;
  for (int k = 0; k < *count; ++k, a += 16, b += 16) {
    int product[4];
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 2; ++j) {
        product[2 * i + j] = (get(a + 8 * i) * get(b + 4 * j) + get(a + 8 * i + 4) * get(b + 8 + 4 * j)) % kPrime;
      }
    }
    memcpy(b, product, sizeof product);
  }
}

static void compose(const char* a, char* b, int first, int second) {
  const Affine f = {get(a + first), get(a + second)};
  const Affine g = {get(b + first), get(b + second)};
  put(b + first, f.a * g.a % kPrime);
  put(b + second, (f.a * g.b + f.b) % kPrime);
}
static void compose_maps(void* in, void* inout, int* count, MPI_Datatype* type) {
  check_type(*type, 8);
  for (int k = 0; k < *count; ++k) compose((char*)in + 24 * k, (char*)inout + 24 * k, 4, 12);
}
static void compose_maps_below(void* in, void* inout, int* count, MPI_Datatype* type) {
  check_type(*type, 8);
  for (int k = 0; k < *count; ++k) compose((char*)in + 20 * k, (char*)inout + 20 * k, -8, 4);
}

static void add_modulo(const char* a, char* b, long long count) {
  for (long long k = 0; k < 3 * count; ++k, a += 4, b += 4) put(b, (get(a) + get(b)) % kPrime);
}
static void modulo(void* in, void* inout, int* count, MPI_Datatype* type) {
  check_type(*type, 12);
  add_modulo(in, inout, *count);
}
static void first(void* in, void* inout, int* count, MPI_Datatype* type) {
  check_type(*type, (int)sizeof(long));
  memcpy(inout, in, (size_t)*count * sizeof(long));
}
#if HAVE_LARGE_COUNT
static void modulo_large(void* in, void* inout, MPI_Count* count, MPI_Datatype* type) {
  check_type(*type, 12);
  add_modulo(in, inout, (long long)*count);
}
#endif

static const char* const kUserNames[kUserOps] = {
    "2x2 matrices",       "affine maps",      "affine maps below their address",
    "sum modulo a prime", "the left operand", "sum modulo a prime, large count"};

static MPI_Datatype two_integers(MPI_Aint first_at, MPI_Aint second_at, MPI_Aint lb, MPI_Aint extent) {
  const int lengths[2] = {1, 1};
  const MPI_Aint at[2] = {first_at, second_at};
  const MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  MPI_Datatype bare;
  MPI_Datatype type;
  MPI_Type_create_struct(2, lengths, at, types, &bare);
  MPI_Type_create_resized(bare, lb, extent, &type);
  MPI_Type_free(&bare);
  return type;
}

MPI_Op user_op(const Operator* o) {
  MPI_Op op;
  switch (o->user) {
    case kMatrix:
      MPI_Op_create(multiply_matrices, false, &op);
      break;
    case kAffine:
      MPI_Op_create(compose_maps, false, &op);
      break;
    case kAffineBelow:
      MPI_Op_create(compose_maps_below, false, &op);
      break;
    case kModulo:
      MPI_Op_create(modulo, true, &op);
      break;
    case kFirst:
      MPI_Op_create(first, false, &op);
      break;
    default:
#if HAVE_LARGE_COUNT
      MPI_Op_create_c(modulo_large, true, &op);
#else
      MPI_Op_create(modulo, true, &op);
#endif
      break;
  }
  return op;
}

static Operator user_operator(int user) {
  Operator o = {.name = kUserNames[user], .type_name = "of its own", .user = user};
  switch (user) {
    case kMatrix:
      MPI_Type_contiguous(4, MPI_INT, &o.type);
      break;
    case kAffine:
      o.type = two_integers(4, 12, 0, 24);
      break;
    case kAffineBelow:
      o.type = two_integers(-8, 4, -8, 20);
      break;
    case kFirst:
      MPI_Type_dup(MPI_LONG, &o.type);
      break;
    default:
      MPI_Type_contiguous(3, MPI_INT, &o.type);
      break;
  }
  MPI_Type_commit(&o.type);
  o.op = user_op(&o);
  return o;
}

typedef struct {
  const char* name;
  MPI_Op op;
} Named;

Operator random_operator(bool user, Random* shared) {
  if (one_in(shared, 4) && user) return user_operator(below(shared, kUserOps));
  const Named arithmetic[] = {{"sum", MPI_SUM}, {"prod", MPI_PROD}, {"min", MPI_MIN}, {"max", MPI_MAX}};
  const Named logical[] = {{"land", MPI_LAND}, {"lor", MPI_LOR}, {"lxor", MPI_LXOR}};
  const Named bitwise[] = {{"band", MPI_BAND}, {"bor", MPI_BOR}, {"bxor", MPI_BXOR}};
  const Named located[] = {{"minloc", MPI_MINLOC}, {"maxloc", MPI_MAXLOC}};
  for (;;) {
    const Primitive* p = &primitives[below(shared, primitive_count)];
    Named choice;
    const int pick = below(shared, 12);
    switch (p->class) {
      case CLASS_INTEGER:
        choice = pick < 4 ? arithmetic[pick] : pick < 8 ? logical[pick % 3] : bitwise[pick % 3];
        break;
      case CLASS_FORTRAN_INTEGER:
      case CLASS_MULTI:
        choice = pick < 6 ? arithmetic[pick % 4] : bitwise[pick % 3];
        break;
      case CLASS_FLOAT:
        choice = arithmetic[pick % 4];
        break;
      case CLASS_COMPLEX:
        choice = arithmetic[pick % 2];
        break;
      case CLASS_LOGICAL:
        choice = logical[pick % 3];
        break;
      case CLASS_BYTE:
        choice = bitwise[pick % 3];
        break;
      case CLASS_PAIR:
        choice = located[pick % 2];
        break;
      default:
        continue;
    }
    return (Operator){.name = choice.name,
                      .type_name = p->name,
                      .primitive = p,
                      .product = choice.op == MPI_PROD,
                      .op = choice.op,
                      .type = p->type};
  }
}

void free_operator(Operator* o) {
  if (o->primitive != NULL) return;
  MPI_Op_free(&o->op);
  MPI_Type_free(&o->type);
}

static void put_integer(char* at, int size, long value) { memcpy(at, &value, (size_t)size); }  // little-endian
static void put_float(char* at, int size, int value) {
  const float f = (float)value;
  const double d = value;
  const long double l = value;
  if (size == 4) memcpy(at, &f, 4);
  if (size == 8) memcpy(at, &d, 8);
  if (size > 8) memcpy(at, &l, sizeof l);
}

void fill_operands(const Operator* o, char* base, int count, Random* local) {
  const Primitive* p = o->primitive;
  for (int k = 0; k < count; ++k) {
    if (p == NULL) {
      const int a = below(local, kPrime);
      const int b = below(local, kPrime);
      switch (o->user) {
        case kAffine:
          put(base + 24 * k + 4, a), put(base + 24 * k + 12, b);
          break;
        case kAffineBelow:
          put(base + 20 * k - 8, a), put(base + 20 * k + 4, b);
          break;
        case kMatrix:
          put(base + 16 * k, a), put(base + 16 * k + 4, b);
          put(base + 16 * k + 8, below(local, kPrime)), put(base + 16 * k + 12, below(local, kPrime));
          break;
        case kFirst:
          put_integer(base + 8 * k, 8, (long)random_next(local));
          break;
        default:
          for (int i = 0; i < 3; ++i) put(base + 12 * k + 4 * i, below(local, kPrime));
      }
      continue;
    }
    char* at = base + k * p->extent;
    const int small = o->product ? below(local, 3) : below(local, 6);
    switch (p->class) {
      case CLASS_FLOAT:
        put_float(at, p->size, small - 1);
        break;
      case CLASS_COMPLEX:
        put_float(at, p->value_size, small - 1);
        put_float(at + p->value_size, p->value_size, below(local, 3) - 1);
        break;
      case CLASS_LOGICAL:
        put_integer(at, p->size > 8 ? 8 : p->size, below(local, 2));
        break;
      case CLASS_PAIR:
        if (p->value_float) {
          put_float(at, p->value_size, below(local, 4) - 2);
        } else {
          put_integer(at, p->value_size, below(local, 4) - 2);
        }
        if (p->index_float) {
          put_float(at + p->index_offset, p->value_size, below(local, 1000));
        } else {
          put_integer(at + p->index_offset, 4, below(local, 1000));
        }
        break;
      default:
        put_integer(at, p->size > 8 ? 8 : p->size, small);
        break;
    }
  }
}

static void canonical_float(char* at, int size) {
  long double l;
  if (size > 8 && __LDBL_MANT_DIG__ == 64) memset(at + 10, 0, (size_t)size - 10);
  float f;
  double d;
  if (size == 4) memcpy(&f, at, 4), f = f == 0 ? 0 : f, memcpy(at, &f, 4);
  if (size == 8) memcpy(&d, at, 8), d = d == 0 ? 0 : d, memcpy(at, &d, 8);
  if (size > 8) memcpy(&l, at, sizeof l), l = l == 0 ? 0 : l, memcpy(at, &l, __LDBL_MANT_DIG__ == 64 ? 10 : sizeof l);
}

void canonical(const Operator* o, char* base, int count) {
  const Primitive* p = o->primitive;
  if (p == NULL) return;
  for (int k = 0; k < count; ++k) {
    char* at = base + k * p->extent;
    if (p->class == CLASS_FLOAT && p->size > 8) canonical_float(at, p->size);
    if (p->class == CLASS_COMPLEX) {
      canonical_float(at, p->value_size);
      canonical_float(at + p->value_size, p->value_size);
    }
    if (p->class == CLASS_PAIR) {
      if (p->value_float && p->value_size > 8) canonical_float(at, p->value_size);
      memset(at + p->value_size, 0, (size_t)(p->index_offset - p->value_size));
      const int end = p->index_offset + (p->index_float ? p->value_size : 4);
      memset(at + end, 0, (size_t)(p->extent - end));
    }
  }
}
