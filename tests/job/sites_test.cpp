// SPDX-License-Identifier: BSD-3-Clause
// Sites from round trips, and from a list.
#include "job/sites.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace urakata::job::sites_test {
namespace {

// One rank on each of the nodes; time(a, b): their round trip in us.
template <class Time>
Network network(std::size_t nodes, Time&& time) {
  Network made;
  made.nodes = nodes;
  for (std::size_t node = 0; node < nodes; ++node) made.node.push_back(static_cast<std::int32_t>(node));
  made.round_trip_us.resize(nodes * nodes);
  for (std::size_t a = 0; a < nodes; ++a) {
    for (std::size_t b = a + 1; b < nodes; ++b) {
      made.round_trip_us[a * nodes + b] = made.round_trip_us[b * nodes + a] = time(a, b);
    }
  }
  return made;
}

using Numbers = std::vector<std::int32_t>;

// Nodes 0 1 | 2 3, 16 ms apart and 80 us within.
TEST(FoundSites, AreToldApartByAGap) {
  const Sites found = found_sites(network(4, [](auto a, auto b) { return a / 2 == b / 2 ? 80U : 16000U; }));
  EXPECT_EQ(found.count, 2U);
  EXPECT_EQ(found.of, (Numbers{0, 0, 1, 1}));
  EXPECT_EQ(found.round_trip_us, (std::vector<std::uint32_t>{80, 16000, 16000, 80}));
}

// Three sites at unequal distances, nodes in turn, noise of up to a millisecond: 0 1 2 0 1 2.
TEST(FoundSites, MayBeAtUnequalDistances) {
  std::mt19937 random(1);
  const Sites found = found_sites(network(6, [&](std::size_t a, std::size_t b) {
    const std::size_t apart = a % 3 == b % 3 ? 0 : a % 3 + b % 3;
    return static_cast<std::uint32_t>((apart == 0   ? 60
                                       : apart == 1 ? 8000
                                       : apart == 2 ? 30000
                                                    : 40000) +
                                      random() % 900);
  }));
  EXPECT_EQ(found.of, (Numbers{0, 1, 2, 0, 1, 2}));
}

TEST(FoundSites, OneBusyNodeIsNone) {
  // 0 and 1 saw each other slowly, but 2 is near to both.
  EXPECT_EQ(found_sites(network(3, [](auto a, auto b) { return a + b == 1 ? 9000U : 70U; })).count, 1U);
  // A slow network without a gap.
  EXPECT_EQ(found_sites(network(5, [](auto a, auto b) { return static_cast<std::uint32_t>(200 * (a + b)); })).count,
            1U);
  EXPECT_EQ(found_sites(network(2, [](auto, auto) { return 900U; })).count, 1U);
  EXPECT_EQ(found_sites(network(2, [](auto, auto) { return 2000U; })).count, 2U);
  EXPECT_EQ(found_sites(network(2, [](auto, auto) { return 0U; })).count, 1U);  // not measured
}

// Node 2 reaches nodes 0 and 3, of which node 0 is at another site.
TEST(OneWayLink, IsNamedWhereItIsBetweenSites) {
  Network found = network(4, [](auto a, auto b) { return a / 2 == b / 2 ? 80U : 16000U; });
  const Sites sites = found_sites(found);
  EXPECT_EQ(one_way_link(sites, found), "");
  found.one_way.assign(16, false);
  found.one_way[2 * 4 + 3] = true;
  EXPECT_EQ(one_way_link(sites, found), "");
  found.one_way[2 * 4 + 0] = true;
  EXPECT_EQ(one_way_link(sites, found),
            "the link between the sites 1 and 0 comes up one way only: TCP connections from the node of rank 2 to that "
            "of rank 0 do, those the other way do not (a firewall?)");
  EXPECT_EQ(one_way_link(Sites(), found), "");
  // Others are joined: a probe was lost.
  found.joined.assign(16, false);
  found.joined[1 * 4 + 3] = found.joined[3 * 4 + 1] = true;
  EXPECT_EQ(one_way_link(sites, found), "");
}

Result<Sites> given(const std::string& list, const std::vector<std::string>& hosts) {
  const auto read = read_site_list(list, *site_list_text(list));
  if (!read.ok()) return read.error();
  return given_sites(*read, hosts, network(hosts.size(), [](auto, auto) { return 100U; }));
}

TEST(GivenSites, ByNamesAndPatterns) {
  const auto sites = given("left: a1 a2.lan; right:b[1-9]", {"b1", "a2", "a1", "b2.far"});
  // `a2.lan` is no name of `a2`.
  EXPECT_FALSE(sites.ok());
  const auto good = given("left: a1 a2; right:b[1-9]", {"b1", "a2.lan", "a1", "b2.far"});
  ASSERT_TRUE(good.ok()) << good.error().message;
  EXPECT_EQ(good->of, (Numbers{0, 1, 1, 0}));
  EXPECT_EQ(good->names, (std::vector<std::string>{"right", "left"}));
}

TEST(GivenSites, WhatIsWrongIsTold) {
  const auto wrong = [](const std::string& list) {
    const auto sites = given(list, {"a", "b"});
    return sites.ok() ? std::string() : sites.error().message;
  };
  EXPECT_EQ(wrong("x: a; y: c b"), "SITES, site 2: no host of the job is called c; its hosts are a, b");
  EXPECT_EQ(wrong("x: a; y: *"), "SITES, site 2: host a is also at site x (SITES, site 1); a host is at one site");
  EXPECT_EQ(wrong("x: a"), "SITES, site 1: host b of the job is at none of the sites; add it to one");
  EXPECT_EQ(wrong("x: a; y: a b"), "SITES, site 2: host a is at site x already (SITES, site 1); a host is at one site");
  EXPECT_EQ(wrong("x: a; x: b"), "SITES, site 2: site x is there already (SITES, site 1); give each its own name");
  EXPECT_EQ(wrong("x:"), "SITES, site 1: site x has no hosts; write NAME: HOST HOST...");
  EXPECT_EQ(wrong("x: a; b"), "SITES, site 2: no colon; write a site as NAME: HOST HOST...");
  EXPECT_EQ(wrong(" ;:"), "SITES, site 2: a site has one word as its name before the colon; write NAME: HOST HOST...");
}

// Of one host alone it shows only where that is.
TEST(GivenSites, OneHostOfAJobThatIsNotKnown) {
  const std::string text = "x: a*; y: b ab";
  const auto list = read_site_list(text, *site_list_text(text));
  ASSERT_TRUE(list.ok());
  EXPECT_EQ(*site_of_host(*list, "b.lan"), 1U);
  EXPECT_EQ(site_of_host(*list, "c").error().message,
            "SITES, site 2: host c of the job is at none of the sites; add it to one");
  EXPECT_EQ(site_of_host(*list, "ab").error().message,
            "SITES, site 2: host ab is also at site x (SITES, site 1); a host is at one site");
}

}  // namespace
}  // namespace urakata::job::sites_test
