// SPDX-License-Identifier: BSD-3-Clause
// Packets as a TUN device hands them over: TCP over IPv4, with a payload in which every byte tells its place.
#pragma once

#include <arpa/inet.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "emulator/packet.hpp"

namespace urakata::emulator::testing {

inline constexpr std::size_t kVirtio = 10;
inline constexpr std::size_t kIp = 20;
inline constexpr std::size_t kTcp = 32;                 // with timestamps, as Linux has them
inline constexpr std::uint32_t kSequence = 0xFFFFF000;  // wraps soon
inline constexpr std::uint32_t kSegment = 1448;

inline void put16(std::vector<std::byte>& bytes, std::size_t at, std::uint16_t value) {
  const std::uint16_t swapped = htons(value);
  std::memcpy(bytes.data() + at, &swapped, sizeof swapped);
}

inline void put32(std::vector<std::byte>& bytes, std::size_t at, std::uint32_t value) {
  const std::uint32_t swapped = htonl(value);
  std::memcpy(bytes.data() + at, &swapped, sizeof swapped);
}

inline std::uint16_t get16(std::span<const std::byte> bytes, std::size_t at) {
  std::uint16_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return ntohs(value);
}

inline std::uint32_t get32(std::span<const std::byte> bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return ntohl(value);
}

// `payload` bytes from 10.87.0.1:port to 10.87.1.1:5000; to be cut into segments of kSegment where that is more than
// one.
inline std::vector<std::byte> tcp_bytes(std::uint32_t payload, std::uint16_t port = 40000, std::uint8_t flags = 0x10) {
  std::vector<std::byte> bytes(kVirtio + kIp + kTcp + payload);
  bytes[0] = std::byte{1};  // the checksum is to be completed
  const std::uint16_t segment = payload > kSegment ? kSegment : 0;
  bytes[1] = std::byte{segment != 0};
  std::memcpy(bytes.data() + 4, &segment, sizeof segment);  // virtio's words are in the machine's order
  const std::size_t ip = kVirtio;
  bytes[ip] = std::byte{0x45};
  put16(bytes, ip + 2, static_cast<std::uint16_t>(kIp + kTcp + payload));
  put16(bytes, ip + 4, 0xFFFE);
  bytes[ip + 8] = std::byte{64};
  bytes[ip + 9] = std::byte{6};
  put32(bytes, ip + 12, 0x0A570001);
  put32(bytes, ip + 16, 0x0A570101);
  const std::size_t tcp = ip + kIp;
  put16(bytes, tcp, port);
  put16(bytes, tcp + 2, 5000);
  put32(bytes, tcp + 4, kSequence);
  bytes[tcp + 12] = std::byte{(kTcp / 4) << 4};
  bytes[tcp + 13] = std::byte{flags};
  for (std::uint32_t i = 0; i < payload; ++i) bytes[tcp + kTcp + i] = static_cast<std::byte>(i * 7 % 251);
  return bytes;
}

inline Packet tcp(std::uint32_t payload, std::uint16_t port = 40000) { return Packet(tcp_bytes(payload, port)); }

}  // namespace urakata::emulator::testing
