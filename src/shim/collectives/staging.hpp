// Buffers in memory that is not the processor's: an operation works on an image of them, which is read before it begins
// and written back after its end, in the program's own calls. A buffer's kind is known to its rank alone, so nothing
// else depends on it.
//
// All of this happens where have_devices(), and not on the ways that are fast.
//
// Thread-safety: as MPI says of the request's calls; settle_left_behind() by any thread of the program.
#pragma once

#include <memory>

#include "device/image.hpp"
#include "shim/collectives/call.hpp"
#include "shim/collectives/call_reading.hpp"
#include "shim/messages/message_descriptor.hpp"
#include "shim/native/abi.hpp"

namespace urakata::shim {

struct Request;

// What a request holds whose operation works on images.
struct Staging {
  std::unique_ptr<device::Image> send;  // of a collective; of the send beside a receive
  std::unique_ptr<device::Image> recv;  // of a collective; of the message
  std::byte* message = nullptr;         // the program's address of the message
  bool written = false;                 // the result is in the program's memory
};

// All functions below return an MPI error code, and have logged why, but called no error handler.

// Of a collective that is about to be bound: the addresses of what is staged become those of its images. The types are
// retained by the request.
int stage_call(Call& call, Reading& reading, Request& request);
// Has a collective that only moves a buffer that must be staged? As needs_staging().
[[gnu::cold]] bool needs_staging(const Reading& reading);
// Of a bound collective that is about to start.
int fetch(Request& request);

// Has the descriptor a buffer that must be staged? True also where that cannot be found out: staging it says so.
[[gnu::cold]] bool needs_staging(const MessageDescriptor& descriptor);
// Of a request for a message that is about to start.
int stage_message(Request& request);
// Of a send that becomes part of a request: the descriptor's address becomes that of an image, which has been read.
int stage_beside(Request& request, MessageDescriptor& send);

// The request is finished: what it has received goes to the program's memory, if it has not yet.
int settle(Request& request);

// The program frees a request that is active: a later call settles and destroys it.
void leave_to_settle(Request& request);
// Settles those that are finished. Returns whether there was one.
bool settle_left_behind();

}  // namespace urakata::shim
