// SPDX-License-Identifier: BSD-3-Clause
// Rank 0's file says "left - right: 8 ms"; a round trip of 16.1 ms is that, one of 24 ms is not.
#include "job/known_rates.hpp"

#include <gtest/gtest.h>

#include "job/known_links.hpp"
#include "meeting.hpp"

namespace urakata::job::known_rates_test {
namespace {

constexpr LinkFacts kFacts{.delay = 0.008, .stream = 3e6, .pair = 12e6, .link = 48e6};

// Ranks 0 1 | 2 3 on the hosts a1 a1 | b1 b2.
Sites two_sites(std::uint32_t round_trip_us) {
  Sites sites;
  sites.count = 2;
  sites.of = {0, 0, 1, 1};
  sites.names = {"left", "right"};
  sites.round_trip_us = {100, round_trip_us, round_trip_us, 100};
  return sites;
}

KnownLinks file_of(const LinkFacts& facts) {
  return {.links = {{.one = {"b2"}, .other = {"a1"}, .facts = facts}}, .file = "links.toml"};
}

// values[rank]: the option there.
std::vector<KnownRates> known(const std::vector<std::string>& values, const Sites& sites) {
  const std::vector<std::string> hosts{"a1", "a1", "b1", "b2"};
  std::vector<KnownRates> found(values.size());
  simulated::Meeting(values.size()).run([&](Bootstrap& all) {
    Result<KnownRates> read = known_rates(all, sites, values[all.rank()], hosts[all.rank()]);
    ASSERT_TRUE(read.ok()) << read.error().message;
    found[all.rank()] = *read;
  });
  return found;
}

TEST(KnownRates, AllGoByWhatRank0HasRead) {
  LinkFacts others = kFacts;
  others.link = 1;
  const std::string own = handed_on(file_of(kFacts));
  for (const KnownRates& rates : known({own, "measure", "auto", handed_on(file_of(others))}, two_sites(16'100))) {
    EXPECT_EQ(rates.file, "links.toml");
    EXPECT_EQ(rates.hosts, (std::vector<std::vector<std::string>>{{"a1"}, {"b1", "b2"}}));
    ASSERT_TRUE(rates.of[1].has_value());
    EXPECT_EQ(rates.of[1]->link, kFacts.link);
    EXPECT_EQ(rates.of[2]->link, kFacts.link);
    EXPECT_FALSE(rates.of[0].has_value());
    EXPECT_TRUE(rates.changed.empty());
  }
  for (const KnownRates& rates : known({"auto", own, own, own}, two_sites(16'100))) {
    EXPECT_TRUE(rates.file.empty());
    EXPECT_FALSE(rates.of[1].has_value());
  }
}

TEST(KnownRates, AnotherRoundTripIsAnotherLink) {
  for (const KnownRates& rates : known(std::vector<std::string>(4, handed_on(file_of(kFacts))), two_sites(24'000))) {
    EXPECT_FALSE(rates.of[1].has_value());
    ASSERT_EQ(rates.changed.size(), 1U);
    EXPECT_EQ(
        rates.changed[0],
        "the round trip between the sites left and right is 24.0 ms, and not 16.0 as links.toml says: the link is "
        "measured anew");
  }
}

TEST(KnownRates, AValueThatNobodyHasReadIsTold) {
  const Sites sites = two_sites(16'000);
  simulated::Meeting(4).run([&](Bootstrap& all) {
    const Result<KnownRates> read = known_rates(all, sites, "links.toml", "a1");
    ASSERT_FALSE(read.ok());
    EXPECT_NE(read.error().message.find("LINK_RATES: not what urakata-exec hands on"), std::string::npos);
  });
}

TEST(KnownRates, WhatTheFileLacksIsAddedToIt) {
  const Sites sites = two_sites(16'000);
  KnownRates before{.file = "f", .of = LinkTable(4), .hosts = {{"a1"}, {"b1", "b2"}}, .changed = {}};
  LinkTable now(4);
  now[1] = now[2] = kFacts;
  const std::string text = new_entries(before, now, sites);
  EXPECT_TRUE(text.starts_with("\n[[link]]\none = [\"a1\"]\nother = [\"b1\", \"b2\"]\ndelay_ms = 8.000\n")) << text;
  before.of = now;
  EXPECT_EQ(new_entries(before, now, sites), "");
}

// Rank 0 sends to the right site, over 16 connections: 48 MB/s are known.
std::vector<Misjudged> judged(double seconds, std::uint64_t of_rank_1 = 0) {
  std::vector<Carried> carried(8);
  carried[1] = {.bytes_in_all = 40'000'000, .bytes = 16'000'000, .seconds = seconds, .connections = 16};
  carried[3] = {.bytes_in_all = of_rank_1, .bytes = 0, .seconds = 0, .connections = 0};
  LinkRates links{.of = LinkTable(4), .nodes = {2, 2}};
  links.of[1] = links.of[2] = LinkFacts{.delay = 0.008, .stream = 3e6, .pair = 48e6, .link = 48e6};
  return misjudged(carried, links, two_sites(16'000));
}

TEST(KnownRates, ALinkIsMisjudgedByMoreThanAThird) {
  EXPECT_TRUE(judged(0.36).empty());  // 0.016 and 16 MB at 48 MB/s: 0.35 s
  EXPECT_TRUE(judged(0.44).empty());
  const auto slower = judged(1.016);
  ASSERT_EQ(slower.size(), 1U);
  EXPECT_EQ(slower[0].one, 0U);
  EXPECT_EQ(slower[0].other, 1U);
  EXPECT_NEAR(slower[0].carried, 16e6, 1);
  EXPECT_NEAR(slower[0].known, 48e6, 1);
  EXPECT_EQ(judged(0.2).size(), 1U);
}

// While rank 1 sends as much, half of the link is rank 0's.
TEST(KnownRates, ALinkIsSharedByThoseThatSend) {
  EXPECT_TRUE(judged(0.8, 40'000'000).empty());
  EXPECT_EQ(judged(0.8).size(), 1U);
  EXPECT_EQ(judged(1.6, 40'000'000).size(), 1U);
}

TEST(KnownRates, OutdatedLinksAreNoted) {
  const KnownRates known{.file = "f", .of = {}, .hosts = {{"a1"}, {"b1"}}, .changed = {}};
  const std::vector<Misjudged> wrong{{.one = 1, .other = 0, .carried = 1, .known = 2}};
  const std::string text = outdated_entries(known, wrong);
  EXPECT_TRUE(text.starts_with("\n[[link]]\none = [\"b1\"]\nother = [\"a1\"]\noutdated = true\n")) << text;
}

}  // namespace
}  // namespace urakata::job::known_rates_test
