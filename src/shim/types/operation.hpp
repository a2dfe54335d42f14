// SPDX-License-Identifier: BSD-3-Clause
// What the shim knows of the program's reduction operations.
//
// Thread-safety: all functions by any thread. A UserOperation is kept until MPI_Op_free and the last operation that
// uses it are past, so a program may free it while a reduction runs.
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
  void attach_as(std::unique_ptr<const std::string> name);  // once; again it has no effect
  // That none is attached where it would be used has been said.
  bool told_missing() const { return told_missing_.load(std::memory_order_relaxed); }
  void note_told_missing() { told_missing_.store(true, std::memory_order_relaxed); }
  void retain() { users_.fetch_add(1, std::memory_order_relaxed); }
  void release();  // the last one frees the MPI library's handle

 private:
  MPI_Op handle_;
  bool commutative_ = true;
  std::atomic<const std::string*> attached_as_{nullptr};  // ours
  std::atomic<bool> told_missing_{false};
  std::atomic<std::uint32_t> users_{1};  // the program's own until MPI_Op_free
};

// A user-defined operation on elements of one type.
struct UserReducer : reduce::Reducer {
  UserReducer(UserOperation& operation, const Datatype& type);
  UserOperation* operation;
  const Datatype* type;
};

// What an operation handle means on a type: one of both, or neither (not defined, or not known: the MPI library's
// business).
struct Meaning {
  const reduce::Reducer* builtin = nullptr;
  UserOperation* user = nullptr;
};
Meaning meaning_of(MPI_Op op, const Datatype& type);
// nullptr: a predefined one, or none.
UserOperation* user_operation(MPI_Op op);

// MPI_Op_free. True: the handle is ours to free later, when nothing uses it any more; the caller must not free it.
bool forget_operation(MPI_Op op);

}  // namespace urakata::shim
