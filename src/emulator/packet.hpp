// SPDX-License-Identifier: BSD-3-Clause
// A packet as a TUN device with IFF_VNET_HDR hands it over: a virtio header, then IPv4. The kernel leaves it to the
// device to cut TCP data into frames (segmentation offload). So one packet may stand for many *segments* of the link's
// MTU, and 64 KiB take one read instead of 45.
//
// Contract: makes no system call; not thread-safe. Only TCP and UDP packets over IPv4 that are no fragments have ports;
// the ports of others are 0. Packets that are not IPv4 also have addresses 0. Only a TCP packet can have several
// segments. wire_bytes() counts what a link would carry: every segment with its own IP and TCP header.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace urakata::emulator {

// Packets with equal keys belong to one flow. Addresses and ports are in the machine's byte order.
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
  // Copies `bytes`, which begin with the virtio header.
  explicit Packet(std::span<const std::byte> bytes);

  std::span<const std::byte> bytes() const { return {bytes_.get(), size_}; }
  const FlowKey& flow() const { return flow_; }
  std::uint32_t segments() const { return segments_; }
  std::uint64_t wire_bytes() const { return wire_bytes(segments_); }
  // Bytes on the wire of the first `count` segments.
  std::uint64_t wire_bytes(std::uint32_t count) const;
  // Bytes on the wire of a full segment: of any but the last one.
  std::uint64_t segment_wire_bytes() const;

  // A new packet of the segments [first, first + count), which must exist. Its headers are as on the wire: sequence
  // number, length, identification and IP checksum. FIN and PSH are left to the last segment, CWR to the first. The
  // receiving device completes the TCP checksum.
  Packet run(std::uint32_t first, std::uint32_t count) const;

 private:
  void parse();

  std::unique_ptr<std::byte[]> bytes_;
  std::uint32_t size_ = 0;
  std::uint32_t segments_ = 1;
  std::uint32_t headers_ = 0;  // bytes of IP and TCP header; 0: the packet is not cut into segments
  std::uint32_t payload_ = 0;  // bytes of payload of a full segment; 0: the packet is not cut into segments
  FlowKey flow_;
};

}  // namespace urakata::emulator
