// SPDX-License-Identifier: BSD-3-Clause
#include "shim/types/datatype.hpp"

#include <algorithm>
#include <climits>
#include <cstddef>
#include <new>
#include <numeric>
#include <vector>

#include "base/progress_thread.hpp"
#include "layout/moving.hpp"
#include "shim/native/large_count.hpp"
#include "shim/native/left_handles.hpp"
#include "shim/native/native_library.hpp"
#include "shim/native/private_comms.hpp"
#include "shim/types/type_tree.hpp"

namespace urakata::shim {

namespace {

using reduce::Type;

Datatypes& datatypes() {
  static auto* map = new Datatypes;  // lives as long as the process: progress threads may outlast main
  return *map;
}

struct Arithmetic {
  MPI_Datatype handle;
  Type type;
};
std::vector<Arithmetic>& arithmetic_types() {
  static auto* list = new std::vector<Arithmetic>;
  return *list;
}

// Types whose meaning depends on their size, which the Fortran compiler of the MPI library decides.
struct SizedArithmetic {
  MPI_Datatype handle;
  Type (*type_of)(std::size_t);
  std::size_t parts;  // numbers in an element: 2 in a pair, else 1
};
std::vector<SizedArithmetic>& sized_types() {
  static auto* list = new std::vector<SizedArithmetic>;
  return *list;
}

std::optional<Type> arithmetic_of(MPI_Datatype handle, std::uint64_t bytes) {
  for (const Arithmetic& entry : arithmetic_types()) {
    if (entry.handle == handle) return entry.type;
  }
  for (const SizedArithmetic& entry : sized_types()) {
    if (entry.handle == handle) return entry.type_of(bytes / entry.parts);
  }
  return std::nullopt;
}

Type signed_of(std::size_t bytes) {
  return bytes == 1 ? Type::i8 : bytes == 2 ? Type::i16 : bytes == 4 ? Type::i32 : Type::i64;
}
Type unsigned_of(std::size_t bytes) {
  return bytes == 1 ? Type::u8 : bytes == 2 ? Type::u16 : bytes == 4 ? Type::u32 : Type::u64;
}
Type float_of(std::size_t bytes) { return bytes == 4 ? Type::f32 : bytes == 8 ? Type::f64 : Type::f80; }
Type complex_of(std::size_t bytes) { return bytes == 8 ? Type::c32 : bytes == 16 ? Type::c64 : Type::c80; }

// Finds out by packing no element, on the private communicator, where errors return. A call with an uncommitted type
// falls back, so that the MPI library reports the error on the call's communicator.
bool is_committed(MPI_Datatype handle) {
  unsigned char none = 0;
  int position = 0;
  return native.Pack(&none, 0, handle, &none, 0, &position, private_comms.world) == MPI_SUCCESS;
}

// Whether packing keeps the bytes of an element in the order of memory, for a type without a shape. Equal size and
// extent do not tell: the blocks of an indexed type may run backwards. So this packs an element whose bytes hold their
// own positions. A type too large to try counts as not contiguous, which is always correct.
bool packs_as_it_lies(MPI_Datatype handle, std::uint64_t size) {
  constexpr std::uint64_t kTry = 1 << 16;
  if (size > kTry) return false;
  std::vector<unsigned char> from(size);
  std::vector<unsigned char> to(size);
  for (int shift = 0; shift <= 8; shift += 8) {
    for (std::size_t i = 0; i < size; ++i) from[i] = static_cast<unsigned char>(i >> shift);
    int position = 0;
    if (native.Pack(from.data(), 1, handle, to.data(), static_cast<int>(size), &position, MPI_COMM_SELF) !=
        MPI_SUCCESS) {
      return false;
    }
    if (from != to) return false;
  }
  return true;
}

// An element that is too large for the MPI library's MPI_Pack moves as a message from this process to itself. `from`
// and `to` are one element each.
void by_message(const void* from, MPI_Datatype from_type, void* to, MPI_Datatype to_type) {
  static std::atomic<unsigned> calls{0};  // tells calls of different threads, and from the progress hook, apart by tag
  const int tag = static_cast<int>(calls.fetch_add(1, std::memory_order_relaxed) % 32768);
  MPI_Request both[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  native.Irecv(to, 1, to_type, 0, tag, private_comms.self, &both[0]);
  native.Isend(from, 1, from_type, 0, tag, private_comms.self, &both[1]);
  native.Waitall(2, both, MPI_STATUSES_IGNORE);
}

}  // namespace

Datatype::Datatype(MPI_Datatype given) : handle_(given) {
  MPI_Count bytes = 0;
  MPI_Count lower = 0;
  MPI_Count length = 0;
  MPI_Count true_lower = 0;
  MPI_Count true_length = 0;
  native.Type_size_x(given, &bytes);
  native.Type_get_extent_x(given, &lower, &length);
  native.Type_get_true_extent_x(given, &true_lower, &true_length);
  size = static_cast<std::uint64_t>(bytes);
  extent = static_cast<std::uint64_t>(length);
  true_lb = true_lower;
  true_extent = static_cast<std::uint64_t>(true_length);
  predefined_ = is_predefined(given);
  try {
    if (const auto map = type_map_of(given)) shape_.emplace(*map);
  } catch (const std::bad_alloc&) {  // a long list of blocks: the MPI library moves it
    shape_.reset();
  }
  contiguous = shape_.has_value() ? shape_->contiguous()
                                  : bytes == length && bytes == true_length && true_lower == 0 && lower == 0;
  if (predefined_) {
    if (size != 0) arithmetic_ = arithmetic_of(given, size);  // an MPI library without Fortran may have 0 there
  } else if (!shape_.has_value()) {
    contiguous = contiguous && packs_as_it_lies(given, size);
  }
}

void Datatype::release() const {
  if (predefined_ || users_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  MPI_Datatype handle = handle_;
  if (on_progress_thread) {
    leave_type(handle);
  } else {
    int finalized = 0;
    native.Finalized(&finalized);
    if (finalized == 0) native.Type_free(&handle);
  }
  delete this;
}

bool Datatype::leave_registry() const {
  if (predefined_) return false;
  if (users_.fetch_sub(1, std::memory_order_acq_rel) != 1) return true;
  delete this;
  return false;
}

void Datatype::pack(const std::byte* base, std::uint64_t first, std::uint64_t count, std::byte* packed) const {
  if (shape_.has_value()) {
    layout::pack({*shape_, base, first + count}, first * size, {packed, count * size});
    return;
  }
  in_native_pieces(first, count, [&](std::int64_t offset, std::uint64_t elements, std::uint64_t bytes) {
#if defined(URAKATA_LARGE_COUNTS)
    if (native.Pack_c != nullptr) {
      MPI_Count at = 0;
      native.Pack_c(base + offset, static_cast<MPI_Count>(elements), handle_, packed, static_cast<MPI_Count>(bytes),
                    &at, MPI_COMM_SELF);
      packed += bytes;
      return;
    }
#endif
    if (bytes > INT_MAX) {
      const LargeCount whole(bytes);
      by_message(base + offset, handle_, packed, whole.type);
      packed += bytes;
      return;
    }
    int at = 0;
    native.Pack(base + offset, static_cast<int>(elements), handle_, packed, static_cast<int>(bytes), &at,
                MPI_COMM_SELF);
    packed += bytes;
  });
}

void Datatype::unpack(const std::byte* packed, std::byte* base, std::uint64_t first, std::uint64_t count) const {
  if (shape_.has_value()) {
    layout::unpack({packed, count * size}, {*shape_, base, first + count}, first * size);
    return;
  }
  in_native_pieces(first, count, [&](std::int64_t offset, std::uint64_t elements, std::uint64_t bytes) {
#if defined(URAKATA_LARGE_COUNTS)
    if (native.Unpack_c != nullptr) {
      MPI_Count at = 0;
      native.Unpack_c(packed, static_cast<MPI_Count>(bytes), &at, base + offset, static_cast<MPI_Count>(elements),
                      handle_, MPI_COMM_SELF);
      packed += bytes;
      return;
    }
#endif
    if (bytes > INT_MAX) {
      const LargeCount whole(bytes);
      by_message(packed, whole.type, base + offset, handle_);
      packed += bytes;
      return;
    }
    int at = 0;
    native.Unpack(packed, static_cast<int>(bytes), &at, base + offset, static_cast<int>(elements), handle_,
                  MPI_COMM_SELF);
    packed += bytes;
  });
}

// Visits the elements in pieces that MPI_Pack takes in one call: at most INT_MAX bytes, or one element if it is larger.
template <class Visit>
void Datatype::in_native_pieces(std::uint64_t first, std::uint64_t count, Visit visit) const {
  const std::uint64_t most = std::max<std::uint64_t>(INT_MAX / std::max<std::uint64_t>(size, 1), 1);
  while (count != 0) {
    const std::uint64_t elements = std::min(count, most);
    visit(static_cast<std::int64_t>(first * extent), elements, elements * size);
    first += elements;
    count -= elements;
  }
}

namespace {

// The description of a type that the registry does not have yet; nullptr as datatype().
[[gnu::noinline]] const Datatype* meet(MPI_Datatype handle) {
  if (handle == MPI_DATATYPE_NULL) return nullptr;
  MPI_Count bytes = 0;
  if (native.Type_size_x(handle, &bytes) != MPI_SUCCESS || bytes == MPI_UNDEFINED) return nullptr;
  if (!is_predefined(handle) && !is_committed(handle)) return nullptr;
  const auto* made = new Datatype(handle);
  const Datatype* known = datatypes().insert(handle, made);
  if (known != made) delete made;
  return known;  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): owned by the registry, or deleted
}

}  // namespace

const Datatype* look_up_datatype(MPI_Datatype handle) {
  const auto found = datatypes().find(handle);
  return found.known ? found.object : meet(handle);
}

bool forget_datatype(MPI_Datatype handle) {
  const Datatype* type = datatypes().erase(handle);
  return type != nullptr && type->leave_registry();
}

void register_predefined() {
  auto& list = arithmetic_types();
  if (!list.empty()) return;
  list = {
      {MPI_SIGNED_CHAR, Type::i8},
      {MPI_SHORT, Type::i16},
      {MPI_INT, Type::i32},
      {MPI_LONG, signed_of(sizeof(long))},
      {MPI_LONG_LONG, Type::i64},
      {MPI_UNSIGNED_CHAR, Type::u8},
      {MPI_BYTE, Type::u8},  // meaning_of() admits bitwise operations only
      {MPI_UNSIGNED_SHORT, Type::u16},
      {MPI_UNSIGNED, Type::u32},
      {MPI_UNSIGNED_LONG, unsigned_of(sizeof(unsigned long))},
      {MPI_UNSIGNED_LONG_LONG, Type::u64},
      {MPI_INT8_T, Type::i8},
      {MPI_INT16_T, Type::i16},
      {MPI_INT32_T, Type::i32},
      {MPI_INT64_T, Type::i64},
      {MPI_UINT8_T, Type::u8},
      {MPI_UINT16_T, Type::u16},
      {MPI_UINT32_T, Type::u32},
      {MPI_UINT64_T, Type::u64},
      {MPI_AINT, Type::i64},
      {MPI_OFFSET, Type::i64},
      {MPI_COUNT, Type::i64},
      {MPI_FLOAT, Type::f32},
      {MPI_DOUBLE, Type::f64},
      {MPI_LONG_DOUBLE, Type::f80},
      {MPI_C_BOOL, Type::boolean},
      {MPI_CXX_BOOL, Type::boolean},
      {MPI_C_FLOAT_COMPLEX, Type::c32},
      {MPI_C_DOUBLE_COMPLEX, Type::c64},
      {MPI_C_LONG_DOUBLE_COMPLEX, Type::c80},
      {MPI_CXX_FLOAT_COMPLEX, Type::c32},
      {MPI_CXX_DOUBLE_COMPLEX, Type::c64},
      {MPI_CXX_LONG_DOUBLE_COMPLEX, Type::c80},
      {MPI_FLOAT_INT, Type::f32_i32},
      {MPI_DOUBLE_INT, Type::f64_i32},
      {MPI_LONG_INT, Type::i64_i32},
      {MPI_2INT, Type::i32_i32},
      {MPI_SHORT_INT, Type::i16_i32},
      {MPI_LONG_DOUBLE_INT, Type::f80_i32},
  };
  sized_types() = {
    {MPI_INTEGER, signed_of, 1},
    {MPI_REAL, float_of, 1},
    {MPI_DOUBLE_PRECISION, float_of, 1},
    {MPI_COMPLEX, complex_of, 1},
    {MPI_DOUBLE_COMPLEX, complex_of, 1},
#if defined(MPI_INTEGER1)
    {MPI_INTEGER1, signed_of, 1},
#endif
#if defined(MPI_INTEGER2)
    {MPI_INTEGER2, signed_of, 1},
#endif
#if defined(MPI_INTEGER4)
    {MPI_INTEGER4, signed_of, 1},
#endif
#if defined(MPI_INTEGER8)
    {MPI_INTEGER8, signed_of, 1},
#endif
    {MPI_REAL4, float_of, 1},
    {MPI_REAL8, float_of, 1},
    {MPI_COMPLEX8, complex_of, 1},
    {MPI_COMPLEX16, complex_of, 1},
    {MPI_2REAL, [](std::size_t) { return Type::f32_f32; }, 2},
    {MPI_2DOUBLE_PRECISION, [](std::size_t) { return Type::f64_f64; }, 2},
    {MPI_2INTEGER, [](std::size_t) { return Type::i32_i32; }, 2},
  };
}

}  // namespace urakata::shim
