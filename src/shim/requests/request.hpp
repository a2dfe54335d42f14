// SPDX-License-Identifier: BSD-3-Clause
// Requests of our own: what the program gets for a collective that Urakata handles, and for a message that the endpoint
// carries, in a space or over TCP (docs/design/decisions/0004-own-request-handles.md).
//
// Handles are told apart from the MPI library's by their value. Where handles are pointers, ours lie in a reserved
// range of addresses; every 32-bit word of the block that a handle points to holds the request's Fortran integer, since
// Open MPI's Fortran wrappers read that from the MPI library's request at an offset which differs between versions.
// Where handles are integers, ours have MPICH's request bits with the kind "invalid", which no real handle has.
//
// Thread-safety: all functions by any thread. A Request belongs to the thread that may call MPI_Wait on it: one at a
// time, by MPI's rules. Other threads may call endpoint_comm(). When the program has freed the request of a collective,
// the thread that finishes the collective destroys it, also a progress thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/handle_map.hpp"
#include "base/spin_lock.hpp"
#include "observe/call_site.hpp"
#include "observe/message_overlap.hpp"
#include "observe/message_site.hpp"
#include "shim/communicators/communicator.hpp"
#include "shim/native/abi.hpp"
#include "shim/requests/message_state.hpp"
#include "shim/requests/request_operations.hpp"
#include "shim/types/datatype.hpp"
#include "shim/types/operation.hpp"

namespace urakata::shim {

class NeighbourExchange;
struct Run;
struct Staging;

// The first cache line is all that a receive on the fast path needs.
struct alignas(64) Request {
  std::uint32_t index = 0;
  bool persistent = false;
  bool active = false;
  RequestType type = RequestType::none;
  Request* next = nullptr;  // in a list of free requests, or of those left behind (left_behind.hpp)
  MessageState message;     // of type `message`
  // Of types `collective` and `exchange`, retained.
  Communicator* communicator = nullptr;
  Run* run = nullptr;                                       // of type `collective`
  std::unique_ptr<NeighbourExchange> exchange;              // of type `exchange`
  std::atomic<const EndpointComm*> exchange_comm{nullptr};  // of an exchange whose messages are the endpoint's
  std::unique_ptr<Staging> staging;                         // of buffers in device memory; nullptr: there are none
  std::optional<UserReducer> reducer;                       // of a user-defined operation; retained
  std::vector<const Datatype*> types;                       // retained
  observe::CallSite* call_site = nullptr;                   // nullptr: no report is written
  observe::ObservedInstance observed;
  observe::MessageSite* message_site = nullptr;  // of type `message`; nullptr: the report does not note it
  observe::MessageOverlap message_overlap;       // of type `message`, if it has a message_site

  inline MPI_Request handle() const;
  // The endpoint communicator of its message or exchange; nullptr: there is none. May be called while another thread
  // uses the request.
  const EndpointComm* endpoint_comm() {
    const EndpointComm* const of_message = message.endpoint_comm().load(std::memory_order_acquire);
    return of_message != nullptr ? of_message : exchange_comm.load(std::memory_order_acquire);
  }
  bool is_message() const { return type == RequestType::message; }
  const RequestOperations& operations() const { return *request_operations[static_cast<std::size_t>(type)]; }
  bool finished() const {
    if (!active || type == RequestType::finished_send) return true;
    return is_message() ? message.done() : operations().done(*this);
  }
};

// The request of all sends that were finished when they were started: it holds nothing, and lives for ever. If none of
// our requests is left for it, the MPI library's request of a send to MPI_PROC_NULL.
MPI_Request finished_send();

// The MPI_Message of a matched message of ours, which one of our requests holds. It has the bits of the request's
// handle.
MPI_Message message_of(const Request& request);
// The request that holds the message; nullptr if it is none of ours.
Request* holder_of(MPI_Message message);

// Fortran's integers for our requests start here.
inline constexpr std::int32_t kFortranBase = 0x40000000;

// The table of requests: the request of index i is its i-th, and, where handles are pointers, its handle is i blocks
// from the base.
struct RequestTable {
  static constexpr std::uint32_t kMost = 1U << 22;  // most requests that may exist; see `most`
  static constexpr std::size_t kBlock = 256;        // bytes behind a pointer handle
  // Kind "invalid", type "request"; 0 in the rest is MPI_REQUEST_NULL.
  static constexpr std::uintptr_t kMpichPattern = 0x2c000000;

  // First handle value of ours. Until the first request of a library with pointer handles it is above all addresses.
  std::atomic<std::uintptr_t> base{kIntegerHandles ? kMpichPattern + 1 : ~std::uintptr_t{0} / 2};
  // Number of handle values of ours, from `base`; for pointer handles 0 until the first request. A thread may see the
  // changes of `base` and `range` in either order: with a range of 0 no handle is ours.
  std::atomic<std::uintptr_t> range{kIntegerHandles ? kMost : 0};
  std::uint32_t most = kMost;  // requests that there is room for; fewer if addresses are limited (ulimit -v)
  Request* requests = nullptr;
  std::atomic<std::uint32_t> made{0};  // number of requests that exist

  std::uintptr_t offset_of(MPI_Request handle) const { return bits(handle) - base.load(std::memory_order_relaxed); }
};
[[gnu::visibility("hidden")]] extern constinit RequestTable request_table;

// For a look at a request of another thread: while it is held, a request whose `exchange_comm` is set keeps its
// exchange, and one with an endpoint communicator keeps its mixed receive.
[[gnu::visibility("hidden")]] extern constinit SpinLock ending_lock;

inline MPI_Request Request::handle() const {
  MPI_Request value{};
  const std::uintptr_t number =
      request_table.base.load(std::memory_order_relaxed) + (kIntegerHandles ? index : index * RequestTable::kBlock);
  std::memcpy(&value, &number, sizeof value);
  return value;
}

inline bool is_ours(MPI_Request handle) {
  return request_table.offset_of(handle) < request_table.range.load(std::memory_order_relaxed);
}

// The request of a handle that is ours; nullptr: the handle is stale.
inline Request* find_request(MPI_Request handle) {
  const std::size_t index = request_table.offset_of(handle) / (kIntegerHandles ? 1 : RequestTable::kBlock);
  if (index >= request_table.made.load(std::memory_order_acquire)) return nullptr;
  Request& request = request_table.requests[index];
  return request.type != RequestType::none ? &request : nullptr;
}

// Free requests that the thread keeps for itself, the one that was used last first, so that it seldom needs the table's
// lock.
struct KeptRequests {
  static constexpr std::uint32_t kMost = 128;

  Request* first = nullptr;
  std::uint32_t count = 0;
};
extern constinit thread_local KeptRequests kept_requests;
bool fetch_requests();        // takes some from the table; false: there are none, and an error message has said why
void store_requests();        // gives some back to the table
void expect_end_of_thread();  // when this thread ends, all go back to the table

// Whether this thread's next make_request() may be called. False: the process can have no more, and the call that needs
// one ends with MPI_ERR_NO_MEM before anything has begun.
inline bool have_request() { return kept_requests.first != nullptr || fetch_requests(); }
// An empty request. have_request() must have returned true before; only that call allocates.
inline Request* make_request() {
  KeptRequests& kept = kept_requests;
  --kept.count;
  return std::exchange(kept.first, kept.first->next);
}
// Takes back an empty request.
inline void give_request_back(Request& request) {
  KeptRequests& kept = kept_requests;
  if (kept.first == nullptr) expect_end_of_thread();
  request.next = kept.first;
  kept.first = &request;
  if (++kept.count == KeptRequests::kMost) store_requests();
}
// Releases what the request retains. Its operation must be over, or never started.
void clear_request(Request& request);
// As clear_request(), and gives the request back. Does nothing to the request of finished_send().
void destroy_request(Request* request);

MPI_Request request_of_fortran(std::int32_t integer);  // MPI_REQUEST_NULL if it is not one of ours
bool is_fortran_of_ours(std::int32_t integer);

}  // namespace urakata::shim
