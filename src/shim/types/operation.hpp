// SPDX-License-Identifier: BSD-3-Clause
// What the shim knows of the program's reduction operations.
//
// A UserOperation lives until MPI_Op_free and the last collective that uses it are past, so a program may free it while
// a reduction runs.
//
// Thread-safety: members of UserOperation by any thread; functions by threads that may call the MPI library.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>

#include "reduce/reducer.hpp"
#include "shim/native/abi.hpp"
#include "shim/types/datatype.hpp"

namespace urakata::shim {

// A user-defined operation, run by the MPI library's MPI_Reduce_local.
class UserOperation {
 public:
  explicit UserOperation(MPI_Op handle);
  ~UserOperation() { delete attached_as_.load(std::memory_order_relaxed); }
  UserOperation(const UserOperation&) = delete;
  UserOperation& operator=(const UserOperation&) = delete;

  MPI_Op handle() const { return handle_; }
  bool commutative() const { return commutative_; }
  // The name under which eBPF code that computes the same is attached (ura_op_kernel()); empty: there is none.
  std::string_view attached_as() const;
  void attach_as(std::unique_ptr<const std::string> name);  // only the first call has an effect
  // Whether a message has said that the eBPF code of this name is not attached.
  bool told_missing() const { return told_missing_.load(std::memory_order_relaxed); }
  void note_told_missing() { told_missing_.store(true, std::memory_order_relaxed); }
  void retain() { users_.fetch_add(1, std::memory_order_relaxed); }
  void release();  // the last one frees the MPI library's handle (on a progress thread: left_handles.hpp)

 private:
  MPI_Op handle_;
  bool commutative_ = true;
  std::atomic<const std::string*> attached_as_{nullptr};  // owned; nullptr: no name
  std::atomic<bool> told_missing_{false};
  std::atomic<std::uint32_t> users_{1};  // references; one is the program's until MPI_Op_free
};

// A user-defined operation on elements of one type.
struct UserReducer : reduce::Reducer {
  UserReducer(UserOperation& operation, const Datatype& type);
  UserOperation* operation;
  const Datatype* type;
};

// What an operation handle means on a type. At most one member is set. Neither: the operation is not defined for the
// type, or not known, and the call falls back.
struct Meaning {
  const reduce::Reducer* builtin = nullptr;
  UserOperation* user = nullptr;
};
Meaning meaning_of(MPI_Op op, const Datatype& type);
// The user-defined operation of a handle; nullptr: it is a predefined operation, or MPI_OP_NULL.
UserOperation* user_operation(MPI_Op op);

// For MPI_Op_free. True: the caller must not free the handle; it is freed, now or later, when nothing uses it any more.
// False: the caller frees it.
bool forget_operation(MPI_Op op);

}  // namespace urakata::shim
