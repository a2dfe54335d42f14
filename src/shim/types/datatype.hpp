// SPDX-License-Identifier: BSD-3-Clause
// What the shim knows of the program's datatypes.
//
// A datatype is reduced to its canonical shape, and moved by our own loops; the few that cannot be reduced
// (type_tree.hpp) are packed and unpacked by the MPI library. So every committed type can be moved: whether a type can
// must not decide who performs an operation, since the partner's type may be another one.
//
// A datatype is described once and kept until MPI_Type_free and the last operation on it are past; operations retain
// it, so a program may free a type while an operation runs. The MPI library's handle then lives as long.
//
// Thread-safety: datatype(), forget_datatype() by any thread; a Datatype is immutable but for its count of users.
#pragma once

#include <atomic>
#include <optional>

#include "base/handle_map.hpp"
#include "layout/layout.hpp"
#include "layout/shape.hpp"
#include "reduce/reducer.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

class Datatype final : public layout::Layout {
 public:
  explicit Datatype(MPI_Datatype handle);  // of a committed type
  Datatype(const Datatype&) = delete;
  Datatype& operator=(const Datatype&) = delete;

  void pack(const std::byte* base, std::uint64_t first, std::uint64_t count, std::byte* packed) const override;
  void unpack(const std::byte* packed, std::byte* base, std::uint64_t first, std::uint64_t count) const override;

  const layout::Shape* shape() const override { return shape_.has_value() ? &*shape_ : nullptr; }

  // The program's own, valid as long as this object is retained: a user-defined operation has to get this one.
  MPI_Datatype handle() const { return handle_; }
  bool predefined() const { return predefined_; }
  std::optional<reduce::Type> arithmetic() const { return arithmetic_; }  // for built-in reductions

  // Predefined types are never freed.
  void retain() const {
    if (!predefined_) users_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() const;  // the last one frees the MPI library's handle
  // MPI_Type_free: the registry does not retain it any more. True: an operation does, and the handle is freed after it.
  bool leave_registry() const;

 private:
  template <class Visit>
  void in_native_pieces(std::uint64_t first, std::uint64_t count, Visit visit) const;

  MPI_Datatype handle_;
  bool predefined_ = false;
  std::optional<layout::Shape> shape_;
  std::optional<reduce::Type> arithmetic_;
  mutable std::atomic<std::uint32_t> users_{1};  // the registry's own until MPI_Type_free
};

using Datatypes = HandleMap<MPI_Datatype, const Datatype>;
// datatype() of a handle that the thread has not asked for lately.
const Datatype* look_up_datatype(MPI_Datatype handle);

// The description of a type; nullptr for MPI_DATATYPE_NULL, what the MPI library does not know and what is not
// committed.
inline const Datatype* datatype(MPI_Datatype handle) {
  const Datatypes::Found found = Datatypes::recall(handle);
  return found.known ? found.object : look_up_datatype(handle);
}

// MPI_Type_free is about to free the handle. True: do not, it is freed later.
bool forget_datatype(MPI_Datatype handle);

// Descriptions of the types for built-in reductions; called once after the MPI library's initialisation.
void register_predefined();

}  // namespace urakata::shim
