// SPDX-License-Identifier: BSD-3-Clause
// A neighbourhood for tests: its channels, each rank's memory for them, and joined neighbourhood channels.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <numeric>
#include <vector>

#include "halo/neighbourhood_channel.hpp"
#include "layout/moving.hpp"
#include "p2p/port.hpp"
#include "put_network.hpp"

namespace urakata::halo::test {

using Bytes = std::vector<std::byte>;

// The layout of one endpoint's payload in memory.
struct Form {
  std::uint64_t count = 0;
  std::shared_ptr<const layout::Shape> shape;  // nullptr: plain bytes
  std::int64_t first = 0;                      // bytes from the beginning of its memory to the elements' address
  std::uint64_t room = 0;                      // bytes of its memory

  std::uint64_t bytes() const { return shape == nullptr ? count : count * shape->size(); }
};
inline Form plain(std::uint64_t bytes) { return {bytes, nullptr, 0, bytes}; }
// `blocks` blocks of `block` bytes, `gap` bytes between two.
inline Form strided(std::uint64_t blocks, std::uint64_t block, std::uint64_t gap) {
  const auto map =
      layout::TypeMap::hvector(blocks, block, static_cast<std::int64_t>(block + gap), layout::TypeMap::bytes(1));
  return {1, std::make_shared<layout::Shape>(map), 0, blocks * (block + gap)};
}

struct TestChannel {
  std::uint32_t from;
  std::uint32_t to;
  Form out;
  Form in;
};

// The part of one rank. Its k-th sending endpoint belongs to the k-th channel from this rank, its k-th receiving
// endpoint to the k-th channel to this rank. `backwards`: the receiving endpoints have the reverse order.
class Rank {
 public:
  // `spaces`: of each rank; empty: all share one.
  Rank(std::uint32_t self, const std::vector<TestChannel>& channels, const std::vector<std::uint32_t>& spaces = {},
       bool backwards = false) {
    const auto end = [&](std::uint32_t peer) -> ChannelEnd {
      const bool far = !spaces.empty() && spaces[peer] != spaces[self];
      return {peer, 0, 0, nullptr, far ? static_cast<std::int32_t>(peer) : ChannelEnd::kNear};
    };
    for (std::size_t i = 0; i < channels.size(); ++i) {
      if (channels[i].from == self) add(sending, out_ends_, sent_, end(channels[i].to), channels[i].out, i);
      const std::size_t in = backwards ? channels.size() - 1 - i : i;
      if (channels[in].to == self) add(receiving, in_ends_, received_, end(channels[in].from), channels[in].in, in);
    }
  }
  void make(const Costs& costs, transport::PutWire* wire = nullptr) {
    halo = std::make_unique<NeighbourhoodChannel>(port, out_ends_, in_ends_, costs, wire);
  }

  void begin() { halo->begin(sent_.data(), received_.data()); }
  // The payload that is the next to be sent.
  void fill(std::size_t out, const Bytes& payload) {
    unpack(payload, out_forms_[out], sent_.data() + region(out_ends_[out], out_forms_[out]));
  }
  // Whether the memory of a receiving endpoint holds this payload and is clear elsewhere. Clears the memory.
  bool holds(std::size_t in, const Bytes& payload) {
    const Form& form = in_forms_[in];
    std::byte* memory = received_.data() + region(in_ends_[in], form);
    Bytes expected(form.room, kClear);
    unpack(payload, form, expected.data());
    const bool same = form.room == 0 || std::memcmp(memory, expected.data(), form.room) == 0;
    if (form.room != 0) std::memset(memory, static_cast<int>(kClear), form.room);
    return same;
  }

  std::vector<std::size_t> sending;  // numbers of channels
  std::vector<std::size_t> receiving;
  p2p::Port port;
  std::unique_ptr<NeighbourhoodChannel> halo;

 private:
  static constexpr std::byte kClear{0xEE};

  static std::size_t region(const ChannelEnd& end, const Form& form) {
    return static_cast<std::size_t>(end.offset - form.first);
  }
  static void unpack(const Bytes& payload, const Form& form, std::byte* memory) {
    if (payload.empty()) return;
    if (form.shape == nullptr) {
      std::memcpy(memory, payload.data(), payload.size());
    } else {
      layout::unpack(payload, {*form.shape, memory + form.first, form.count}, 0);
    }
  }
  void add(std::vector<std::size_t>& numbers, std::vector<ChannelEnd>& ends, Bytes& memory, ChannelEnd end,
           const Form& form, std::size_t number) {
    numbers.push_back(number);
    end.offset = static_cast<std::ptrdiff_t>(memory.size()) + form.first;
    end.count = form.count;
    end.shape = form.shape.get();
    ends.push_back(end);
    (&ends == &out_ends_ ? out_forms_ : in_forms_).push_back(form);
    memory.resize(memory.size() + form.room, kClear);
  }

  std::vector<ChannelEnd> out_ends_, in_ends_;
  std::vector<Form> out_forms_, in_forms_;
  Bytes sent_, received_;
};

// All ranks of a neighbourhood, for tests that play them by one thread.
struct Neighbourhood {
  explicit Neighbourhood(std::uint32_t ranks, std::vector<TestChannel> with, const Costs& costs = {.direct_least = 512},
                         const std::vector<std::uint32_t>& spaces = {})
      : channels(std::move(with)), network(ranks, [this] { return leaves; }) {
    for (std::uint32_t r = 0; r < ranks; ++r) rank.emplace_back(r, channels, spaces);
    for (std::uint32_t r = 0; r < ranks; ++r) rank[r].make(costs, spaces.empty() ? nullptr : &network.of(r));
  }
  Record record(std::size_t channel) {
    Rank& from = rank[channels[channel].from];
    const auto found = std::find(from.sending.begin(), from.sending.end(), channel);
    return from.halo->record(static_cast<std::size_t>(found - from.sending.begin()));
  }
  void join(Rank& one) {
    for (std::size_t i = 0; i < one.receiving.size(); ++i) one.halo->join(i, record(one.receiving[i]));
  }
  void join_all() {
    for (Rank& one : rank) join(one);
  }

  // Delivers everything that is under way between spaces, in pieces of `piece` bytes.
  void deliver(std::size_t piece = 1000) {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::uint32_t r = 0; r < rank.size(); ++r) moved = network.of(r).poll(piece) || moved;
    }
  }

  std::vector<TestChannel> channels;
  bool leaves = true;  // whether puts between spaces leave at once
  PutNetwork network;
  std::deque<Rank> rank;
};

// A payload with other bytes for each exchange and channel.
inline Bytes payload_of(std::uint64_t exchange, std::size_t channel, std::uint64_t bytes) {
  Bytes payload(bytes);
  for (std::uint64_t i = 0; i < bytes; ++i) {
    payload[i] = static_cast<std::byte>(exchange * 31 + channel * 17 + i * 7 + (i >> 8U) * 3);
  }
  return payload;
}

// For tests in which one thread plays all ranks.
inline TestChannel channel(std::uint32_t from, std::uint32_t to, std::uint64_t bytes) {
  return {from, to, plain(bytes), plain(bytes)};
}

inline void begin(Rank& rank, const Neighbourhood& all, std::uint64_t exchange) {
  for (std::size_t i = 0; i < rank.sending.size(); ++i) {
    const std::size_t number = rank.sending[i];
    rank.fill(i, payload_of(exchange, number, all.channels[number].out.bytes()));
  }
  rank.begin();
}

inline bool holds_all(Rank& rank, const Neighbourhood& all, std::uint64_t exchange) {
  bool good = true;
  for (std::size_t i = 0; i < rank.receiving.size(); ++i) {
    const std::size_t number = rank.receiving[i];
    good = rank.holds(i, payload_of(exchange, number, all.channels[number].in.bytes())) && good;
  }
  return good;
}

inline bool test(Rank& rank) {
  rank.halo->progress();
  return rank.halo->complete();
}

}  // namespace urakata::halo::test
