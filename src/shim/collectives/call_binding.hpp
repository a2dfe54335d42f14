// SPDX-License-Identifier: BSD-3-Clause
// Binding a request to its call: addresses for the schedule's buffers, and what packs and reduces around them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shim/collectives/call.hpp"
#include "shim/collectives/call_reading.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {

// What an operation that only moves does with recvbuf on a rank: all of it is output but at bcast's root. It is input
// too for bcast's root and where the operation is in place: the own block only for gathers, everything for alltoall.
struct Received {
  bool in = false;
  bool out = false;
  std::uint32_t own = ~0U;  // the block that is input; ~0: all
};
Received received_of(const Key& key, std::uint32_t rank);

// The request, fresh from make_request(), then holds the types and the operation that it needs.
void bind_call(const Call& call, const Reading& reading, Request& request);

// The request then holds the types of both sides.
void retain_types(const Reading& reading, Request& request);

}  // namespace urakata::shim
