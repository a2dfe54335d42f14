// SPDX-License-Identifier: BSD-3-Clause
// What the shim knows of the program's datatypes.
//
// A datatype is described by its shape (layout::Shape), and our own loops move it. The MPI library packs and unpacks
// the few types that have no shape (type_tree.hpp). So every committed type can be moved. This is needed since the
// types of an operation may differ between ranks, but all ranks must agree whether Urakata handles the operation.
//
// A Datatype lives until MPI_Type_free and the last operation on it are past. Operations retain it, so a program may
// free a type while an operation runs. The MPI library's handle then lives as long.
//
// Thread-safety: retain(), release() and leave_registry() by any thread. pack() and unpack() of a type without a shape,
// and all functions outside the class, by threads that may call the MPI library; register_predefined() in MPI_Init. A
// Datatype is immutable but for its count of users.
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

  // The program's own handle, valid as long as this object is retained. User-defined operations must be given this one.
  MPI_Datatype handle() const { return handle_; }
  bool predefined() const { return predefined_; }
  std::optional<reduce::Type> arithmetic() const { return arithmetic_; }  // for built-in reductions

  // Predefined types are never freed.
  void retain() const {
    if (!predefined_) users_.fetch_add(1, std::memory_order_relaxed);
  }
  void release() const;  // the last one frees the MPI library's handle (on a progress thread: left_handles.hpp)
  // For MPI_Type_free: gives up the registry's reference. True: an operation still retains the type, and the handle is
  // freed after it. False: the caller frees the handle.
  bool leave_registry() const;

 private:
  template <class Visit>
  void in_native_pieces(std::uint64_t first, std::uint64_t count, Visit visit) const;

  MPI_Datatype handle_;
  bool predefined_ = false;
  std::optional<layout::Shape> shape_;
  std::optional<reduce::Type> arithmetic_;
  mutable std::atomic<std::uint32_t> users_{1};  // references; one is the registry's until MPI_Type_free
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

// For MPI_Type_free. True: the caller must not free the handle; the last operation on it does. False: the caller does.
bool forget_datatype(MPI_Datatype handle);

// Registers the types that built-in reductions know. After the MPI library's MPI_Init.
void register_predefined();

}  // namespace urakata::shim
