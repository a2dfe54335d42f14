#include "job/link_rates.hpp"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "base/clock.hpp"

namespace urakata::job {

namespace {

constexpr std::uint32_t kMostStreams = 16;
constexpr std::uint64_t kOfStream = 16UL * 1024;  // bytes of a message for each connection
constexpr double kSettlingTrips = 6;              // in which TCP's windows grow from 10 segments to 64 times as much
constexpr double kCountedTrips = 4;
// Under way at least, in messages: between sites TCP's windows hold back more; inside one the time until a rank that waits
// on a shared core sees what has come.
constexpr std::uint64_t kBetween = 8;
constexpr std::uint64_t kInside = 256;
constexpr double kDrained = 0.1;  // s: as much as connections of a known rate carry meanwhile
constexpr std::uint64_t kLeastCounted = 8 * transport::Lanes::kLeastPiece;
constexpr std::int32_t kDataTag = -1;  // no group's
constexpr std::int32_t kWordTag = -2;

// One pair of ranks: messages of `bytes`, of which more are under way than arrive in a round trip.
class Pair {
 public:
  Pair(transport::Lanes& lanes, const LinkProbe& probe, double round_trip_s, std::uint64_t bytes, std::uint64_t least)
      : lanes_(lanes),
        port_(lanes),
        round_trip_s_(round_trip_s),
        settling_s_(std::max(probe.least_s, kSettlingTrips * round_trip_s)),
        counted_s_(std::max(probe.least_s, kCountedTrips * round_trip_s)),
        most_(probe.most_bytes / 2),
        data_(bytes),
        under_way_(least * bytes) {}

  // bytes/s, by when what arrives is acknowledged; 0 where the lanes are lost.
  double send(std::int32_t to) {
    const std::uint64_t begin = now_ns(), before = lanes_.traffic(to).acked;
    std::uint64_t sent = 0, acked = 0, first = 0;
    double now = 0, first_s = 0;
    bool settled = false;
    do {
      for (; sent < acked + under_way(now, acked); sent += data_.size()) {
        post(true, kWordTag, to, std::span(&more_, 1));
        post(true, kDataTag, to, data_);
      }
      step();
      now = static_cast<double>(now_ns() - begin) * 1e-9;
      acked = lanes_.traffic(to).acked - before;
      if (!settled && (now >= settling_s_ || acked >= most_)) settled = true, first = acked, first_s = now;
    } while (!failed_ &&
             (!settled || acked - first < kLeastCounted || (now - first_s < counted_s_ && acked - first < most_)));
    post(true, kWordTag, to, std::span(&end_, 1));
    while (open_ != 0) step();
    while (!lanes_.settled()) sched_yield();  // nothing of it in what is measured next
    return failed_ ? 0 : static_cast<double>(acked - first) / (now - first_s);
  }

  void receive(std::int32_t from) {
    for (;;) {
      std::byte word{};
      post(false, kWordTag, from, std::span(&word, 1));
      while (open_ != 0) step();
      if (word == end_) return;
      post(false, kDataTag, from, data_);
      while (open_ != 0) step();
    }
  }

 private:
  // Bytes: four times as many as have arrived in a round trip, so that they grow faster than TCP's windows.
  std::uint64_t under_way(double now, std::uint64_t acked) {
    if (acked != 0 && now - trip_s_ >= round_trip_s_) {
      if (trip_s_ != 0) {
        const double in_trip = static_cast<double>(acked - trip_acked_) * round_trip_s_ / (now - trip_s_);
        under_way_ = std::max(under_way_, static_cast<std::uint64_t>(4 * in_trip));
      }
      trip_s_ = now, trip_acked_ = acked;
    }
    return under_way_;
  }

  void post(bool sends, std::int32_t tag, std::int32_t peer, std::span<std::byte> memory) {
    const transport::Message message{
        .address = memory.data(), .bytes = memory.size(), .layout = nullptr, .peer = peer, .tag = tag};
    bool finished = false;
    const int error = sends ? port_.send(message, {}, &finished) : port_.recv(message, {}, &finished);
    if (error != 0) failed_ = true;
    if (error == 0 && !finished) ++open_;
  }
  void step() {
    const auto done = port_.poll();
    if (done.empty()) sched_yield();
    for (const transport::Completion& each : done) failed_ = failed_ || each.error != 0;
    open_ -= std::min(open_, done.size());
  }

  transport::Lanes& lanes_;
  transport::LanesPort port_;
  const double round_trip_s_, settling_s_, counted_s_;
  const std::uint64_t most_;  // bytes
  std::vector<std::byte> data_;
  std::byte more_{1}, end_{0};
  std::size_t open_ = 0;
  bool failed_ = false;
  std::uint64_t under_way_;
  double trip_s_ = 0;  // when the latest round trip began, and what had arrived by then
  std::uint64_t trip_acked_ = 0;
};

// The lowest rank of each node of a site.
std::vector<std::int32_t> delegates(const Sites& sites, std::span<const std::int32_t> nodes, std::size_t site) {
  std::vector<std::int32_t> found;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    if (sites.of[rank] == static_cast<std::int32_t>(site) && nodes[rank] == static_cast<std::int32_t>(rank)) {
      found.push_back(static_cast<std::int32_t>(rank));
    }
  }
  return found;
}

void meet(Bootstrap& world, transport::Lanes& lanes) {
  if (!world.begin_barrier()) return;
  while (!world.barrier_passed()) {
    lanes.settled();
    sched_yield();
  }
}

using Ranks = std::span<const std::int32_t>;

// Bytes of a message for each connection, of which `least` messages are under way: what is sent last has to be drained, which
// a slow link takes long for.
std::uint64_t bytes_of_stream(double stream, std::uint64_t least) {
  if (stream == 0) return kOfStream;
  const double most = stream * kDrained / static_cast<double>(least);
  return std::clamp(static_cast<std::uint64_t>(most), transport::Lanes::kPacket, kOfStream);
}

// What left[i] sends to right[i], all pairs at once. Collective over the job; of each pair bytes/s, 0 where the host refuses or
// the lanes are lost. `stream`: bytes/s of one connection; 0: not known.
std::vector<double> rates(Bootstrap& world, transport::Lanes& lanes, const LinkProbe& probe, double round_trip_s,
                          Ranks left, Ranks right, std::uint32_t streams, double stream,
                          std::uint64_t least = kBetween) {
  meet(world, lanes);
  const std::uint64_t bytes = streams * bytes_of_stream(stream, least);
  lanes.set_streams(streams);
  double own = 0;
  const auto rank = static_cast<std::int32_t>(world.rank());
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (rank != left[i] && rank != right[i]) continue;
    Pair pair(lanes, probe, round_trip_s, bytes, least);
    if (rank == left[i]) {
      own = pair.send(right[i]);
    } else {
      pair.receive(left[i]);
    }
  }
  meet(world, lanes);
  const std::vector<double> all = world.gathered(own);
  std::vector<double> found;
  for (const std::int32_t each : left) found.push_back(all.empty() ? 0 : all[static_cast<std::size_t>(each)]);
  return found;
}

// Of packets that the first rank of `left` has sent to the first of `right` while the function ran.
template <class Function>
double loss_of(Bootstrap& world, transport::Lanes& lanes, Ranks left, Ranks right, Function function) {
  const bool sends = static_cast<std::int32_t>(world.rank()) == left.front();
  const auto before = sends ? lanes.packets(right.front()) : transport::Lanes::Packets{};
  function();
  double own = 0;
  if (sends) {
    const auto after = lanes.packets(right.front());
    const auto sent = static_cast<double>(after.sent - before.sent);
    own = sent > 0 ? static_cast<double>(after.again - before.again) / sent : 0;
  }
  const std::vector<double> all = world.gathered(own);
  return all.empty() ? 0 : all[static_cast<std::size_t>(left.front())];
}

// Between two nodes of each site, all sites at once; 0 of a site that has no two with lanes between them.
std::vector<double> rates_inside(Bootstrap& world, transport::Lanes& lanes, const LinkProbe& probe, const Sites& sites,
                                 const std::vector<std::vector<std::int32_t>>& at, const HaveLanes& have_lanes) {
  std::vector<std::int32_t> left, right;
  std::vector<std::size_t> measured_sites;
  for (std::size_t site = 0; site < at.size(); ++site) {
    if (at[site].size() < 2 || !have_lanes(at[site][0], at[site][1])) continue;
    measured_sites.push_back(site);
    left.push_back(at[site][0]);
    right.push_back(at[site][1]);
  }
  std::vector<double> found(at.size(), 0);
  if (left.empty()) return found;
  double round_trip_s = 0;
  for (std::size_t site = 0; site < at.size(); ++site) {
    round_trip_s = std::max(round_trip_s, sites.round_trip_us[site * sites.count + site] * 1e-6);
  }
  const auto measured = rates(world, lanes, probe, round_trip_s, left, right, 1, 0, kInside);
  for (std::size_t i = 0; i < measured.size(); ++i) found[measured_sites[i]] = measured[i];
  return found;
}

// Nodes of two sites, one of each, as many pairs as there are with lanes between them.
struct NodePairs {
  std::vector<std::int32_t> senders, receivers;
};
NodePairs pairs_of(const std::vector<std::int32_t>& one, const std::vector<std::int32_t>& other,
                   const HaveLanes& have_lanes) {
  NodePairs pairs;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    if (!have_lanes(one[i], other[i])) continue;
    pairs.senders.push_back(one[i]);
    pairs.receivers.push_back(other[i]);
  }
  return pairs;
}

// The lesser of what two sites have; 0: neither is known.
double lesser(double one, double other) { return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other); }

}  // namespace

std::optional<LinkRates> measure_links(Bootstrap& world, transport::Lanes& lanes, const Sites& sites,
                                       std::span<const std::int32_t> nodes, const HaveLanes& have_lanes,
                                       const LinkTable& known, const LinkProbe& probe) {
  if (sites.count < 2) return std::nullopt;
  LinkRates found{.of = known, .nodes = {}};
  found.of.resize(sites.count * sites.count);
  std::vector<std::vector<std::int32_t>> at;
  for (std::size_t site = 0; site < sites.count; ++site) {
    at.push_back(delegates(sites, nodes, site));
    found.nodes.push_back(static_cast<std::uint32_t>(at.back().size()));
  }
  std::vector<double> inside;  // of each site
  for (std::size_t one = 0; one < sites.count; ++one) {
    for (std::size_t other = one + 1; other < sites.count; ++other) {
      auto& facts = found.of[one * sites.count + other];
      auto& mirrored = found.of[other * sites.count + one];
      if (facts) {
        mirrored = facts;
        continue;
      }
      const NodePairs pairs = pairs_of(at[one], at[other], have_lanes);
      if (pairs.senders.empty()) continue;
      if (inside.empty()) inside = rates_inside(world, lanes, probe, sites, at, have_lanes);
      const Ranks senders = pairs.senders, receivers = pairs.receivers;
      const double round_trip_s = sites.round_trip_us[one * sites.count + other] * 1e-6;
      const auto measured = [&](std::size_t of, std::uint32_t streams) {
        const auto all =
            rates(world, lanes, probe, round_trip_s, senders.first(of), receivers.first(of), streams, facts->stream);
        return std::accumulate(all.begin(), all.end(), 0.0);
      };
      facts = LinkFacts{.delay = round_trip_s / 2, .inside = lesser(inside[one], inside[other])};
      facts->loss = loss_of(world, lanes, senders, receivers, [&] { facts->stream = measured(1, 1); });
      facts->pair = std::max(measured(1, kMostStreams), facts->stream);
      facts->link = senders.size() == 1 ? facts->pair : std::max(measured(senders.size(), kMostStreams), facts->pair);
      if (facts->stream == 0) return std::nullopt;
      mirrored = facts;
    }
  }
  if (!inside.empty()) meet(world, lanes);
  const bool any = std::ranges::any_of(found.of, [](const auto& link) { return link.has_value(); });
  return any ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace urakata::job
