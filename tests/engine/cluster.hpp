// SPDX-License-Identifier: BSD-3-Clause
// Simulated ranks for the tests of the engine layer: each has a progress domain on the network in memory.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <numeric>
#include <random>
#include <span>
#include <vector>

#include "../transport/network.hpp"
#include "engine/domain.hpp"
#include "schedule/builder.hpp"

namespace urakata::simulated {

class TestGroup final : public transport::Group {
 public:
  // All ranks of the network, in order. `number` tells the groups of a process apart; every rank calls it differently.
  TestGroup(int own, int size, int number) {
    rank = static_cast<std::uint32_t>(own);
    ranks = static_cast<std::uint32_t>(size);
    for (int r = 0; r < size; ++r) {
      world.push_back(r);
      contexts.push_back(number * kMaxRanks + (r + number) % kMaxRanks);
    }
    context = contexts[rank];
  }
};

// Takes a sequence number, as a starting call does.
inline void prepare(transport::Group& group, engine::Instance& instance) {
  instance.group = &group;
  instance.sequence = group.next_sequence.fetch_add(1, std::memory_order_relaxed);
  instance.error = 0;
  instance.outcome.store(engine::Instance::Outcome::running, std::memory_order_relaxed);
}

inline void submit(engine::Domain& domain, transport::Group& group, engine::Instance& instance) {
  prepare(group, instance);
  domain.submit(instance);
}

// Domains of several ranks, advanced in random order by the thread that asks for it.
class Cluster {
 public:
  static constexpr int kSteps = 100'000;  // enough for all that a test does; more means that something is stuck

  explicit Cluster(int ranks, std::uint64_t seed = 1, std::uint64_t timeout_ns = 0) : network_(seed), random_(seed) {
    for (int r = 0; r < ranks; ++r) {
      domains_.push_back(std::make_unique<engine::Domain>(attach(network_, r, timeout_ns)));
      groups_.push_back(std::make_unique<TestGroup>(r, ranks, 1));
    }
  }

  int ranks() const { return static_cast<int>(domains_.size()); }
  Network& network() { return network_; }
  engine::Domain& domain(int rank) { return *domains_[static_cast<std::size_t>(rank)]; }
  TestGroup& group(int rank) { return *groups_[static_cast<std::size_t>(rank)]; }

  void start(int rank, engine::Instance& instance) { submit(domain(rank), group(rank), instance); }

  // One step of a random rank.
  bool step(bool caller = true) {
    return domain(std::uniform_int_distribution<int>(0, ranks() - 1)(random_)).advance(caller);
  }
  // Steps until all operations are over; false: it does not end.
  bool settle(bool caller = true) {
    for (int i = 0; i < kSteps; ++i) {
      bool pending = false;
      for (const auto& domain : domains_) pending = pending || domain->unfinished();
      if (!pending) return true;
      step(caller);
    }
    return false;
  }

 private:
  Network network_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<engine::Domain>> domains_;
  std::vector<std::unique_ptr<TestGroup>> groups_;
};

template <class T>
std::byte* address(std::vector<T>& values) {
  return reinterpret_cast<std::byte*>(values.data());
}

// Elements of `size` bytes, `extent` bytes apart: holes follow each. Counts what is packed and unpacked.
class Holes final : public layout::Layout {
 public:
  Holes(std::uint64_t payload, std::uint64_t memory) {
    size = payload;
    extent = memory;
    true_extent = payload;
    contiguous = payload == memory;
  }
  void pack(const std::byte* base, std::uint64_t first, std::uint64_t count, std::byte* packed) const override {
    moved.fetch_add(count * size, std::memory_order_relaxed);
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(packed + i * size, base + (first + i) * extent, size);
  }
  void unpack(const std::byte* packed, std::byte* base, std::uint64_t first, std::uint64_t count) const override {
    moved.fetch_add(count * size, std::memory_order_relaxed);
    for (std::uint64_t i = 0; i < count; ++i) std::memcpy(base + (first + i) * extent, packed + i * size, size);
  }
  mutable std::atomic<std::uint64_t> moved{0};
};

inline schedule::Schedule made(schedule::Builder& builder) {
  auto schedule = builder.commit();
  return schedule ? std::move(*schedule) : schedule::Schedule{};
}

// Rank r has r + 1 bytes at their place in buffer 1 and gets everybody's, passed on around the ring.
inline schedule::Schedule gather_ring(int ranks, int rank) {
  schedule::Builder builder("allgatherv/ring", static_cast<std::uint32_t>(ranks), static_cast<std::uint32_t>(rank));
  const auto place = [](int of) {
    return schedule::Place{.buffer = schedule::kRecvBuffer, .offset = of * (of + 1) / 2};
  };
  auto before = schedule::Builder::kNone;
  auto sent = schedule::Builder::kNone;
  for (int step = 0; step + 1 < ranks; ++step) {
    const int out = (rank - step + ranks) % ranks;
    const int in = (rank - step - 1 + ranks) % ranks;
    const auto send =
        builder.send(static_cast<std::uint32_t>((rank + 1) % ranks), place(out), static_cast<std::uint64_t>(out) + 1);
    const auto recv = builder.recv(static_cast<std::uint32_t>((rank + ranks - 1) % ranks), place(in),
                                   static_cast<std::uint64_t>(in) + 1);
    builder.after(before, send);
    builder.after(before, recv);
    builder.after(sent, send);
    before = recv;
    sent = send;
  }
  return made(builder);
}

// Rank 0 sends `bytes` to rank 1, from its buffer 0 to the other's buffer 1.
inline schedule::Schedule one_message(int rank, std::uint64_t bytes) {
  schedule::Builder builder("one message", 2, static_cast<std::uint32_t>(rank));
  if (rank == 0) {
    builder.send(1, {.buffer = schedule::kSendBuffer}, bytes);
  } else {
    builder.recv(0, {.buffer = schedule::kRecvBuffer}, bytes);
  }
  return made(builder);
}

}  // namespace urakata::simulated
