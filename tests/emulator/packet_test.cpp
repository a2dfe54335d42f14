// SPDX-License-Identifier: BSD-3-Clause
// A packet of 3 segments and a half is cut: [0, 1) and [1, 4) carry what the wire would have carried.
#include "emulator/packet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "packets.hpp"

namespace urakata::emulator {
namespace {

using namespace testing;

// The Internet checksum over big-endian words: 0xFFFF where it is right.
std::uint16_t sum(std::span<const std::byte> bytes) {
  std::uint32_t total = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 2) total += get16(bytes, i);
  while (total > 0xFFFF) total = (total & 0xFFFF) + (total >> 16);
  return static_cast<std::uint16_t>(total);
}

std::uint16_t pseudo_header_sum(std::span<const std::byte> packet) {
  const auto addresses = sum(packet.subspan(kVirtio + 12, 8));
  std::uint32_t total = addresses + 6U + static_cast<std::uint32_t>(packet.size() - kVirtio - kIp);
  while (total > 0xFFFF) total = (total & 0xFFFF) + (total >> 16);
  return static_cast<std::uint16_t>(total);
}

TEST(Packet, FlowAndSegmentsAreRead) {
  const Packet packet = tcp(3 * kSegment + 700);
  EXPECT_EQ(packet.flow(), (FlowKey{0x0A570001, 0x0A570101, 40000, 5000, 6}));
  EXPECT_EQ(packet.segments(), 4U);
  EXPECT_EQ(packet.wire_bytes(), 4 * (kIp + kTcp) + 3 * kSegment + 700);
  EXPECT_EQ(packet.wire_bytes(2), 2 * (kIp + kTcp + kSegment));
  EXPECT_EQ(packet.segment_wire_bytes(), 1500U);
  EXPECT_EQ(tcp(100).segments(), 1U);
  EXPECT_EQ(tcp(100).wire_bytes(), kIp + kTcp + 100);
}

TEST(Packet, WhatIsNoTcpIsOneSegment) {
  auto bytes = tcp_bytes(200);
  bytes[kVirtio + 9] = std::byte{17};
  EXPECT_EQ(Packet(bytes).flow().protocol, 17);
  EXPECT_EQ(Packet(bytes).flow().destination_port, 5000);
  put16(bytes, kVirtio + 6, 0x2000);  // more fragments follow
  EXPECT_EQ(Packet(bytes).flow().destination_port, 0);
  bytes[kVirtio] = std::byte{0x60};  // IPv6
  EXPECT_EQ(Packet(bytes).flow(), FlowKey{});
  for (std::size_t length = 0; length < kVirtio + kIp + kTcp; ++length) {
    const Packet shortened(std::span<const std::byte>(bytes).first(length));
    EXPECT_EQ(shortened.segments(), 1U);
    EXPECT_EQ(shortened.wire_bytes(), length < kVirtio ? 0 : length - kVirtio);
  }
}

TEST(Packet, RunsTogetherAreTheWhole) {
  constexpr std::uint32_t kPayload = 11 * kSegment + 1;
  constexpr std::uint8_t kAllFlags = 0x99;  // CWR, ACK, PSH, FIN
  const auto whole = tcp_bytes(kPayload, 40000, kAllFlags);
  const Packet packet(whole);
  std::mt19937 random(GTEST_FLAG_GET(random_seed) != 0 ? static_cast<unsigned>(GTEST_FLAG_GET(random_seed)) : 1U);
  for (int round = 0; round < 200; ++round) {
    std::vector<std::byte> joined;
    std::uint64_t wire = 0;
    for (std::uint32_t first = 0; first < 12;) {
      const auto count = std::uniform_int_distribution<std::uint32_t>(1, 12 - first)(random);
      const Packet run = packet.run(first, count);
      const auto bytes = run.bytes();
      const bool all = count == 12;
      EXPECT_EQ(run.segments(), count);
      EXPECT_EQ(get16(bytes, kVirtio + 2), bytes.size() - kVirtio);
      EXPECT_EQ(get16(bytes, kVirtio + 4), (0xFFFE + first) & 0xFFFF);
      EXPECT_EQ(get32(bytes, kVirtio + kIp + 4), kSequence + first * kSegment);
      const auto flags = static_cast<unsigned>(bytes[kVirtio + kIp + 13]);
      EXPECT_EQ(flags, 0x10U | (first == 0 ? 0x80U : 0U) | (first + count == 12 ? 0x09U : 0U));
      const bool to_be_cut = bytes.size() - kVirtio - kIp - kTcp > kSegment;
      EXPECT_EQ(bytes[1], std::byte{to_be_cut});
      if (!all) {  // a whole packet stays as it came
        EXPECT_EQ(sum(bytes.subspan(kVirtio, kIp)), 0xFFFF);
        EXPECT_EQ(get16(bytes, kVirtio + kIp + 16), pseudo_header_sum(bytes));
      }
      const auto payload = bytes.subspan(kVirtio + kIp + kTcp);
      joined.insert(joined.end(), payload.begin(), payload.end());
      wire += run.wire_bytes();
      first += count;
    }
    EXPECT_TRUE(std::equal(joined.begin(), joined.end(), whole.begin() + kVirtio + kIp + kTcp, whole.end()));
    EXPECT_EQ(wire, packet.wire_bytes());
  }
}

TEST(Packet, RunOfARunIsCutAgain) {
  const Packet part = tcp(6 * kSegment).run(2, 3).run(1, 1);
  EXPECT_EQ(part.segments(), 1U);
  EXPECT_EQ(get32(part.bytes(), kVirtio + kIp + 4), kSequence + 3 * kSegment);
  EXPECT_EQ(part.bytes().size(), kVirtio + kIp + kTcp + kSegment);
}

}  // namespace
}  // namespace urakata::emulator
