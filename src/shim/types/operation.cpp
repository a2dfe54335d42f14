// SPDX-License-Identifier: BSD-3-Clause
#include "shim/types/operation.hpp"

#include <optional>
#include <tuple>
#include <utility>

#include "base/handle_map.hpp"
#include "base/int_pieces.hpp"
#include "base/progress_thread.hpp"
#include "shim/native/left_handles.hpp"
#include "shim/native/native_library.hpp"

namespace urakata::shim {

namespace {

using reduce::Op;

HandleMap<MPI_Op, UserOperation>& user_operations() {
  static auto* map = new HandleMap<MPI_Op, UserOperation>;
  return *map;
}

std::optional<Op> builtin_op(MPI_Op op) {
  if (op == MPI_SUM) return Op::sum;
  if (op == MPI_PROD) return Op::prod;
  if (op == MPI_MIN) return Op::min;
  if (op == MPI_MAX) return Op::max;
  if (op == MPI_LAND) return Op::land;
  if (op == MPI_LOR) return Op::lor;
  if (op == MPI_LXOR) return Op::lxor;
  if (op == MPI_BAND) return Op::band;
  if (op == MPI_BOR) return Op::bor;
  if (op == MPI_BXOR) return Op::bxor;
  if (op == MPI_MINLOC) return Op::minloc;
  if (op == MPI_MAXLOC) return Op::maxloc;
  return std::nullopt;
}

void apply_user(const reduce::Reducer& self, const void* in, void* inout, std::uint64_t count) {
  const auto& reducer = static_cast<const UserReducer&>(self);
  const auto* from = static_cast<const std::byte*>(in);
  auto* to = static_cast<std::byte*>(inout);
  in_int_pieces(count, [&](std::uint64_t first, int piece) {
    native.Reduce_local(from + first * reducer.extent, to + first * reducer.extent, piece, reducer.type->handle(),
                        reducer.operation->handle());
  });
}

}  // namespace

UserOperation::UserOperation(MPI_Op handle) : handle_(handle) {
  int commutes = 1;
  native.Op_commutative(handle, &commutes);
  commutative_ = commutes != 0;
}

std::string_view UserOperation::attached_as() const {
  const std::string* const name = attached_as_.load(std::memory_order_acquire);
  return name != nullptr ? *name : std::string_view();
}

void UserOperation::attach_as(std::unique_ptr<const std::string> name) {
  const std::string* before = nullptr;
  if (attached_as_.compare_exchange_strong(before, name.get(), std::memory_order_acq_rel)) {
    std::ignore = name.release();
  }
}

void UserOperation::release() {
  if (users_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  if (on_progress_thread) {
    leave_operation(handle_);
  } else {
    int finalized = 0;
    native.Finalized(&finalized);
    if (finalized == 0) native.Op_free(&handle_);
  }
  delete this;
}

UserReducer::UserReducer(UserOperation& of, const Datatype& on) : operation(&of), type(&on) {
  apply = apply_user;
  size = on.size;
  extent = on.extent;
  commutative = of.commutative();
  callers_only = true;
}

Meaning meaning_of(MPI_Op op, const Datatype& type) {
  if (const auto known = builtin_op(op)) {
    const bool bitwise = *known == Op::band || *known == Op::bor || *known == Op::bxor;
    if (type.handle() == MPI_BYTE && !bitwise) return {};  // for the MPI library to refuse
    const auto arithmetic = type.arithmetic();
    return {arithmetic ? reduce::builtin(*known, *arithmetic) : nullptr, nullptr};
  }
  return {nullptr, user_operation(op)};
}

UserOperation* user_operation(MPI_Op op) {
  if (op == MPI_OP_NULL || op == MPI_REPLACE || op == MPI_NO_OP || builtin_op(op)) return nullptr;
  const auto found = user_operations().find(op);
  if (found.known) return found.object;
  auto* made = new UserOperation(op);
  UserOperation* known = user_operations().insert(op, made);
  if (known != made) delete made;  // another thread has registered one, which owns the MPI library's handle
  return known;
}

bool forget_operation(MPI_Op op) {
  UserOperation* operation = user_operations().erase(op);
  if (operation == nullptr) return false;
  operation->release();
  return true;
}

}  // namespace urakata::shim
