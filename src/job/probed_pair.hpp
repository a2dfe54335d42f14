// SPDX-License-Identifier: BSD-3-Clause
// A pair of ranks by which a link is measured: one sends for as long as it should, the other receives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/stripes/stripes.hpp"
#include "transport/stripes/stripes_port.hpp"

namespace urakata::job {

// Packets that were sent, and how many of them again.
struct Loss {
  double packets = 0, again = 0;

  static Loss between(const transport::Stripes::Packets& from, const transport::Stripes::Packets& until);
  void add(const Loss& other) { packets += other.packets, again += other.again; }
  bool less_than(const Loss& other) const { return again * other.packets < other.again * packets; }
};

// The link's own loss comes all the time; in bursts comes that of a router whose queue is full where windows have grown
// too far. So of what was lost in the whole time and in the part of it with `least` this is the part, if that is no
// accident: by three standard deviations less than its share of the whole.
Loss steady(const Loss& whole, const std::optional<Loss>& least);

// What a pair has carried while it was counted.
struct Counted {
  double rate = 0;  // bytes/s; 0 where the stripes are lost
  Loss loss = {};
};

// How long a pair sends.
struct Times {
  static constexpr double kBeyond = 0.5;  // times as long as counted: other pairs, which began later, are still counted

  double round_trip_s, settling_s, counted_s;
};

// Messages of `bytes`, of which more are under way than arrive in a round trip, at least `least`; no more than
// `most_bytes` in all. By one thread; each call ends.
class ProbedPair {
 public:
  ProbedPair(transport::Stripes& stripes, const Times& times, std::uint64_t most_bytes, std::uint64_t bytes,
             std::uint64_t least)
      : stripes_(stripes),
        port_(stripes),
        times_(times),
        most_(most_bytes / 2),
        data_(bytes),
        under_way_(least * bytes) {}

  Counted send(std::int32_t to);
  void receive(std::int32_t from);

 private:
  // What had gone when.
  struct Sample {
    double s;  // since the beginning
    std::uint64_t acked;
    transport::Stripes::Packets packets;
  };

  Sample sample(std::int32_t to, std::uint64_t acked, std::uint64_t begin);
  bool enough(std::uint64_t bytes, double seconds) const;
  std::uint64_t under_way(double now, std::uint64_t acked);
  void post(bool sends, std::int32_t tag, std::int32_t peer, std::span<std::byte> memory);
  void step();

  transport::Stripes& stripes_;
  transport::StripesPort port_;
  const Times times_;
  const std::uint64_t most_;  // bytes
  std::vector<std::byte> data_;
  std::byte more_{1}, end_{0};
  std::size_t open_ = 0;
  bool failed_ = false;
  std::uint64_t under_way_;
  double trip_s_ = 0;  // when the latest round trip began, and what had arrived by then
  std::uint64_t trip_acked_ = 0;
};

}  // namespace urakata::job
