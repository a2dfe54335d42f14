// SPDX-License-Identifier: BSD-3-Clause
#include "p2p/payload_memory.hpp"

#include <algorithm>
#include <cstring>
#include <new>

namespace urakata::p2p {

void PayloadMemory::set_packed(Request& send) {
  const std::uint64_t bytes = send.buffer.bytes();
  if (send.packed.room == 0) send.packed = spare_.take(bytes);
  send.source = {send.packed.get(), bytes, nullptr};
}

void PayloadMemory::pack(Request& send) {
  const Buffer& buffer = send.buffer;
  set_packed(send);
  if (!buffer.needs_library()) {
    pack_across(buffer.elements(), 0, {send.packed.get(), buffer.bytes()});
  } else {
    buffer.layout->pack(buffer.address, 0, buffer.count, send.packed.get());
  }
  send.form = Form::plain;
}

void PayloadMemory::copy_aside(Request& send) {
  pack(send);
  aside_ += send.buffer.bytes();
  send.unassisted = true;
}

void PayloadMemory::copy_in(Request& receive, const Elements& from) try {
  const Buffer& buffer = receive.buffer;
  const std::uint64_t bytes = receive.result.bytes;
  if (!buffer.needs_library()) {
    move(from, buffer.elements(), 0, bytes);
    return;
  }
  if (bytes == 0) return;
  // Whole elements, then the beginning of one more where the message ends inside it.
  const layout::Layout& layout = *buffer.layout;
  const std::uint64_t whole = bytes / layout.size;
  const std::uint64_t rest = bytes % layout.size;
  Block gathered;
  const std::byte* payload = from.address;
  if (from.shape != nullptr) {
    gathered = spare_.take(bytes);
    p2p::move(from, {gathered.get(), bytes, nullptr}, 0, bytes);
    payload = gathered.get();
  }
  if (whole != 0) layout.unpack(payload, buffer.address, 0, whole);
  if (rest != 0) {
    // NOLINTNEXTLINE(clang-analyzer-cplusplus.NewDeleteLeaks): a Block owns its memory
    Block element = spare_.take(layout.size);
    layout.pack(buffer.address, whole, 1, element.get());
    std::memcpy(element.get(), payload + whole * layout.size, rest);
    layout.unpack(element.get(), buffer.address, whole, 1);
    spare_.give(std::move(element));
  }
  spare_.give(std::move(gathered));
} catch (const std::bad_alloc&) {
  receive.result.outcome = Outcome::failed;
}

void PayloadMemory::store(Request& receive, std::byte* payload, std::uint64_t bytes) {
  const std::uint64_t room = receive.buffer.bytes();
  if (bytes > room) receive.result.outcome = Outcome::truncated;
  receive.result.bytes = std::min(bytes, room);
  copy_in(receive, {payload, bytes, nullptr});
}

}  // namespace urakata::p2p
