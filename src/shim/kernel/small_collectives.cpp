// SPDX-License-Identifier: BSD-3-Clause
// Small collectives that eBPF code computes.
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.hpp"
#include "engine/kernel.hpp"
#include "shim/kernel/channel_sets.hpp"
#include "shim/kernel/kernel_operations.hpp"
#include "xdp/frame.h"

namespace urakata::shim {

static_assert(kLongestOpName == sizeof(ura_xdp_ops::ura_xdp_own_op::name) - 1);

namespace {

using collectives::Operation;
using reduce::Op;
using reduce::Type;

std::optional<ura_xdp_operation> operation_of(Operation operation) {
  switch (operation) {
    case Operation::allreduce:
      return URA_XDP_ALLREDUCE;
    case Operation::reduce:
      return URA_XDP_REDUCE;
    case Operation::bcast:
      return URA_XDP_BCAST;
    case Operation::barrier:
      return URA_XDP_BARRIER;
    default:
      return std::nullopt;
  }
}

struct NamedReducer {
  const reduce::Reducer* reducer;
  ura_xdp_op op;
  ura_xdp_type type;
};

// What eBPF code has, in the order of enums ura_xdp_op and ura_xdp_type. Its bit operations do not look at the type.
constexpr std::array kOps = {Op::sum, Op::prod, Op::min, Op::max, Op::band, Op::bor, Op::bxor};
constexpr std::array kTypes = {Type::i8,  Type::i16, Type::i32, Type::i64, Type::u8,
                               Type::u16, Type::u32, Type::u64, Type::f32, Type::f64};
using NamedReducers = std::array<NamedReducer, kOps.size() * kTypes.size()>;

const NamedReducers* name_reducers() {
  auto* const made = new NamedReducers;
  for (std::size_t at = 0; at < made->size(); ++at) {
    const std::size_t op = at / kTypes.size();
    const std::size_t type = at % kTypes.size();
    (*made)[at] = {reduce::builtin(kOps[op], kTypes[type]), static_cast<ura_xdp_op>(op),
                   static_cast<ura_xdp_type>(type)};
  }
  return made;
}

const NamedReducer* known(const reduce::Reducer* reducer) {
  static const NamedReducers* const all = name_reducers();
  if (reducer == nullptr) return nullptr;
  for (const NamedReducer& one : *all) {
    if (one.reducer == reducer) return &one;
  }
  return nullptr;
}

// Operation and type of a reduction, as they stand in a form; nullopt: eBPF code does not have the operation.
struct OpAndType {
  std::uint32_t op;
  std::uint32_t type;
};
std::optional<OpAndType> op_of(const SmallCall& call, const xdp::Offload& offload) {
  if (call.meaning.user != nullptr) {
    const auto own = offload.op_named(call.meaning.user->attached_as(), call.element->size);
    return own ? std::optional(OpAndType{*own, 0}) : std::nullopt;
  }
  const NamedReducer* const found = known(call.meaning.builtin);
  return found != nullptr ? std::optional(OpAndType{found->op, found->type}) : std::nullopt;
}

// The form of a call, which says all that eBPF code needs to know of it; nullopt: eBPF code does not compute the call.
std::optional<std::uint32_t> form_of(const SmallCall& call, const xdp::Offload& offload) {
  const auto operation = operation_of(call.operation);
  if (!operation || call.bytes > offload.most()) return std::nullopt;
  const auto bytes = static_cast<std::uint32_t>(call.bytes);
  const std::uint32_t root = call.root & (URA_XDP_RANKS - 1);
  if (*operation == URA_XDP_BARRIER || *operation == URA_XDP_BCAST) {
    if (bytes == 0 && *operation == URA_XDP_BCAST) return std::nullopt;
    return URA_XDP_FORM(*operation, root, 0, 0, bytes);
  }
  if (bytes == 0 || call.element == nullptr || !call.element->contiguous) return std::nullopt;
  const auto what = op_of(call, offload);
  if (!what) return std::nullopt;
  return URA_XDP_FORM(*operation, root, what->op, what->type, bytes);
}

// Why eBPF code does not compute the operation of this name on elements of `element` bytes. Empty: it does, or the
// nodes' operations differ, which open_offload() has said already.
std::string why_not_attached(const xdp::Offload* offload, std::string_view name, std::uint64_t element) {
  if (offload == nullptr) return "there is no eBPF code between all of a communicator's ranks";
  if (!offload->same_ops() || offload->op_named(name, element)) return "";
  for (const auto& one : offload->side().ops.of) {
    if (name != one.name) continue;
    return "the attached one is of elements of " + std::to_string(one.bytes) + " bytes, not " + std::to_string(element);
  }
  return "it is not attached (urakata kernel list)";
}

}  // namespace

void tell_of_missing_op(const SmallCall& call, const engine::KernelPart& part, bool first_rank) {
  UserOperation* const user = call.meaning.user;
  if (user == nullptr || user->attached_as().empty() || user->told_missing()) return;
  const auto operation = operation_of(call.operation);
  const bool reduces = operation == URA_XDP_ALLREDUCE || operation == URA_XDP_REDUCE;
  if (!reduces || call.bytes == 0 || call.bytes > URA_XDP_BYTES || !call.element->contiguous) return;
  const std::string why = why_not_attached(part.offload.get(), user->attached_as(), call.element->size);
  if (why.empty()) return;
  user->note_told_missing();
  if (!first_rank) return;
  log::warning("not eBPF code for operation %s: %s", std::string(user->attached_as()).c_str(), why.c_str());
}

bool by_ebpf(const SmallCall& call, const engine::KernelPart& part) {
  return part.offload != nullptr && form_of(call, *part.offload).has_value();
}

void execute_by_ebpf(const SmallCall& call, const engine::KernelPart& part, engine::Instance& instance,
                     KernelRun& run) {
  const bool bcast = call.operation == Operation::bcast;
  const bool from_result = bcast || call.in_place;
  const xdp::Offload::Work work{*form_of(call, *part.offload), instance.reducer};
  run.small = {*part.offload, work, from_result ? schedule::kRecvBuffer : schedule::kSendBuffer, schedule::kRecvBuffer};
  instance.executor = &run.small;
}

}  // namespace urakata::shim
