// SPDX-License-Identifier: BSD-3-Clause
// A receive that a port has posted, until its message has come or cannot come any more.
//
// Thread-safety: under the Wire's lock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/transport.hpp"

namespace urakata::transport {

class WirePort;

struct PostedReceive {
  WirePort* port = nullptr;  // nullptr: the receive was given up, and the payload is thrown away
  Ticket ticket;
  Message message;
  std::vector<std::byte> packed = {};  // where the payload arrives, for a layout with holes

  bool given_up() const { return port == nullptr; }
  void give_up();
  // Where the payload is to arrive, if it is no longer than `message.bytes`.
  std::byte* room() { return message.layout != nullptr ? packed.data() : message.address; }
  // A payload of `bytes` has been put into room(), if it is not longer. 0, or `failure` if it is.
  int unpack(std::uint64_t bytes, int failure);
  // Copies a payload that has come before this receive to its place. 0, or `failure` if the payload is too long.
  int deliver(const std::vector<std::byte>& payload, int failure);
  // Tells the port, unless the receive was given up.
  void end(int error) const;
};

// For the log: the message is longer than the receive's room. Returns `failure`.
int too_long(std::uint64_t bytes, std::uint64_t room, int failure);

}  // namespace urakata::transport
