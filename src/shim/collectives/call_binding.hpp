// SPDX-License-Identifier: BSD-3-Clause
// Binding a request to its call: addresses for the schedule's buffers, and what packs and reduces around them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "shim/collectives/call.hpp"
#include "shim/collectives/call_reading.hpp"
#include "shim/requests/request.hpp"

namespace urakata::shim {

// How an operation without a reduction uses recvbuf on a rank. All of it is output, except at bcast's root. It is input
// at bcast's root, and if the operation is in place: all blocks for alltoall, else the rank's own block.
struct Received {
  bool in = false;
  bool out = false;
  std::uint32_t own = ~0U;  // the block that is input; ~0: all
};
Received received_of(const Key& key, std::uint32_t rank);

// Binds the call's buffers to the request's instance (give_run()). The request retains the datatypes and the
// user-defined operation that the instance needs. Throws std::bad_alloc.
void bind_call(const Call& call, const Reading& reading, Request& request);

// The request retains the datatypes of both sides, or that of a reduction's elements.
void retain_types(const Reading& reading, Request& request);

}  // namespace urakata::shim
