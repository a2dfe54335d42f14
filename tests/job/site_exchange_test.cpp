// SPDX-License-Identifier: BSD-3-Clause
#include "job/site_exchange.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "meeting.hpp"

namespace urakata::job::site_exchange_test {
namespace {

// Ranks 0 1 on node 0, rank 2 on node 1; 16 ms apart.
Network network() {
  Network made;
  made.nodes = 2;
  made.node = {0, 0, 1};
  made.round_trip_us = {0, 16000, 16000, 0};
  return made;
}

const std::vector<std::string> kHosts = {"near", "near", "far"};

// What each rank comes to with the wish that is its own.
std::vector<Result<Sites>> settled(const std::vector<std::string>& wishes) {
  std::vector<Result<Sites>> found(wishes.size(), Result<Sites>(Error{"not asked"}));
  simulated::Meeting(wishes.size()).run([&](Bootstrap& all) {
    found[all.rank()] = settle_sites(all, network(), wishes[all.rank()], kHosts[all.rank()]);
  });
  return found;
}

TEST(SiteExchange, OneSiteIfSoWished) {
  for (const auto& sites : settled({"one", "one", "one"})) {
    ASSERT_TRUE(sites.ok());
    EXPECT_EQ(sites->count, 1U);
    EXPECT_EQ(sites->why, "SITES=one");
  }
}

TEST(SiteExchange, ByRoundTrips) {
  for (const auto& sites : settled({"auto", "auto", "auto"})) {
    ASSERT_TRUE(sites.ok());
    EXPECT_EQ(sites->of, (std::vector<std::int32_t>{0, 0, 1}));
  }
}

// Each host's name comes from its own ranks.
TEST(SiteExchange, ByAListInTheOption) {
  const std::string list = "left: near; right: far";
  for (const auto& sites : settled({list, list, list})) {
    ASSERT_TRUE(sites.ok()) << sites.error().message;
    EXPECT_EQ(sites->names, (std::vector<std::string>{"left", "right"}));
    EXPECT_EQ(sites->of, (std::vector<std::int32_t>{0, 0, 1}));
  }
}

// The other ranks name a file that is not there.
TEST(SiteExchange, OnlyRank0ReadsTheFile) {
  const std::string file = testing::TempDir() + "sites-" + std::to_string(getpid());
  std::ofstream(file) << "left: near\nright: far\n";
  for (const auto& sites : settled({file, "/nowhere/at/all", "/nowhere/at/all"})) {
    ASSERT_TRUE(sites.ok()) << sites.error().message;
    EXPECT_EQ(sites->names, (std::vector<std::string>{"left", "right"}));
  }
  std::remove(file.c_str());
}

TEST(SiteExchange, AnErrorIsOnEveryRank) {
  const auto missing = settled({"/nowhere/at/all", "/nowhere/at/all", "/nowhere/at/all"});
  const std::string half = "left: near";
  const auto incomplete = settled({half, half, half});
  for (const auto* found : {&missing, &incomplete}) {
    for (const auto& sites : *found) {
      ASSERT_FALSE(sites.ok());
      EXPECT_EQ(sites.error().message, (*found)[0].error().message);
    }
  }
  EXPECT_NE(missing[0].error().message.find("/nowhere/at/all"), std::string::npos);
  EXPECT_NE(incomplete[0].error().message.find("far of the job is at none of the sites"), std::string::npos);
}

}  // namespace
}  // namespace urakata::job::site_exchange_test
