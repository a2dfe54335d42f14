// SPDX-License-Identifier: BSD-3-Clause
// A packet as a TUN device with IFF_VNET_HDR hands it over: a virtio header, then IPv4. The kernel leaves TCP's cutting
// into frames to the device, so one packet may stand for many *segments* of the link's MTU: 64 KiB cost one read
// instead of 45.
//
// Contract. Values without a system call; not thread-safe. A packet that is no IPv4, or is a fragment, has ports 0 and
// is one segment. wire_bytes() counts what a link would carry: every segment with its own IP and TCP header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace urakata::emulator {

// What makes two packets belong to one flow. Addresses and ports in the machine's byte order.
struct FlowKey {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint16_t source_port = 0;
  std::uint16_t destination_port = 0;
  std::uint8_t protocol = 0;

  bool operator==(const FlowKey&) const = default;
};

struct FlowHash {
  std::size_t operator()(const FlowKey& key) const;
};

class Packet {
 public:
  Packet() = default;
  // A copy of `bytes`, virtio header included.
  explicit Packet(std::span<const std::byte> bytes);

  std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }
  const FlowKey& flow() const { return flow_; }
  std::uint32_t segments() const { return segments_; }
  std::uint64_t wire_bytes() const { return wire_bytes(segments_); }
  // Of the first `count` segments.
  std::uint64_t wire_bytes(std::uint32_t count) const;
  // Of a segment that is not the last: what one more costs.
  std::uint64_t segment_wire_bytes() const;

  // Segments [first, first + count) as a packet of their own, with the headers that they would have had on the wire:
  // sequence number, length, identification, checksums, and FIN, PSH, CWR only where they belong.
  Packet run(std::uint32_t first, std::uint32_t count) const;

 private:
  void parse();

  std::unique_ptr<std::byte[]> bytes_;
  std::uint32_t size_ = 0;
  std::uint32_t segments_ = 1;
  std::uint32_t headers_ = 0;  // bytes of IP and TCP header; 0 where the packet is not to be cut
  std::uint32_t payload_ = 0;  // bytes of payload of a whole segment; 0 likewise
  FlowKey flow_;
};

}  // namespace urakata::emulator
