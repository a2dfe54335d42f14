// SPDX-License-Identifier: BSD-3-Clause
#include "job/link_rates.hpp"

#include <sched.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "job/probed_pair.hpp"

namespace urakata::job {

namespace {

// Units: round trips, unless a comment says otherwise.
constexpr std::uint64_t kOfStream = 16UL * 1024;  // bytes of a message for each connection
constexpr double kSettlingTrips = 6;              // TCP's windows grow from 10 segments to 64 times as much
constexpr double kCountedTrips = 4;
constexpr double kFewSettling = 5, kFewCounted = 2;  // if time is short; windows grow to 32 times as much
constexpr double kLonger = 2;                        // factor by which more is counted if all links have the time
constexpr double kOtherTrips = 3;                    // connections are made, and messages under way are drained
// Messages that are under way at least. Between sites TCP's windows hold back more. Inside a site a rank that waits on
// a shared core may see late what has come.
constexpr std::uint64_t kBetween = 8;
constexpr std::uint64_t kInside = 256;
constexpr double kUncrowded = 0.9;  // share of their rate alone at which connections do not crowd each other out
constexpr double kDrained = 0.1;    // s; time to drain what is under way, at a known rate

// The lowest rank of each node of a site.
std::vector<std::int32_t> leaders(const Sites& sites, std::span<const std::int32_t> nodes, std::size_t site) {
  std::vector<std::int32_t> found;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    if (sites.of[rank] == static_cast<std::int32_t>(site) && nodes[rank] == static_cast<std::int32_t>(rank)) {
      found.push_back(static_cast<std::int32_t>(rank));
    }
  }
  return found;
}

void meet(Bootstrap& world, transport::Stripes& stripes) {
  world.meet([&] {
    stripes.settled();
    sched_yield();
  });
}

using Ranks = std::span<const std::int32_t>;

// Bytes of a message for each connection, if `least` messages are under way. Shorter on a slow link, so that draining
// the last messages does not take long. `stream`: bytes/s of one connection; 0: not known.
std::uint64_t bytes_of_stream(double stream, std::uint64_t least) {
  if (stream == 0) return kOfStream;
  const double most = stream * kDrained / static_cast<double>(least);
  return std::clamp(static_cast<std::uint64_t>(most), transport::Stripes::kPacket, kOfStream);
}

// Pairs of ranks: senders[i] sends to receivers[i].
struct Pairs {
  std::vector<std::int32_t> senders, receivers;
};

// The arguments that all measurements share.
struct Probing {
  Bootstrap& world;
  transport::Stripes& stripes;
  std::uint64_t most_bytes;
};

// Measures what senders[i] sends to receivers[i], all pairs at once. Collective over the job. Returns an element for
// each pair; its rate is 0 if the MPI library reports an error or the stripes are lost. `streams`: connections of a
// pair. `stream`: bytes/s of one connection; 0: not known. `least`: messages that are under way at least.
std::vector<Counted> count(const Probing& probing, const Times& times, Ranks senders, Ranks receivers,
                           std::uint32_t streams, double stream, std::uint64_t least = kBetween) {
  Bootstrap& world = probing.world;
  meet(world, probing.stripes);
  const std::uint64_t bytes = streams * bytes_of_stream(stream, least);
  probing.stripes.set_streams(streams);
  Counted own;
  const auto rank = static_cast<std::int32_t>(world.rank());
  for (std::size_t i = 0; i < senders.size(); ++i) {
    if (rank != senders[i] && rank != receivers[i]) continue;
    ProbedPair pair(probing.stripes, times, probing.most_bytes, bytes, least);
    if (rank == senders[i]) {
      own = pair.send(receivers[i]);
    } else {
      pair.receive(senders[i]);
    }
  }
  meet(world, probing.stripes);
  const std::vector<Counted> all = world.gathered(own);
  std::vector<Counted> found;
  for (const std::int32_t each : senders)
    found.push_back(all.empty() ? Counted() : all[static_cast<std::size_t>(each)]);
  return found;
}

// Rates in bytes/s between the nodes of each site, measured two by two, in all sites at once: operations hand data on
// inside their sites in the same way. For each site the mean of its pairs; 0: no two nodes have stripes between them.
std::vector<double> rates_inside(const Probing& probing, double least_s, const Sites& sites,
                                 const std::vector<std::vector<std::int32_t>>& at, const HaveStripes& have_stripes) {
  Pairs pairs;
  std::vector<std::size_t> of;  // the site of each pair
  for (std::size_t site = 0; site < at.size(); ++site) {
    for (std::size_t i = 0; i + 1 < at[site].size(); i += 2) {
      if (!have_stripes(at[site][i], at[site][i + 1])) continue;
      of.push_back(site);
      pairs.senders.push_back(at[site][i]);
      pairs.receivers.push_back(at[site][i + 1]);
    }
  }
  std::vector<double> found(at.size(), 0), pairs_there(at.size(), 0);
  if (of.empty()) return found;
  double round_trip_s = 0;
  for (std::size_t site = 0; site < at.size(); ++site) {
    round_trip_s = std::max(round_trip_s, sites.round_trip_us[site * sites.count + site] * 1e-6);
  }
  const Times times{.round_trip_s = round_trip_s,
                    .settling_s = std::max(least_s, kSettlingTrips * round_trip_s),
                    .counted_s = std::max(least_s, kCountedTrips * round_trip_s)};
  const auto measured = count(probing, times, pairs.senders, pairs.receivers, 1, 0, kInside);
  for (const std::size_t site : of) ++pairs_there[site];
  for (std::size_t i = 0; i < of.size(); ++i) found[of[i]] += measured[i].rate / pairs_there[of[i]];
  return found;
}

// Pairs of a leader of one site and a leader of the other, those with stripes between them.
Pairs pairs_of(const std::vector<std::int32_t>& one, const std::vector<std::int32_t>& other,
               const HaveStripes& have_stripes) {
  Pairs pairs;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    if (!have_stripes(one[i], other[i])) continue;
    pairs.senders.push_back(one[i]);
    pairs.receivers.push_back(other[i]);
  }
  return pairs;
}

// The lesser of two rates, or the known one; 0: neither is known.
double lesser(double one, double other) { return one == 0 || other == 0 ? std::max(one, other) : std::min(one, other); }

// Measures a link by pairs of nodes of its sites. Loss: see measure_links(). All zero if the stripes are lost.
LinkFacts measured_link(const Probing& probing, const LinkPlan& plan, double round_trip_s, const Pairs& pairs) {
  const Ranks senders = pairs.senders, receivers = pairs.receivers;
  const Times times{.round_trip_s = round_trip_s, .settling_s = plan.settling_s, .counted_s = plan.counted_s};
  LinkFacts facts{.delay = round_trip_s / 2};
  Loss loss;
  const auto turn = [&](std::size_t of, std::uint32_t streams) {
    double rate = 0;
    Loss lost;
    for (const Counted& each : count(probing, times, senders.first(of), receivers.first(of), streams, facts.stream)) {
      rate += each.rate;
      lost.add(each.loss);
    }
    if (rate >= kUncrowded * static_cast<double>(of * streams) * facts.stream) loss.add(lost);
    return rate;
  };
  facts.stream = turn(1, 1);
  const bool two = plan.turns == 3 || senders.size() == 1;
  facts.pair = two ? turn(1, kMostStreams) : 0;
  facts.link = senders.size() == 1 ? facts.pair : turn(senders.size(), kMostStreams);
  facts.loss = loss.packets > 0 ? std::min(loss.again / loss.packets, 1.0) : 0;
  if (!two) facts.pair = facts.link;
  if (facts.pair == 0 || facts.link == 0) return {};  // stripes are lost
  put_in_order(facts);
  return facts;
}

}  // namespace

void put_in_order(LinkFacts& facts) {
  // If a rate is less than one that it cannot be less than, both are taken for measurements of one rate: their mean.
  if (facts.link < facts.pair) facts.link = facts.pair = (facts.link + facts.pair) / 2;
  if (facts.pair < facts.stream) {
    facts.stream = facts.pair = (facts.pair + facts.stream) / 2;
    facts.link = std::max(facts.link, facts.pair);
  }
}

std::optional<LinkPlan> plan_of(double round_trip_s, const LinksLeft& left, const LinkProbe& probe) {
  const auto plan = [&](double settling, double counted, std::uint32_t turns, double times = 1) {
    LinkPlan made{.settling_s = std::max(probe.least_s, settling * round_trip_s),
                  .counted_s = times * std::max(probe.least_s, counted * round_trip_s),
                  .turns = turns};
    made.seconds = turns * (made.settling_s + (1 + Times::kBeyond) * made.counted_s + kOtherTrips * round_trip_s);
    return made;
  };
  const LinkPlan longer = plan(kSettlingTrips, kCountedTrips, 3, kLonger);
  if (longer.seconds * static_cast<double>(left.links) <= left.seconds) return longer;
  LinkPlan least;
  for (const LinkPlan& each : {plan(kSettlingTrips, kCountedTrips, 3), plan(kFewSettling, kFewCounted, 3),
                               plan(kFewSettling, kFewCounted, 2)}) {
    if (each.seconds <= left.seconds) return each;
    least = each;
  }
  if (!left.first) return std::nullopt;
  const double part = std::max(left.seconds, 0.0) / least.seconds;
  least.settling_s *= part, least.counted_s *= part, least.seconds = left.seconds;
  return least;
}

std::optional<LinkRates> measure_links(Bootstrap& world, transport::Stripes& stripes, const Sites& sites,
                                       std::span<const std::int32_t> nodes, const HaveStripes& have_stripes,
                                       const LinkTable& known, const LinkProbe& probe) {
  if (sites.count < 2) return std::nullopt;
  LinkRates found{.of = known, .nodes = {}};
  found.of.resize(sites.count * sites.count);
  std::vector<std::vector<std::int32_t>> at;
  for (std::size_t site = 0; site < sites.count; ++site) {
    at.push_back(leaders(sites, nodes, site));
    found.nodes.push_back(static_cast<std::uint32_t>(at.back().size()));
  }
  struct Unknown {
    std::size_t one, other;  // sites
    Pairs pairs;
  };
  std::vector<Unknown> unknown;
  for (std::size_t one = 0; one < sites.count; ++one) {
    for (std::size_t other = one + 1; other < sites.count; ++other) {
      const auto& facts = found.of[one * sites.count + other];
      found.of[other * sites.count + one] = facts;
      if (facts) continue;
      Pairs pairs = pairs_of(at[one], at[other], have_stripes);
      if (!pairs.senders.empty()) unknown.push_back({one, other, std::move(pairs)});
    }
  }

  const Probing probing{.world = world, .stripes = stripes, .most_bytes = probe.most_bytes};
  std::vector<double> inside;  // rate inside each site; measuring takes 2 least_s
  LinksLeft left{.links = unknown.size(), .seconds = probe.most_s - 2 * probe.least_s, .first = true};
  for (const auto& [one, other, pairs] : unknown) {
    const double round_trip_s = sites.round_trip_us[one * sites.count + other] * 1e-6;
    const std::optional<LinkPlan> plan = plan_of(round_trip_s, left, probe);
    --left.links;
    if (!plan) continue;
    left.first = false;
    left.seconds -= plan->seconds;
    if (inside.empty()) inside = rates_inside(probing, probe.least_s, sites, at, have_stripes);
    LinkFacts facts = measured_link(probing, *plan, round_trip_s, pairs);
    facts.inside = lesser(inside[one], inside[other]);
    if (facts.stream == 0) return std::nullopt;
    found.of[one * sites.count + other] = found.of[other * sites.count + one] = facts;
  }
  if (!inside.empty()) {
    // More connections than the link holds have lost packets and kept small windows, which would hold back the
    // program's first operations. New connections have at least what slow start gives.
    meet(world, stripes);
    stripes.close_idle();
    meet(world, stripes);
  }
  const bool any = std::ranges::any_of(found.of, [](const auto& link) { return link.has_value(); });
  return any ? std::optional(std::move(found)) : std::nullopt;
}

}  // namespace urakata::job
