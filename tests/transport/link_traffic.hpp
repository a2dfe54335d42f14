// SPDX-License-Identifier: BSD-3-Clause
// Endpoints of processes on nodes of their own, over loopback, and random traffic between them whose every message is
// checked.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "../seed.hpp"
#include "layout/moving.hpp"
#include "loopback.hpp"
#include "p2p/endpoint.hpp"
#include "transport/link/wire_link.hpp"

namespace urakata::transport::test {

using p2p::Buffer;
using p2p::Endpoint;
using p2p::Envelope;
using p2p::kAnySource;
using p2p::kAnyTag;
using p2p::LinkPeer;
using p2p::Mode;
using p2p::Outcome;
using p2p::Request;

inline Failures failures(kFailure);

struct Node {
  std::unique_ptr<Wire> wire;
  std::unique_ptr<Stripes> stripes;
  std::unique_ptr<WireLink> link;
  std::unique_ptr<Endpoint> endpoint;

  bool flushed() const { return link->flushed() && (!stripes || stripes->settled()); }
};

// `sites`: where the ranks are, by whom stripes carry payload; empty: at one.
inline std::vector<Node> job(std::int32_t ranks, const WireLink::Settings& settings = {},
                             p2p::Callers callers = p2p::Callers::one, const std::vector<int>& sites = {}) {
  std::vector<Node> nodes;
  for (auto& wire : wires_of(ranks, failures)) nodes.emplace_back().wire = std::move(wire);
  for (Node& node : nodes) {
    node.link = std::move(*WireLink::open(*node.wire, settings));
    if (!sites.empty()) {
      std::vector<bool> far;
      for (const int site : sites) far.push_back(site != sites[static_cast<std::size_t>(&node - nodes.data())]);
      node.stripes = std::move(*Stripes::open(*node.wire, failures, {.streams = 4, .congestion = ""}));
      EXPECT_TRUE(node.link->carry_by(std::make_unique<LinkStripes>(*node.stripes, far)).ok());
    }
    node.endpoint = std::make_unique<Endpoint>(callers);
    node.endpoint->attach(*node.link);
  }
  return nodes;
}

// Three blocks of 8 bytes, 12 apart, every 40 bytes.
class Holes final : public layout::Layout {
 public:
  Holes() {
    size = 24;
    extent = 40;
    contiguous = false;
  }
  const layout::Shape* shape() const override { return &shape_; }
  void pack(const std::byte* base, std::uint64_t first, std::uint64_t count, std::byte* packed) const override {
    layout::pack({shape_, base, first + count}, first * size, {packed, count * size});
  }
  void unpack(const std::byte* packed, std::byte* base, std::uint64_t first, std::uint64_t count) const override {
    layout::unpack({packed, count * size}, {shape_, base, first + count}, first * size);
  }

 private:
  layout::Shape shape_{layout::TypeMap::resized(0, 40, layout::TypeMap::hvector(3, 1, 12, layout::TypeMap::bytes(8)))};
};
inline const Holes holes;

// Memory for a payload of up to so many bytes, plain or as elements with holes.
struct Room {
  std::vector<std::byte> memory;
  Buffer buffer;

  void make(std::uint64_t bytes, bool with_holes) {
    const std::uint64_t count = bytes / holes.size;
    memory.resize(with_holes ? count * holes.extent : bytes);
    buffer = with_holes ? Buffer{memory.data(), count, &holes} : Buffer{memory.data(), bytes, nullptr};
  }
  void write(const std::vector<std::byte>& payload) { p2p::unpack(payload, buffer.elements(), 0); }
  std::vector<std::byte> read(std::uint64_t bytes) const {
    std::vector<std::byte> payload(bytes);
    p2p::pack(buffer.elements(), 0, payload);
    return payload;
  }
};

struct Header {
  std::int32_t source = 0;
  std::int32_t tag = 0;
  std::uint64_t number = 0;
  std::uint64_t bytes = 0;
};
static_assert(sizeof(Header) == 24);

constexpr std::uint64_t kLargest = 8UL << 20;
constexpr std::int32_t kTags = 3;

inline std::uint64_t size_of(std::uint64_t draw) {
  if (draw % 256 == 0) return kLargest - draw / 256 % 1000;
  if (draw % 32 == 1) return 100'000 + draw / 32 % 700'000;
  if (draw % 16 == 2) return (64 << 10) + draw / 16 % 2;
  if (draw % 8 == 3) return draw / 8 % (64 << 10);
  return draw / 8 % 300;
}

inline std::byte filling(const Header& header, std::size_t at) {
  return static_cast<std::byte>(header.number * 31 + at + at / 251 + static_cast<std::uint64_t>(header.source) * 5);
}

// As much of the header as there is room for, and the filling.
inline std::vector<std::byte> payload_of(const Header& header) {
  std::vector<std::byte> payload(header.bytes);
  for (std::size_t i = 0; i < payload.size(); ++i) payload[i] = filling(header, i);
  if (payload.size() >= sizeof header) std::memcpy(payload.data(), &header, sizeof header);
  return payload;
}

// One of several ranks that send to all others and receive by wildcards.
class Rank {
 public:
  // `pass_time`: what the rank does between starting and looking; nullptr: it moves its messages on.
  Rank(std::int32_t own, std::int32_t ranks, std::uint64_t each, std::uint64_t seed, Node& node,
       std::function<void()> pass_time = nullptr)
      : own_(own),
        ranks_(ranks),
        each_(each),
        random_(seed + static_cast<std::uint64_t>(own)),
        node_(node),
        pass_time_(std::move(pass_time)) {
    next_.resize(static_cast<std::size_t>(ranks));
  }

  std::uint64_t total() const { return each_ * kTags * static_cast<std::uint64_t>(ranks_ - 1); }
  bool has_all() const { return taken_.size() == total() && sent_ == total(); }
  bool over() { return has_all() && here().idle() && open_sends() == 0; }

  void turn() {
    if (sent_ < total()) send();
    for (Receiving& r : receives_) {
      if (r.request == nullptr && taken_.size() < total()) post(r);
    }
    if (pass_time_ != nullptr) {
      pass_time_();
    } else {
      here().progress();
    }
    for (Receiving& r : receives_) {
      if (r.request == nullptr) continue;
      if (!r.request->done() && (taken_.size() == total() || random_() % 64 == 0)) here().cancel(*r.request);
      if (!r.request->done()) continue;
      if (r.request->result.outcome != Outcome::cancelled) take(r);
      here().release(*r.request);
      r.request = nullptr;
    }
  }

  // In the order in which they were posted, receives have got the messages of one source and tag in the order in which
  // these were sent, and each once.
  void check() {
    ASSERT_EQ(bad_, 0U);
    std::sort(taken_.begin(), taken_.end());
    std::vector<std::array<std::uint64_t, kTags>> next(static_cast<std::size_t>(ranks_));
    for (const auto& [posted, source, tag, number] : taken_) {
      auto& expected = next[static_cast<std::size_t>(source)][static_cast<std::size_t>(tag)];
      if (number != kUnknown) {
        ASSERT_EQ(number, expected) << "rank " << own_ << " from " << source << " tag " << tag;
      }
      ++expected;
    }
    EXPECT_TRUE(node_.link->flushed());
  }

 private:
  static constexpr std::uint64_t kUnknown = ~std::uint64_t{0};  // the number of a message without room for a header

  struct Sending {
    Request* request = nullptr;
    Room room;
  };
  struct Receiving {
    Request* request = nullptr;
    std::uint64_t posted = 0;
    Room room;
  };

  Endpoint& here() { return *node_.endpoint; }

  std::size_t open_sends() {
    std::size_t open = 0;
    for (Sending& s : sends_) {
      if (s.request != nullptr && s.request->done()) {
        here().release(*s.request);
        s.request = nullptr;
      }
      open += s.request != nullptr ? 1 : 0;
    }
    return open;
  }

  void send() {
    open_sends();
    const auto free = std::find_if(sends_.begin(), sends_.end(), [](const auto& s) { return s.request == nullptr; });
    const auto to = static_cast<std::int32_t>(random_() % static_cast<std::uint64_t>(ranks_));
    const auto tag = static_cast<std::int32_t>(random_() % kTags);
    std::uint64_t& number = next_[static_cast<std::size_t>(to)][static_cast<std::size_t>(tag)];
    if (free == sends_.end() || to == own_ || number == each_) return;
    Header header{own_, tag, number++, size_of(random_())};
    const bool with_holes = random_() % 3 == 0;
    if (with_holes) header.bytes -= header.bytes % holes.size;
    free->room.make(header.bytes, with_holes);
    free->room.write(payload_of(header));
    const auto mode = static_cast<Mode>(random_() % 3);
    free->request = here().send(LinkPeer{to}, {7, own_, tag}, free->room.buffer, mode);
    ++sent_;
  }

  void post(Receiving& r) {
    r.room.make(random_() % 16 == 0 ? random_() % 2000 : kLargest, random_() % 3 == 0);
    r.posted = ++posts_;
    const auto one = static_cast<std::int32_t>(random_() % static_cast<std::uint64_t>(ranks_));
    const Envelope pattern{7, random_() % 4 == 0 && one != own_ ? one : kAnySource,
                           random_() % 2 == 0 ? kAnyTag : static_cast<std::int32_t>(random_() % kTags)};
    p2p::Result found;
    if (random_() % 4 != 0) {
      r.request = &here().receive(pattern, r.room.buffer);
    } else if (p2p::Unexpected* const message = here().take(pattern, &found)) {
      r.request = &here().receive(*message, r.room.buffer);
    }
  }

  void take(const Receiving& r) {
    const p2p::Result& result = r.request->result;
    const std::vector<std::byte> payload = r.room.read(result.bytes);
    Header header{result.source, result.tag, kUnknown, result.bytes};
    const std::uint64_t room = r.room.buffer.bytes();
    if (payload.size() >= sizeof header) {
      std::memcpy(&header, payload.data(), sizeof header);
      const std::vector<std::byte> expected = payload_of(header);
      if (result.bytes != std::min(header.bytes, room) || header.source != result.source || header.tag != result.tag ||
          !std::equal(payload.begin(), payload.end(), expected.begin())) {
        ++bad_;
      }
    }
    if (result.outcome != (header.bytes > room ? Outcome::truncated : Outcome::good) && header.number != kUnknown) {
      ++bad_;
    }
    taken_.emplace_back(r.posted, result.source, result.tag, header.number);
  }

  const std::int32_t own_;
  const std::int32_t ranks_;
  const std::uint64_t each_;
  std::mt19937_64 random_;
  Node& node_;
  const std::function<void()> pass_time_;
  std::array<Sending, 8> sends_;
  std::array<Receiving, 6> receives_;
  std::vector<std::array<std::uint64_t, kTags>> next_;
  std::vector<std::tuple<std::uint64_t, std::int32_t, std::int32_t, std::uint64_t>> taken_;
  std::uint64_t sent_ = 0;
  std::uint64_t posts_ = 0;
  std::uint64_t bad_ = 0;
};

// Random traffic between all of them, each rank by a thread of its own; all is checked.
inline void exchange(std::vector<Node>& nodes) {
  const auto count = static_cast<std::int32_t>(nodes.size());
  const std::uint64_t seed = drawn_seed();
  std::vector<std::unique_ptr<Rank>> ranks;
  for (std::int32_t i = 0; i < count; ++i) {
    ranks.push_back(std::make_unique<Rank>(i, count, 60, seed, nodes[static_cast<std::size_t>(i)]));
  }
  std::atomic<std::int32_t> busy{count};
  std::vector<std::thread> threads;
  for (std::size_t own = 0; own < nodes.size(); ++own) {
    threads.emplace_back([&, own] {
      while (!ranks[own]->over()) ranks[own]->turn();
      --busy;
      while (busy.load() != 0 || !nodes[own].flushed()) nodes[own].endpoint->progress();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (auto& rank : ranks) rank->check();
}

// Two ranks in one thread.
class LinkPair : public ::testing::Test {
 protected:
  explicit LinkPair(std::vector<Node> nodes) : nodes_(std::move(nodes)) {}

  void step() {
    one().progress();
    other().progress();
  }
  Endpoint& one() { return *nodes_[0].endpoint; }
  Endpoint& other() { return *nodes_[1].endpoint; }
  template <class T>
  static Buffer buffer(std::vector<T>& of, std::size_t count) {
    return {reinterpret_cast<std::byte*>(of.data()), count * sizeof of[0], nullptr};
  }
  template <class T>
  static Buffer buffer(std::vector<T>& of) {
    return buffer(of, of.size());
  }

  std::vector<Node> nodes_;
};

}  // namespace urakata::transport::test
