// SPDX-License-Identifier: BSD-3-Clause
// Writes the requests by which the kernel runs a chained operation: those of its entries, and those that make it wait
// for the operation before it.
//
// Thread-safety: under the channel set's lock. While requests are in flight, the kernel reads and writes members of the
// writer. So the writer keeps its address, and outlives the requests.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chain/chained_operation.hpp"
#include "chain/peer_connections.hpp"
#include "chain/rings.hpp"

namespace urakata::chain {

// What Ring::Submission::number says of a request: the operation's number, and the entry in its schedule.
struct RequestId {
  static constexpr unsigned kShift = 32;
  static constexpr std::size_t kBetween = ~std::uint32_t{0};  // in the place of an entry: a gate between operations

  static RequestId of(std::uint64_t number) {
    return {.operation = number >> kShift, .entry = number & ((std::uint64_t{1} << kShift) - 1)};
  }
  std::uint64_t number() const { return operation << kShift | entry; }

  std::size_t operation = 0;
  std::size_t entry = 0;
};

class RequestWriter {
 public:
  RequestWriter(const PeerConnections& peers, Rings& rings) : peers_(peers), rings_(rings) {}
  RequestWriter(const RequestWriter&) = delete;
  RequestWriter& operator=(const RequestWriter&) = delete;

  // Puts all requests of an operation into the newest ring, which must have room for requests_of() requests. `before`:
  // the operation that it waits for, whose `signals` must be set; nullptr: none.
  void put(ChainedOperation& operation, const ChainedOperation* before);
  // Tells the user that a request has failed. `at`: its RequestId::entry. `value`: a negative errno, or the number of
  // bytes that it has moved.
  void tell(const ChainedOperation& operation, std::size_t at, std::int32_t value) const;

 private:
  void put_gate(std::size_t number, Ring::Kind kind, bool linked, const Gate& gate, void* word);
  void put_entry(const ChainedOperation& operation, std::size_t at);

  const PeerConnections& peers_;
  Rings& rings_;
  // Memory for the bytes of messages without payload, and of gates. The kernel reads and writes it.
  std::uint64_t token_in_ = 0, token_out_ = 0, signal_ = 1;
};

// Number of requests that put() writes.
std::size_t requests_of(const ChainedOperation& operation, const ChainedOperation* before);

}  // namespace urakata::chain
