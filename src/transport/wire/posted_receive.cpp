// SPDX-License-Identifier: BSD-3-Clause
#include "transport/wire/posted_receive.hpp"

#include <cstring>

#include "base/log.hpp"
#include "transport/wire/wire_port.hpp"

namespace urakata::transport {

int too_long(std::uint64_t bytes, std::uint64_t room, int failure) {
  log::error("a message of %llu bytes came for a receive of %llu", static_cast<unsigned long long>(bytes),
             static_cast<unsigned long long>(room));
  return failure;
}

void PostedReceive::give_up() {
  port = nullptr;
  ticket = {};
}

int PostedReceive::unpack(std::uint64_t bytes, int failure) {
  if (bytes > message.bytes) return too_long(bytes, message.bytes, failure);
  if (message.layout != nullptr && bytes != 0) {
    message.layout->unpack(packed.data(), message.address, 0, bytes / message.layout->size);
  }
  return 0;
}

int PostedReceive::deliver(const std::vector<std::byte>& payload, int failure) {
  if (payload.size() <= message.bytes && !payload.empty()) std::memcpy(room(), payload.data(), payload.size());
  return unpack(payload.size(), failure);
}

void PostedReceive::end(int error) const {
  if (port != nullptr) port->complete(ticket, error);
}

}  // namespace urakata::transport
