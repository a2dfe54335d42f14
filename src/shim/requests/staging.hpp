// SPDX-License-Identifier: BSD-3-Clause
// Operations on buffers in device memory. The operation works on a staging buffer, which is filled before the operation
// starts and copied back after it has completed, both within the program's own calls. Only the rank itself knows where
// its buffer lies, so no decision that ranks must agree on depends on it.
//
// Staging happens only if have_devices(), and never on the fast paths.
//
// Thread-safety: as MPI says of the request's calls.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "device/staging_buffer.hpp"
#include "shim/requests/message_state.hpp"

namespace urakata::shim {

struct Request;

// The address of a buffer, without const: the schedule says whether an operation writes the buffer, the type does not.
inline std::byte* writable(const void* address) { return static_cast<std::byte*>(const_cast<void*>(address)); }

// The staging buffers of a request.
struct Staging {
  std::unique_ptr<device::StagingBuffer> send;  // for a collective's send buffer, or the send beside a receive
  std::unique_ptr<device::StagingBuffer> recv;  // for a collective's receive buffer, or the message
  std::byte* message = nullptr;                 // the program's address of the message
  bool written = false;                         // whether the result is in the program's memory
};

// The functions below that return int return an MPI error code. They have logged the reason and called no error
// handler.

// Replaces the address by that of a staging buffer, if the buffer of these parts needs one. The request gets the
// staging buffer.
int stage(std::vector<device::StagingBuffer::Part> parts, const void*& address, Request& request,
          std::unique_ptr<device::StagingBuffer> Staging::*to);
// Fills the staging buffers of a request that is about to start.
int fetch(Request& request);

// Whether the descriptor's buffer must be staged; true also if that is unknown: staging it then reports the error.
[[gnu::cold]] bool needs_staging(const MessageDescriptor& descriptor);
// Stages the message of a request that is about to start.
int stage_message(Request& request);
// Stages a send that becomes part of a receive's request, as in MPI_Sendrecv. The descriptor's address becomes that of
// a filled staging buffer.
int stage_beside(Request& request, MessageDescriptor& send);

// Copies the received data of a finished request to the program's memory, unless that has been done.
int settle(Request& request);

}  // namespace urakata::shim
