// SPDX-License-Identifier: BSD-3-Clause
// A reducer: an operation on elements of one type, as the nodes of a schedule need it.
//
// Thread-safety: immutable after construction. `apply` may be called by any thread unless `callers_only` is set: then
// only by a thread of the program that is inside an MPI call, since user-defined operations may rely on that.
#pragma once

#include <cstddef>
#include <cstdint>

namespace urakata::reduce {

struct Reducer {
  // inout[i] = in[i] (op) inout[i] for `count` elements, `extent` bytes apart; in is the left operand. `self` is this
  // reducer.
  using Apply = void (*)(const Reducer& self, const void* in, void* inout, std::uint64_t count);

  Apply apply = nullptr;
  std::uint64_t size = 1;    // payload bytes of one element
  std::uint64_t extent = 1;  // memory bytes from one element to the next
  bool commutative = true;
  bool callers_only = false;
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
  // The platform's long double, whatever its length.
  f80,
  // Complex numbers; the number is the length of one part.
  c32,
  c64,
  c80,
  // A bool of one byte. Fortran's LOGICAL is an integer.
  boolean,
  // C structs of a value and an index for minloc and maxloc, with padding: MPI_FLOAT_INT ... MPI_LONG_DOUBLE_INT.
  f32_i32,
  f64_i32,
  i64_i32,
  i32_i32,
  i16_i32,
  f80_i32,
  // Fortran's MPI_2REAL, MPI_2DOUBLE_PRECISION.
  f32_f32,
  f64_f64,
  count_
};

// The built-in reducer, or nullptr where MPI does not define the operation on the type. The pointer is valid for ever.
const Reducer* builtin(Op op, Type type);

}  // namespace urakata::reduce
