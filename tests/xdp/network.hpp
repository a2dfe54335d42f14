// SPDX-License-Identifier: BSD-3-Clause
// Ranks of a group in one process, whose frames go over a real socket to a network that loses, doubles and turns them
// round as it is told, and then to eBPF code, in one table for all.
#pragma once

#include <gtest/gtest.h>
#include <linux/bpf.h>
#include <linux/if_ether.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "affine.h"
#include "ebpf.h"
#include "xdp/offload.hpp"

namespace urakata::xdp {

class Network {
 public:
  // The operation of affine.h is attached under its name.
  explicit Network(std::uint32_t ranks, std::uint64_t seed = 1, std::uint64_t timeout_ns = 60'000'000'000)
      : random_(seed), slots_(new ura_xdp_slot[URA_XDP_SLOTS]()) {
    give_table(0, slots_.get());
    socket_ = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    sockaddr_in own{};
    own.sin_family = AF_INET;
    own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t length = sizeof own;
    EXPECT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&own), sizeof own), 0);
    EXPECT_EQ(getsockname(socket_, reinterpret_cast<sockaddr*>(&own), &length), 0);
    const auto table = Table::over(slots_.get(), {{{"affine", sizeof(affine)}}});
    std::vector<Side> sides;
    sockaddr_in any = own;
    any.sin_port = 0;
    for (std::uint32_t rank = 0; rank < ranks; ++rank) {
      offloads.push_back(std::move(*Offload::over(table, any, timeout_ns)));
      sides.push_back(offloads.back()->side());
      sides.back().address = own;  // all frames come here
    }
    for (std::uint32_t rank = 0; rank < ranks; ++rank) offloads[rank]->join(sides, rank, 0x5ec7e7);
  }
  // What ranks may still need of each other is delivered while they leave.
  ~Network() {
    for (auto& offload : offloads) {
      offload->discard();
      offload.reset();
    }
    give_table(0, nullptr);
    close(socket_);
  }
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  ura_xdp_slot& slot(std::uint32_t rank) { return slots_[offloads[rank]->side().slot]; }

  // Takes in what was sent, and brings up to `most` frames on, in any order where it is a bad network.
  void deliver(std::size_t most = SIZE_MAX) {
    std::array<std::byte, 2048> bytes;
    ssize_t got = 0;
    while ((got = recv(socket_, bytes.data(), bytes.size(), 0)) > 0) {
      if (chance(losses)) continue;
      frames_.emplace_back(bytes.begin(), bytes.begin() + got);
      if (chance(doubles)) frames_.push_back(frames_.back());
    }
    for (; !frames_.empty() && most != 0; --most) {
      const std::size_t which = mixes ? random_() % frames_.size() : 0;
      const std::vector<std::byte> payload = frames_[which];
      frames_.erase(frames_.begin() + static_cast<std::ptrdiff_t>(which));
      bring(payload);
    }
  }

  double losses = 0;
  double doubles = 0;
  bool mixes = false;
  std::vector<std::unique_ptr<Offload>> offloads;
  unsigned passed_on = 0;  // frames that eBPF code left to the node

 private:
  bool chance(double part) { return part > 0 && std::uniform_real_distribution<>()(random_) < part; }

  void bring(const std::vector<std::byte>& payload) {
    constexpr std::size_t kHeaders = sizeof(ethhdr) + sizeof(iphdr) + sizeof(udphdr);
    std::vector<std::byte> frame(kHeaders + payload.size());
    ethhdr ethernet{};
    ethernet.h_proto = htons(ETH_P_IP);
    iphdr ip{};
    ip.ihl = 5;
    ip.protocol = IPPROTO_UDP;
    ura_xdp_header header;
    std::memcpy(&header, payload.data(), sizeof header);
    udphdr udp{};
    udp.dest = slots_[header.slot].port;
    std::memcpy(frame.data(), &ethernet, sizeof ethernet);
    std::memcpy(frame.data() + sizeof ethernet, &ip, sizeof ip);
    std::memcpy(frame.data() + sizeof ethernet + sizeof ip, &udp, sizeof udp);
    std::memcpy(frame.data() + kHeaders, payload.data(), payload.size());
    const int verdict = run_ebpf(frame.data(), frame.size());
    if (verdict == XDP_PASS) ++passed_on;
    if (verdict == XDP_TX && !chance(losses)) frames_.emplace_back(frame.begin() + kHeaders, frame.end());
  }

  std::mt19937_64 random_;
  std::unique_ptr<ura_xdp_slot[]> slots_;
  int socket_ = -1;
  std::vector<std::vector<std::byte>> frames_;
};

}  // namespace urakata::xdp
