// SPDX-License-Identifier: BSD-3-Clause
// What the kernel is given to run a chained operation: the requests of its entries, and those that order it behind the
// operation before it.
//
// Thread-safety: under the channel set's lock. While requests are in flight the kernel reads and writes words of the
// writer's, so it stays at its place and outlives them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "chain/chained_operation.hpp"
#include "chain/peer_connections.hpp"
#include "chain/rings.hpp"

namespace urakata::chain {

// A request, as its number in the ring names it: its operation's number, and its entry in the schedule.
struct RequestId {
  static constexpr unsigned kShift = 32;
  static constexpr std::size_t kBetween = ~std::uint32_t{0};  // for an entry: a gate between operations

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

  // Puts all requests of an operation, requests_of() of them, into the newest ring, which has room. `before`: the
  // operation that it waits for, which signals; nullptr: none.
  void put(ChainedOperation& operation, const ChainedOperation* before);
  // Tells the user what has failed: a request of the operation's, by its entry, ended with this value, a negative errno
  // or too few bytes.
  void tell(const ChainedOperation& operation, std::size_t at, std::int32_t value) const;

 private:
  void put_gate(std::size_t number, Ring::Kind kind, bool linked, const Gate& gate, void* word);
  void put_entry(const ChainedOperation& operation, std::size_t at);

  const PeerConnections& peers_;
  Rings& rings_;
  // By the kernel: what messages without payload, and gates, move.
  std::uint64_t token_in_ = 0, token_out_ = 0, signal_ = 1;
};

std::size_t requests_of(const ChainedOperation& operation, const ChainedOperation* before);

}  // namespace urakata::chain
