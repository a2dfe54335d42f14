// SPDX-License-Identifier: BSD-3-Clause
// Stands between the two ends of a connection: a thread that passes bytes on in small pieces, both ways, until it does
// with the connection what it was told.
#pragma once

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <thread>

namespace urakata::chain {

class Proxy {
 public:
  enum class Fate : std::uint8_t {
    none,
    reset,    // both sides get RST
    silence,  // as where a node has no power any more: it answers nothing, nor do its TCP acknowledge
  };
  struct Plan {
    Fate fate = Fate::none;
    std::size_t way = 0;      // 0: from the first side to the second; 1: back
    std::uint64_t after = 0;  // bytes that have passed that way before
    std::size_t most = 1;     // bytes of a piece
  };

  // `sides`: connected sockets, the proxy's from now on. Those whom they lead to end before it does.
  Proxy(const std::array<int, 2>& sides, const Plan& plan) : plan_(plan), sides_(sides), thread_([this] { run(); }) {}
  ~Proxy() {
    thread_.join();
    cut();
  }
  Proxy(const Proxy&) = delete;
  Proxy& operator=(const Proxy&) = delete;

 private:
  void run() {
    std::minstd_rand random(1);
    std::array<std::uint64_t, 2> passed{};
    std::array<bool, 2> open{true, true};
    while (open[0] || open[1]) {
      if (plan_.fate != Fate::none && passed[plan_.way] == plan_.after) {
        plan_.fate == Fate::reset ? cut() : fall_silent();
        return;
      }
      std::array<pollfd, 2> readiness{};
      for (std::size_t from = 0; from < 2; ++from) readiness[from] = {open[from] ? sides_[from] : -1, POLLIN, 0};
      poll(readiness.data(), readiness.size(), -1);
      for (std::size_t from = 0; from < 2; ++from) {
        if (readiness[from].revents == 0) continue;
        std::size_t most = 1 + random() % plan_.most;
        if (plan_.fate != Fate::none && from == plan_.way) {
          most = std::min<std::size_t>(most, plan_.after - passed[from]);
        }
        const std::size_t bytes = pass(from, most);
        passed[from] += bytes;
        open[from] = bytes != 0;
      }
    }
  }

  // How many bytes; 0: there is no more to come, or nobody to take it, as the other side is told.
  std::size_t pass(std::size_t from, std::size_t most) {
    std::array<char, 1024> piece;
    const ssize_t got = recv(sides_[from], piece.data(), std::min(most, piece.size()), 0);
    const int to = sides_[1 - from];
    if (got > 0 && send(to, piece.data(), static_cast<std::size_t>(got), MSG_NOSIGNAL) == got) {
      return static_cast<std::size_t>(got);
    }
    shutdown(to, SHUT_WR);
    return 0;
  }

  void cut() {
    constexpr linger kAtOnce{.l_onoff = 1, .l_linger = 0};
    for (int& side : sides_) {
      if (side < 0) continue;
      setsockopt(side, SOL_SOCKET, SO_LINGER, &kAtOnce, sizeof kAtOnce);
      close(side);
      side = -1;
    }
  }

  // Segments that come are dropped before TCP sees them.
  void fall_silent() const {
    sock_filter nothing = BPF_STMT(BPF_RET | BPF_K, 0);
    const sock_fprog filter{.len = 1, .filter = &nothing};
    for (const int side : sides_) {
      EXPECT_EQ(setsockopt(side, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter), 0);
    }
  }

  const Plan plan_;
  std::array<int, 2> sides_;  // the thread's until it has ended
  std::thread thread_;
};

}  // namespace urakata::chain
