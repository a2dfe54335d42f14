// SPDX-License-Identifier: BSD-3-Clause
#include "emulator/packet.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip.h>
#include <netinet/tcp.h>

#include <algorithm>
#include <cstring>

namespace urakata::emulator {
namespace {

// struct virtio_net_hdr of <linux/virtio_net.h>, a header that C++ cannot include. The top bit of `kind` means ECN.
struct VirtioHeader {
  std::uint8_t flags;
  std::uint8_t kind;
  std::uint16_t header_bytes;
  std::uint16_t segment_bytes;
  std::uint16_t checksum_start;
  std::uint16_t checksum_offset;
};
static_assert(sizeof(VirtioHeader) == 10);
constexpr std::uint8_t kWhole = 0;
constexpr std::uint8_t kTcp4 = 1;
constexpr std::uint8_t kEcn = 0x80;

constexpr std::uint32_t kVirtio = sizeof(VirtioHeader);
constexpr std::uint8_t kFin = 0x01;
constexpr std::uint8_t kPush = 0x08;
constexpr std::uint8_t kWindowReduced = 0x80;  // CWR: only the first segment has it

template <class T>
T load(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void store(std::byte* to, const T& value) {
  std::memcpy(to, &value, sizeof value);
}

// Folds a sum to the 16 bits of the Internet checksum, not complemented. The words summed are in memory order.
std::uint16_t folded(std::uint32_t sum) {
  while (sum > 0xFFFF) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(sum);
}

std::uint32_t sum_of(const std::byte* from, std::uint32_t bytes) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i + 1 < bytes; i += 2) sum += load<std::uint16_t>(from + i);
  return sum;
}

}  // namespace

std::size_t FlowHash::operator()(const FlowKey& key) const {
  const std::uint64_t addresses = (std::uint64_t{key.source} << 32) | key.destination;
  const std::uint64_t rest =
      (std::uint64_t{key.source_port} << 32) | (std::uint64_t{key.destination_port} << 8) | key.protocol;
  // A multiplier of full period (Steele and Vigna) spreads what differs in few bits over all.
  const std::uint64_t mixed = (addresses ^ (rest * 0x9E3779B97F4A7C15U)) * 0xD1342543DE82EF95U;
  return static_cast<std::size_t>(mixed ^ (mixed >> 32));
}

Packet::Packet(std::span<const std::byte> bytes)
    : bytes_(std::make_unique_for_overwrite<std::byte[]>(bytes.size())),
      size_(static_cast<std::uint32_t>(bytes.size())) {
  std::copy(bytes.begin(), bytes.end(), bytes_.get());
  parse();
}

void Packet::parse() {
  if (size_ < kVirtio + sizeof(iphdr)) return;
  const std::byte* ip_at = bytes_.get() + kVirtio;
  const auto ip = load<iphdr>(ip_at);
  if (ip.version != 4) return;
  flow_.source = ntohl(ip.saddr);
  flow_.destination = ntohl(ip.daddr);
  flow_.protocol = ip.protocol;
  const std::uint32_t ip_bytes = ip.ihl * 4U;
  const bool fragment = (ntohs(ip.frag_off) & (IP_MF | IP_OFFMASK)) != 0;
  const bool has_ports = ip.protocol == IPPROTO_TCP || ip.protocol == IPPROTO_UDP;
  if (fragment || !has_ports || size_ < kVirtio + ip_bytes + 4) return;
  flow_.source_port = ntohs(load<std::uint16_t>(ip_at + ip_bytes));
  flow_.destination_port = ntohs(load<std::uint16_t>(ip_at + ip_bytes + 2));

  const auto virtio = load<VirtioHeader>(bytes_.get());
  if ((virtio.kind & ~kEcn) != kTcp4 || virtio.segment_bytes == 0) return;
  if (ip.protocol != IPPROTO_TCP || size_ < kVirtio + ip_bytes + sizeof(tcphdr)) return;
  const std::uint32_t headers = ip_bytes + load<tcphdr>(ip_at + ip_bytes).doff * 4U;
  if (size_ <= kVirtio + headers) return;
  headers_ = headers;
  payload_ = virtio.segment_bytes;
  segments_ = (size_ - kVirtio - headers + payload_ - 1) / payload_;
}

std::uint64_t Packet::wire_bytes(std::uint32_t count) const {
  if (count == 0) return 0;
  if (payload_ == 0) return size_ - std::min(size_, kVirtio);
  const std::uint32_t whole = size_ - kVirtio - headers_;
  const std::uint32_t carried = count >= segments_ ? whole : count * payload_;
  return std::uint64_t{count} * headers_ + carried;
}

std::uint64_t Packet::segment_wire_bytes() const { return payload_ == 0 ? wire_bytes(1) : headers_ + payload_; }

Packet Packet::run(std::uint32_t first, std::uint32_t count) const {
  if (count >= segments_ || payload_ == 0) return Packet(bytes());
  const std::uint32_t begin = first * payload_;
  const std::uint32_t whole = size_ - kVirtio - headers_;
  const std::uint32_t carried = std::min(count * payload_, whole - begin);
  const bool last = first + count == segments_;

  Packet part;
  part.size_ = kVirtio + headers_ + carried;
  part.bytes_ = std::make_unique_for_overwrite<std::byte[]>(part.size_);
  std::memcpy(part.bytes_.get(), bytes_.get(), kVirtio + headers_);
  std::memcpy(part.bytes_.get() + kVirtio + headers_, bytes_.get() + kVirtio + headers_ + begin, carried);
  part.flow_ = flow_;
  part.segments_ = count;
  part.headers_ = headers_;
  part.payload_ = payload_;

  auto virtio = load<VirtioHeader>(bytes_.get());
  if (carried <= payload_) {
    virtio.kind = kWhole;
    virtio.segment_bytes = 0;
  }
  store(part.bytes_.get(), virtio);

  std::byte* ip_at = part.bytes_.get() + kVirtio;
  auto ip = load<iphdr>(ip_at);
  const std::uint32_t ip_bytes = ip.ihl * 4U;
  ip.tot_len = htons(static_cast<std::uint16_t>(headers_ + carried));
  ip.id = htons(static_cast<std::uint16_t>(ntohs(ip.id) + first));
  ip.check = 0;
  store(ip_at, ip);
  ip.check = static_cast<std::uint16_t>(~folded(sum_of(ip_at, ip_bytes)));
  store(ip_at, ip);

  std::byte* tcp_at = ip_at + ip_bytes;
  store(tcp_at + 4, htonl(ntohl(load<std::uint32_t>(tcp_at + 4)) + begin));
  auto flags = load<std::uint8_t>(tcp_at + 13);
  if (!last) flags = static_cast<std::uint8_t>(flags & ~(kFin | kPush));
  if (first > 0) flags = static_cast<std::uint8_t>(flags & ~kWindowReduced);
  store(tcp_at + 13, flags);
  // The device completes the checksum. The field holds the sum of the pseudo header, which includes the TCP length.
  const auto tcp_bytes = htons(static_cast<std::uint16_t>(headers_ - ip_bytes + carried));
  store(tcp_at + 16, folded(sum_of(ip_at + 12, 8) + htons(IPPROTO_TCP) + std::uint32_t{tcp_bytes}));
  return part;
}

}  // namespace urakata::emulator
