// SPDX-License-Identifier: BSD-3-Clause
#include "shim/collectives/call_binding.hpp"

#include <algorithm>
#include <vector>

#include "shim/process/allocation_count.hpp"
#include "shim/process/process_state.hpp"
#include "shim/requests/staging.hpp"

namespace urakata::shim {

namespace {

using collectives::Operation;
using schedule::kRecvBuffer;
using schedule::kSendBuffer;

void retain_type(Request& request, const Datatype* type) {
  if (type->predefined()) return;
  type->retain();
  request.types.push_back(type);
}

// Whether only the MPI library can pack the type.
bool needs_native(const Datatype& type) { return !type.contiguous && type.shape() == nullptr; }

// Types with holes travel packed: the schedule sees bytes without gaps, and moves before and after it do the rest.
// `in`: the buffer holds input, in all blocks (`own_only` is ~0) or in block `own_only`. `out`: the schedule's result
// goes back to the buffer.
std::byte* pack_around(const Side& side, Request& request, std::vector<std::byte>& packed, bool in, bool out,
                       std::uint32_t own_only) {
  Run& run = *request.run;
  if (packed.size() < side.bytes) {
    count_allocation();
    packed.resize(side.bytes);
  }
  std::byte* at = packed.data();
  for (std::uint32_t p = 0; p < side.blocks.size(); ++p) {
    const Block& block = side.blocks[p];
    const engine::Move move{block.type, writable(side.address) + block.displacement, block.elements, at};
    if (block.elements != 0) {
      retain_type(request, block.type);
      run.callers_only = run.callers_only || (!process_state.multiple && needs_native(*block.type));
      if (in && (own_only == ~0U || own_only == p)) run.packs.push_back(move);
      if (out) run.unpacks.push_back(move);
    }
    at += block.elements * block.type->size;
  }
  return packed.data();
}

void bind_reduction(const Call& call, const Reading& reading, Request& request) {
  Run& run = *request.run;
  const Datatype* element = reading.element;
  run.bind(kSendBuffer, writable(call.send.address));
  run.bind(kRecvBuffer, writable(call.recv.address));
  if (UserOperation* user = reading.meaning.user) {
    user->retain();
    retain_type(request, element);
    run.reducer = &request.reducer.emplace(*user, *element);
  } else {
    run.reducer = reading.meaning.builtin;
  }
  if (element->contiguous) return run.bind_temps(0);
  run.layout = element;
  run.callers_only = !process_state.multiple && needs_native(*element);
  run.bind_temps(element->true_lb, element->true_extent - std::min(element->true_extent, element->extent));
}

void bind_moves(const Reading& reading, Request& request) {
  Run& run = *request.run;
  const Side& send = reading.send;
  const Side& recv = reading.recv;
  const Received received = received_of(reading.key, request.communicator->rank);
  run.bind(kSendBuffer,
           send.holes ? pack_around(send, request, run.packed_send, true, false, ~0U) : writable(send.address));
  run.bind(kRecvBuffer, recv.holes
                            ? pack_around(recv, request, run.packed_recv, received.in, received.out, received.own)
                            : writable(recv.address));
}

}  // namespace

Received received_of(const Key& key, std::uint32_t rank) {
  const bool bcast = key.operation == Operation::bcast;
  const bool at_root = rank == key.root;
  const bool all_blocks = bcast || key.operation == Operation::alltoall || key.operation == Operation::alltoallv;
  return {bcast ? at_root : key.in_place, !bcast || !at_root, all_blocks ? ~0U : rank};
}

void retain_types(const Reading& reading, Request& request) {
  for (const Side* side : {&reading.send, &reading.recv}) {
    for (const Block& block : side->blocks) retain_type(request, block.type);
  }
  if (reading.element != nullptr) retain_type(request, reading.element);
}

void bind_call(const Call& call, const Reading& reading, Request& request) {
  if (reading.element != nullptr) {
    bind_reduction(call, reading, request);
  } else {
    bind_moves(reading, request);
    request.run->bind_temps(0);
  }
}

}  // namespace urakata::shim
