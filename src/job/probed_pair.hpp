// SPDX-License-Identifier: BSD-3-Clause
// A pair of ranks by which a link is measured: one sends for a given time, the other receives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "transport/stripes/stripes.hpp"
#include "transport/stripes/stripes_port.hpp"

namespace urakata::job {

// TCP packets that were sent, and retransmissions among them.
struct Loss {
  double packets = 0, again = 0;

  static Loss between(const transport::Stripes::Packets& from, const transport::Stripes::Packets& until);
  void add(const Loss& other) { packets += other.packets, again += other.again; }
  bool less_than(const Loss& other) const { return again * other.packets < other.again * packets; }
};

// The link's own loss. It occurs all the time, whereas a router whose queue is full, since windows have grown too far,
// loses packets in bursts. `whole`: the loss in the whole time; `least`: that in the part with the smallest rate of
// loss. Returns `least` if it is three standard deviations below its share of `whole`, and `whole` otherwise.
Loss steady(const Loss& whole, const std::optional<Loss>& least);

// What a pair has carried during the counted part.
struct Counted {
  double rate = 0;  // bytes/s; 0: the stripes are lost
  Loss loss = {};
};

// How long a pair sends: LinkPlan::settling_s, then counted_s, and then for kBeyond times counted_s more, since other
// pairs that began later are still counting.
struct Times {
  static constexpr double kBeyond = 0.5;

  double round_trip_s, settling_s, counted_s;
};

// Sends or receives messages of `bytes` bytes. At least `least` messages are under way, and more than arrive in a round
// trip; the pair settles and counts within most_bytes / 2 each. Used by one thread. Each call ends, also if the stripes
// are lost. send() on one rank and receive() on the other belong together.
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
  // What had arrived at a moment.
  struct Sample {
    double s;  // time since the beginning
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
  std::byte more_{1}, end_{0};  // sent before each message: another one follows, or none
  std::size_t open_ = 0;        // messages posted and not finished
  bool failed_ = false;
  std::uint64_t under_way_;  // bytes that are to be under way
  double trip_s_ = 0;        // when the latest round trip began, and the bytes that had arrived by then
  std::uint64_t trip_acked_ = 0;
};

}  // namespace urakata::job
