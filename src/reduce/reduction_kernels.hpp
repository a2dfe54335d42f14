// SPDX-License-Identifier: BSD-3-Clause
// The kernels themselves. Included by one source file per level of the instruction set, each with its own compiler
// flags. Everything here is in an unnamed namespace, and nothing inline comes from elsewhere: a function compiled for a
// newer processor must never be merged with one that an older processor runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "reduce/reduction_kernel_table.hpp"

namespace urakata::reduce {
namespace {

// Arithmetic wraps around, in a type that no promotion makes signed.
template <class T>
struct Wrapping;  // only integers have one
template <>
struct Wrapping<std::int8_t> {
  using type = unsigned;
};
template <>
struct Wrapping<std::int16_t> {
  using type = unsigned;
};
template <>
struct Wrapping<std::int32_t> {
  using type = std::uint32_t;
};
template <>
struct Wrapping<std::int64_t> {
  using type = std::uint64_t;
};
template <>
struct Wrapping<std::uint8_t> {
  using type = unsigned;
};
template <>
struct Wrapping<std::uint16_t> {
  using type = unsigned;
};
template <>
struct Wrapping<std::uint32_t> {
  using type = std::uint32_t;
};
template <>
struct Wrapping<std::uint64_t> {
  using type = std::uint64_t;
};

template <class T>
concept Integer = requires {
  typename Wrapping<T>::type;
};
template <class T>
struct IsFloating {
  static constexpr bool value = false;
};
template <>
struct IsFloating<float> {
  static constexpr bool value = true;
};
template <>
struct IsFloating<double> {
  static constexpr bool value = true;
};
template <>
struct IsFloating<long double> {
  static constexpr bool value = true;
};
template <class T>
concept Floating = IsFloating<T>::value;

// A byte that says true or false; any byte but 0 is true. (A C++ bool may not hold what a buffer may.)
struct Truth {
  std::uint8_t byte;
};

template <Floating V>
struct Complex {
  V re;
  V im;
};

// MPI's pairs of a value and an index, laid out as a C struct.
template <class V, class I>
struct Pair {
  V value;
  I index;
};

template <class T>
T load(const std::byte* at) {
  T value;
  __builtin_memcpy(&value, at, sizeof value);
  return value;
}
// The bytes of a long double that hold its value; the rest is padding, which is never written.
constexpr std::size_t kLongDoubleBytes = __LDBL_MANT_DIG__ == 64 ? 10 : sizeof(long double);

template <class T>
void store(std::byte* at, T value) {
  __builtin_memcpy(at, &value, sizeof value);
}
inline void store(std::byte* at, long double value) { __builtin_memcpy(at, &value, kLongDoubleBytes); }
template <Floating V>
void store(std::byte* at, Complex<V> value) {
  store(at, value.re);
  store(at + sizeof(V), value.im);
}

// C's product of complex numbers, which finds infinities where the plain formula gives NaN, as MPI libraries do.
__extension__ typedef _Complex float ComplexFloat;
__extension__ typedef _Complex double ComplexDouble;
__extension__ typedef _Complex long double ComplexLongDouble;
template <class V>
struct CComplex;
template <>
struct CComplex<float> {
  using type = ComplexFloat;
};
template <>
struct CComplex<double> {
  using type = ComplexDouble;
};
template <>
struct CComplex<long double> {
  using type = ComplexLongDouble;
};
template <Floating V>
Complex<V> product(Complex<V> a, Complex<V> b) {
  using C = typename CComplex<V>::type;
  C x;
  C y;
  __real__ x = a.re;
  __imag__ x = a.im;
  __real__ y = b.re;
  __imag__ y = b.im;
  const C z = y * x;
  return {__real__ z, __imag__ z};
}

// One operation each: a is the left operand, b the right one that is also the result. Min and max take a unless b is
// strictly better, in this very form: MPI libraries do so too, and it decides what becomes of NaN and of the sign of
// zero.
struct Sum {
  template <Integer T>
  static T of(T a, T b) {
    using W = typename Wrapping<T>::type;
    return static_cast<T>(static_cast<W>(a) + static_cast<W>(b));
  }
  template <Floating T>
  static T of(T a, T b) {
    return a + b;
  }
  template <Floating V>
  static Complex<V> of(Complex<V> a, Complex<V> b) {
    return {a.re + b.re, a.im + b.im};
  }
};
struct Prod {
  template <Integer T>
  static T of(T a, T b) {
    using W = typename Wrapping<T>::type;
    return static_cast<T>(static_cast<W>(a) * static_cast<W>(b));
  }
  template <Floating T>
  static T of(T a, T b) {
    return a * b;
  }
  template <Floating V>
  static Complex<V> of(Complex<V> a, Complex<V> b) {
    return product(a, b);
  }
};
struct Min {
  template <class T>
  requires Integer<T> || Floating<T>
  static T of(T a, T b) { return b < a ? b : a; }
};
struct Max {
  template <class T>
  requires Integer<T> || Floating<T>
  static T of(T a, T b) { return b > a ? b : a; }
};
struct Land {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>((a != 0) & (b != 0));
  }
  static Truth of(Truth a, Truth b) { return {of(a.byte, b.byte)}; }
};
struct Lor {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>((a != 0) | (b != 0));
  }
  static Truth of(Truth a, Truth b) { return {of(a.byte, b.byte)}; }
};
struct Lxor {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>((a != 0) ^ (b != 0));
  }
  static Truth of(Truth a, Truth b) { return {of(a.byte, b.byte)}; }
};
struct Band {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>(a & b);
  }
};
struct Bor {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>(a | b);
  }
};
struct Bxor {
  template <Integer T>
  static T of(T a, T b) {
    return static_cast<T>(a ^ b);
  }
};
// Of equal values the lower index.
struct Minloc {
  template <class V, class I>
  static Pair<V, I> of(Pair<V, I> a, Pair<V, I> b) {
    if (a.value < b.value) return a;
    if (a.value == b.value) b.index = a.index < b.index ? a.index : b.index;
    return b;
  }
};
struct Maxloc {
  template <class V, class I>
  static Pair<V, I> of(Pair<V, I> a, Pair<V, I> b) {
    if (a.value > b.value) return a;
    if (a.value == b.value) b.index = a.index < b.index ? a.index : b.index;
    return b;
  }
};

// Where an element is read and written; a pair's padding bytes are neither.
template <class T>
struct Access {
  static T get(const std::byte* at) { return load<T>(at); }
  static void put(std::byte* at, T value) { store(at, value); }
};
template <class V, class I>
struct Access<Pair<V, I>> {
  using Both = Pair<V, I>;
  static constexpr std::size_t kIndex = offsetof(Both, index);
  static Pair<V, I> get(const std::byte* at) { return {load<V>(at), load<I>(at + kIndex)}; }
  static void put(std::byte* at, Pair<V, I> value) {
    store(at, value.value);
    store(at + kIndex, value.index);
  }
};

// Buffers may lie at any address, aligned or not; they do not overlap, and the parameters say so. Otherwise compilers
// add a loop for buffers that are close to each other, in which a sum of two NaNs may have the other one's payload:
// then ranks would have different bits by where their buffers lie.
template <class O, class T>
void apply(const Reducer&, const void* __restrict__ in, void* __restrict__ inout, std::uint64_t count) {
  const auto* left = static_cast<const std::byte*>(in);
  auto* right = static_cast<std::byte*>(inout);
  for (std::uint64_t i = 0; i < count; ++i) {
    std::byte* at = right + i * sizeof(T);
    Access<T>::put(at, O::of(Access<T>::get(left + i * sizeof(T)), Access<T>::get(at)));
  }
}

template <class O, class T>
constexpr Reducer::Apply kernel() {
  if constexpr (requires(T a, T b) { O::of(a, b); }) {
    return &apply<O, T>;
  } else {
    return nullptr;
  }
}

template <class... O>
struct Operations {
  template <class T>
  static void fill_type(KernelTable& table, Type type) {
    unsigned op = 0;
    ((table.apply[op++][static_cast<unsigned>(type)] = kernel<O, T>()), ...);
  }
};
using AllOperations = Operations<Sum, Prod, Min, Max, Land, Lor, Lxor, Band, Bor, Bxor, Minloc, Maxloc>;

KernelTable make_table() {
  KernelTable table{};
  AllOperations::fill_type<std::int8_t>(table, Type::i8);
  AllOperations::fill_type<std::int16_t>(table, Type::i16);
  AllOperations::fill_type<std::int32_t>(table, Type::i32);
  AllOperations::fill_type<std::int64_t>(table, Type::i64);
  AllOperations::fill_type<std::uint8_t>(table, Type::u8);
  AllOperations::fill_type<std::uint16_t>(table, Type::u16);
  AllOperations::fill_type<std::uint32_t>(table, Type::u32);
  AllOperations::fill_type<std::uint64_t>(table, Type::u64);
  AllOperations::fill_type<float>(table, Type::f32);
  AllOperations::fill_type<double>(table, Type::f64);
  AllOperations::fill_type<long double>(table, Type::f80);
  AllOperations::fill_type<Complex<float>>(table, Type::c32);
  AllOperations::fill_type<Complex<double>>(table, Type::c64);
  AllOperations::fill_type<Complex<long double>>(table, Type::c80);
  AllOperations::fill_type<Truth>(table, Type::boolean);
  AllOperations::fill_type<Pair<float, std::int32_t>>(table, Type::f32_i32);
  AllOperations::fill_type<Pair<double, std::int32_t>>(table, Type::f64_i32);
  AllOperations::fill_type<Pair<std::int64_t, std::int32_t>>(table, Type::i64_i32);
  AllOperations::fill_type<Pair<std::int32_t, std::int32_t>>(table, Type::i32_i32);
  AllOperations::fill_type<Pair<std::int16_t, std::int32_t>>(table, Type::i16_i32);
  AllOperations::fill_type<Pair<long double, std::int32_t>>(table, Type::f80_i32);
  AllOperations::fill_type<Pair<float, float>>(table, Type::f32_f32);
  AllOperations::fill_type<Pair<double, double>>(table, Type::f64_f64);
  return table;
}

constexpr Kernels kKernels = {make_table};

}  // namespace
}  // namespace urakata::reduce
