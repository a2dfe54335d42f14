// SPDX-License-Identifier: BSD-3-Clause
// A reducer: an operation on elements of one type, as the nodes of a schedule need it.
//
// Immutable after construction. `apply` may be called by any thread unless `owner_only` is set: then only by a thread
// of the program that is inside an MPI call (user-defined operations may rely on being run there).
#pragma once

#include <cstddef>
#include <cstdint>

namespace urakata::reduce {

struct Reducer {
  // inout[i] = in[i] (op) inout[i] for `count` elements; in is the left operand. `self` is this reducer.
  using Apply = void (*)(const Reducer& self, const void* in, void* inout, std::uint64_t count);

  Apply apply = nullptr;
  std::uint64_t size = 1;    // payload bytes of one element
  std::uint64_t extent = 1;  // memory bytes from one element to the next
  bool commutative = true;
  bool owner_only = false;
};

// The predefined operations on the types that they are defined for. Logical operations take any integer or C++/C bool.
enum class Op : std::uint8_t { sum, prod, min, max, land, lor, lxor, band, bor, bxor, minloc, maxloc };
enum class Type : std::uint8_t {
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f32,
  f64,
  f80,  // f80 is the platform's long double
  c32,
  c64,
  c80,      // complex of float, double, long double
  boolean,  // one-byte bool; Fortran's LOGICAL is not this but an integer
  f32_i32,
  f64_i32,
  i64_i32,
  i32_i32,
  i16_i32,
  f80_i32,  // MPI_FLOAT_INT ... MPI_LONG_DOUBLE_INT: C structs, with padding
  f32_f32,
  f64_f64,  // Fortran's MPI_2REAL, MPI_2DOUBLE_PRECISION
  count_
};

// The built-in reducer, or nullptr where MPI does not define the operation on the type. The pointer is valid for ever.
const Reducer* builtin(Op op, Type type);

}  // namespace urakata::reduce
