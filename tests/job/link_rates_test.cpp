// SPDX-License-Identifier: BSD-3-Clause
// Links measured over loopback, with few bytes: what is asked is who measures, and that all come to the same.
#include "job/link_rates.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>

#include <memory>
#include <mutex>
#include <vector>

#include "meeting.hpp"
#include "transport/wire/wire.hpp"

namespace urakata::job::link_rates_test {
namespace {

constexpr transport::Secret kSecret{.low = 0x1234567812345678U, .high = 42};
constexpr std::uint64_t kTimeout = 60'000'000'000;  // ns; longer than any test
constexpr LinkProbe kProbe{.least_s = 1e-6, .most_bytes = 4UL * 1024 * 1024};

// Each rank's wire and stripes, in one process.
struct Ranks {
  transport::Failures failures{16};
  std::vector<std::unique_ptr<transport::Wire>> wires;
  std::vector<std::unique_ptr<transport::Stripes>> stripes;

  explicit Ranks(std::int32_t ranks) {
    std::vector<transport::ListenAddress> addresses;
    for (std::int32_t rank = 0; rank < ranks; ++rank) {
      auto wire = transport::Wire::open(rank, kSecret, failures, kTimeout);
      if (!wire.ok()) ADD_FAILURE() << wire.error().message;
      wires.push_back(std::move(*wire));
      transport::ListenAddress listener;
      auto& four = reinterpret_cast<sockaddr_in&>(listener.address);
      four.sin_family = AF_INET;
      four.sin_port = htons(wires.back()->listen_port());
      four.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
      listener.length = sizeof four;
      addresses.push_back(listener);
    }
    for (auto& wire : wires) {
      wire->set_addresses(addresses);
      auto opened = transport::Stripes::open(*wire, failures, {.streams = 4, .congestion = ""});
      if (!opened.ok()) ADD_FAILURE() << opened.error().message;
      stripes.push_back(std::move(*opened));
    }
  }
};

// sites[rank], nodes[rank]; round trips of 1 ms between sites.
std::vector<std::optional<LinkRates>> measured(
    const std::vector<std::int32_t>& at, const std::vector<std::int32_t>& nodes, std::size_t count,
    const LinkTable& known = {}, const HaveStripes& have_stripes = [](auto, auto) { return true; }) {
  Sites sites;
  sites.count = count;
  sites.of = at;
  sites.round_trip_us.assign(count * count, 1000);
  Ranks ranks(static_cast<std::int32_t>(at.size()));
  std::vector<std::optional<LinkRates>> found(at.size());
  simulated::Meeting(at.size()).run([&](Bootstrap& all) {
    found[all.rank()] = measure_links(all, *ranks.stripes[all.rank()], sites, nodes, have_stripes, known, kProbe);
  });
  return found;
}

void expect_alike(const std::vector<std::optional<LinkRates>>& found, const std::vector<std::uint32_t>& nodes) {
  for (const auto& rates : found) {
    ASSERT_TRUE(rates.has_value());
    EXPECT_EQ(rates->nodes, nodes);
    for (std::size_t at = 0; at < rates->of.size(); ++at) {
      const auto& facts = rates->of[at];
      ASSERT_EQ(facts.has_value(), at % (nodes.size() + 1) != 0);
      if (!facts) continue;
      EXPECT_EQ(facts->delay, 0.0005);
      EXPECT_GT(facts->stream, 0);
      EXPECT_GE(facts->pair, facts->stream);
      EXPECT_GE(facts->link, facts->pair);
      EXPECT_EQ(facts->stream, found[0]->of[at]->stream);
      EXPECT_EQ(facts->link, found[0]->of[at]->link);
    }
  }
}

// Ranks 0 1 | 2 3 4, of which 3 and 4 share a node.
TEST(LinkRates, AreTheSameOnRanksThatMeasureAndOnOthers) {
  expect_alike(measured({0, 0, 1, 1, 1}, {0, 1, 2, 3, 3}, 2), {2, 2});
}

// One node against three: one pair measures.
TEST(LinkRates, OfSitesOfUnequalSizes) { expect_alike(measured({0, 1, 1, 1}, {0, 1, 2, 3}, 2), {1, 3}); }

TEST(LinkRates, OfThreeSitesThreeLinks) { expect_alike(measured({0, 1, 2}, {0, 1, 2}, 3), {1, 1, 1}); }

// Rank 2 of site 1 has stripes to nobody, and site 2 none at all: the one link is measured by ranks 1 and 3.
TEST(LinkRates, WhoHasNoLanesIsNotAsked) {
  const auto have_stripes = [](std::int32_t one, std::int32_t other) {
    return std::min(one, other) == 1 && std::max(one, other) == 3;
  };
  for (const auto& rates : measured({0, 0, 1, 1, 2}, {0, 1, 2, 3, 4}, 3, {}, have_stripes)) {
    ASSERT_TRUE(rates.has_value());
    EXPECT_GT(rates->of[1]->stream, 0);
    EXPECT_EQ(rates->of[1]->inside, 0);
    EXPECT_FALSE(rates->of[2].has_value());
    EXPECT_FALSE(rates->of[5].has_value());
  }
  for (const auto& rates : measured({0, 1}, {0, 1}, 2, {}, [](auto, auto) { return false; }))
    EXPECT_FALSE(rates.has_value());
}

// Sites 0 and 2 are known, and slow: 5 bytes/s. The other two pairs are measured, and nobody is asked about that one.
TEST(LinkRates, WhatIsKnownIsNotMeasured) {
  LinkTable known(9);
  known[2] = known[6] = LinkFacts{.delay = 1, .stream = 5, .pair = 5, .link = 5, .inside = 7};
  const auto found = measured({0, 0, 1, 2}, {0, 1, 2, 3}, 3, known);
  for (const auto& rates : found) {
    ASSERT_TRUE(rates.has_value());
    EXPECT_EQ(rates->of[2]->stream, 5);
    EXPECT_EQ(rates->of[6]->inside, 7);
    EXPECT_GT(rates->of[1]->stream, 5);
    EXPECT_EQ(rates->of[1]->link, rates->of[3]->link);
    EXPECT_EQ(rates->of[1]->inside, rates->of[5]->inside + rates->of[1]->inside);  // only site 0 has two nodes
    EXPECT_FALSE(rates->of[0].has_value());
  }
}

TEST(LinkRates, NothingIsMeasuredWhereAllIsKnown) {
  LinkTable known(4);
  known[1] = known[2] = LinkFacts{.delay = 1, .stream = 2, .pair = 3, .link = 4};
  for (const auto& rates : measured({0, 1}, {0, 1}, 2, known)) {
    ASSERT_TRUE(rates.has_value());
    EXPECT_EQ(rates->of[1]->link, 4);
  }
}

TEST(LinkRates, RatesThatShouldGrowAreBroughtInOrder) {
  LinkFacts facts{.stream = 3, .pair = 12, .link = 10};
  put_in_order(facts);
  EXPECT_EQ(facts.pair, 11);
  EXPECT_EQ(facts.link, 11);
  facts = {.stream = 4, .pair = 2, .link = 2};
  put_in_order(facts);
  EXPECT_EQ(facts.stream, 3);
  EXPECT_EQ(facts.pair, 3);
  EXPECT_EQ(facts.link, 3);
  facts = {.stream = 1, .pair = 2, .link = 4};
  put_in_order(facts);
  EXPECT_EQ(facts.pair, 2);
}

// Of 16 ms three turns of ten round trips and what else there is to each, and twice as long is counted where there is
// one link; of 100 ms two turns of seven are what some two seconds have room for; of a second only one link is
// measured, in what time there is.
TEST(LinkRates, TakeNoLongerThanTheyMay) {
  const LinkProbe probe;
  const auto one = plan_of(0.016, {.links = 1, .seconds = probe.most_s, .first = true}, probe);
  ASSERT_TRUE(one.has_value());
  EXPECT_NEAR(one->settling_s, 6 * 0.016, 1e-9);
  EXPECT_NEAR(one->counted_s, 0.14, 1e-9);
  EXPECT_NEAR(one->seconds, 3 * (0.096 + 1.5 * 0.14 + 0.048), 1e-9);
  const auto near = plan_of(0.016, {.links = 2, .seconds = probe.most_s, .first = true}, probe);
  ASSERT_TRUE(near.has_value());
  EXPECT_EQ(near->turns, 3U);
  EXPECT_NEAR(near->settling_s, 6 * 0.016, 1e-9);
  EXPECT_NEAR(near->counted_s, 0.07, 1e-9);
  EXPECT_NEAR(near->seconds, 3 * (0.096 + 1.5 * 0.07 + 0.048), 1e-9);
  const auto far = plan_of(0.1, {.links = 1, .seconds = 2.3, .first = false}, probe);
  ASSERT_TRUE(far.has_value());
  EXPECT_EQ(far->turns, 2U);
  EXPECT_NEAR(far->seconds, 2 * 11 * 0.1, 1e-9);
  EXPECT_FALSE(plan_of(0.1, {.links = 1, .seconds = 1.9, .first = false}, probe).has_value());
  const auto first = plan_of(1, {.links = 1, .seconds = probe.most_s, .first = true}, probe);
  ASSERT_TRUE(first.has_value());
  EXPECT_NEAR(first->seconds, 2, 1e-9);
  EXPECT_NEAR(first->settling_s, 5 * 2 / 22.0, 1e-9);
}

// Three links, and time for one: the others are not known.
TEST(LinkRates, WhatThereIsNoTimeForIsLeftToTheNextJob) {
  Sites sites;
  sites.count = 3;
  sites.of = {0, 1, 2};
  sites.round_trip_us.assign(9, 1000);
  Ranks ranks(3);
  simulated::Meeting(3).run([&](Bootstrap& all) {
    const auto found =
        measure_links(all, *ranks.stripes[all.rank()], sites, std::vector<std::int32_t>{0, 1, 2},
                      [](auto, auto) { return true; }, {}, {.least_s = 1e-6, .most_bytes = 1UL << 20U, .most_s = 0.02});
    ASSERT_TRUE(found.has_value());
    EXPECT_TRUE(found->of[1].has_value());
    EXPECT_FALSE(found->of[2].has_value());
    EXPECT_FALSE(found->of[5].has_value());
  });
}

TEST(LinkRates, OfOneSiteThereAreNone) {
  for (const auto& rates : measured({0, 0}, {0, 1}, 1)) EXPECT_FALSE(rates.has_value());
}

}  // namespace
}  // namespace urakata::job::link_rates_test
