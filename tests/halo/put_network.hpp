// SPDX-License-Identifier: BSD-3-Clause
// A network for tests of channels between nodes. Frames of a pair of ranks come in order and in pieces of any length,
// and payloads leave when the test wants. Several threads may use the network, as they may use transport wire.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "transport/wire/puts.hpp"

namespace urakata::halo::test {

class PutNetwork;

class TestWire final : public transport::PutWire {
 public:
  using Frame = transport::Frame;
  using PutSink = transport::PutSink;

  TestWire(PutNetwork& network, std::int32_t rank) : network_(network), rank_(rank) {}

  std::int32_t add(PutSink& sink) override {
    const std::lock_guard guard(lock_);
    if (when_added) when_added(sink);
    sinks_.emplace(next_, &sink);
    return next_++;
  }
  void remove(std::int32_t number) override {
    const std::lock_guard guard(lock_);
    abandon(*sinks_.at(number));
    sinks_.erase(number);
  }
  void give_up(PutSink& sink) override {
    const std::lock_guard guard(lock_);
    abandon(sink);
  }
  void watch(std::int32_t rank, PutSink& sink) override {
    const std::lock_guard guard(lock_);
    reach(rank, sink);
  }
  bool put(std::int32_t to, const Frame& frame, const std::byte* payload, PutSink& from,
           std::uint32_t channel) override;

  // Takes in up to `bytes` bytes from each rank, and lets waiting payloads leave. Returns whether anything moved.
  bool poll(std::size_t bytes);
  // Breaks the connection to that rank. Sinks are told only if this rank was connected to it.
  void lose(std::int32_t rank);
  // Called with each new sink, as by another thread that polls the wire.
  std::function<void(PutSink&)> when_added;

 private:
  friend class PutNetwork;
  struct Leaving {
    std::int32_t to;
    Frame frame;
    const std::byte* payload;
    PutSink* from;
    std::uint32_t channel;
  };
  struct Incoming {
    std::mutex lock;
    std::deque<std::byte> stream;  // under its lock
    // Under the wire's.
    std::size_t header = 0;
    Frame frame;
    std::byte* to = nullptr;
    std::uint64_t left = 0;
    PutSink* sink = nullptr;
    bool gone = false;
  };

  static std::uint64_t payload_of(const Frame& frame) {
    return frame.kind == transport::FrameKind::put ? frame.bytes : 0;
  }
  void leave(const Leaving& one);
  void abandon(PutSink& sink) {
    std::erase_if(leaving_, [&](const Leaving& one) { return one.from == &sink; });
    for (auto& [rank, in] : incoming_) {
      if (in.sink == &sink) in.sink = nullptr;
    }
  }
  bool reach(std::int32_t rank, PutSink& sink) {
    connected_[rank] = true;
    if (lost_[rank]) sink.lost(rank);
    return !lost_[rank];
  }
  bool take(std::int32_t from, Incoming& in, std::size_t bytes);
  bool begin(std::int32_t from, Incoming& in);
  bool end(std::int32_t from, Incoming& in);

  PutNetwork& network_;
  const std::int32_t rank_;
  std::mutex lock_;
  std::map<std::int32_t, PutSink*> sinks_;
  std::int32_t next_ = 0;
  std::deque<Leaving> leaving_;
  std::map<std::int32_t, Incoming> incoming_;  // complete before the first frame
  std::map<std::int32_t, bool> lost_;
  std::map<std::int32_t, bool> connected_;
};

class PutNetwork {
 public:
  // `leaves`: whether a put leaves at once.
  PutNetwork(std::uint32_t ranks, std::function<bool()> leaves) : leaves_(std::move(leaves)) {
    for (std::uint32_t r = 0; r < ranks; ++r) wires_.emplace_back(*this, static_cast<std::int32_t>(r));
    for (TestWire& one : wires_) {
      for (std::uint32_t r = 0; r < ranks; ++r) one.incoming_[static_cast<std::int32_t>(r)];
    }
  }
  TestWire& of(std::uint32_t rank) { return wires_[rank]; }
  // Number of frames that sinks have refused.
  std::uint64_t refused() const { return refused_.load(); }

 private:
  friend class TestWire;
  std::function<bool()> leaves_;  // by several threads
  std::deque<TestWire> wires_;
  std::atomic<std::uint64_t> refused_{0};
};

inline void TestWire::leave(const Leaving& one) {
  Incoming& in = network_.of(static_cast<std::uint32_t>(one.to)).incoming_.at(rank_);
  const auto* header = reinterpret_cast<const std::byte*>(&one.frame);
  const std::lock_guard guard(in.lock);
  in.stream.insert(in.stream.end(), header, header + sizeof(Frame));
  in.stream.insert(in.stream.end(), one.payload, one.payload + payload_of(one.frame));
}

inline bool TestWire::put(std::int32_t to, const Frame& frame, const std::byte* payload, PutSink& from,
                          std::uint32_t channel) {
  const std::lock_guard guard(lock_);
  if (!reach(to, from)) return false;
  leaving_.push_back({to, frame, payload, payload_of(frame) != 0 ? &from : nullptr, channel});
  if (leaving_.size() > 1 || !network_.leaves_()) return false;
  leave(leaving_.front());
  leaving_.pop_front();
  return true;
}

inline bool TestWire::poll(std::size_t bytes) {
  const std::lock_guard guard(lock_);
  bool moved = false;
  for (auto& [from, in] : incoming_) {
    if (!in.gone) moved = take(from, in, bytes) || moved;
  }
  while (!leaving_.empty()) {
    const Leaving one = leaving_.front();
    leaving_.pop_front();
    leave(one);
    if (one.from != nullptr) one.from->left(one.channel);
    moved = true;
  }
  return moved;
}

inline void TestWire::lose(std::int32_t rank) {
  const std::lock_guard guard(lock_);
  lost_[rank] = incoming_.at(rank).gone = true;
  incoming_.at(rank).sink = nullptr;
  std::erase_if(leaving_, [&](const Leaving& one) { return one.to == rank; });
  if (!connected_[rank]) return;
  for (const auto& [number, sink] : sinks_) sink->lost(rank);
}

inline bool TestWire::take(std::int32_t from, Incoming& in, std::size_t bytes) {
  std::vector<std::byte> got;
  {
    const std::lock_guard guard(in.lock);
    const auto end = in.stream.begin() + static_cast<std::ptrdiff_t>(std::min(bytes, in.stream.size()));
    got.assign(in.stream.begin(), end);
    in.stream.erase(in.stream.begin(), end);
  }
  if (!got.empty()) connected_[from] = true;
  for (std::size_t at = 0; at < got.size();) {
    if (in.left != 0) {
      const std::uint64_t some = std::min<std::uint64_t>(in.left, got.size() - at);
      if (in.sink != nullptr) std::memcpy(in.to, got.data() + at, some);
      in.to += some;
      in.left -= some;
      at += some;
      if (in.left == 0 && !end(from, in)) return false;
      continue;
    }
    reinterpret_cast<std::byte*>(&in.frame)[in.header++] = got[at++];
    if (in.header == sizeof(Frame) && !begin(from, in)) return false;
  }
  return !got.empty();
}

inline bool TestWire::begin(std::int32_t from, Incoming& in) {
  in.header = 0;
  const auto found = sinks_.find(in.frame.tag);
  in.sink = found != sinks_.end() ? found->second : nullptr;
  in.left = payload_of(in.frame);
  if (in.left == 0) return end(from, in);
  in.to = in.sink != nullptr ? in.sink->place(from, in.frame) : nullptr;
  if (in.sink == nullptr || in.to != nullptr) return true;
  ++network_.refused_;
  return false;
}

inline bool TestWire::end(std::int32_t from, Incoming& in) {
  PutSink* const sink = std::exchange(in.sink, nullptr);
  if (sink == nullptr || sink->arrived(from, in.frame)) return true;
  ++network_.refused_;
  return false;
}

}  // namespace urakata::halo::test
