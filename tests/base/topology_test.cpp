// SPDX-License-Identifier: BSD-3-Clause
// Two packages of two cores with two hardware threads each, as hwloc numbers them: "0,4/1,5|2,6/3,7".
#include "base/topology.hpp"

#include <gtest/gtest.h>

#include <span>
#include <string_view>

namespace urakata {
namespace {

CpuSet cpus(std::string_view text) { return *CpuSet::from_text(text); }

const Topology kNode = *Topology::from_text("0,4/1,5|2,6/3,7");

TEST(CpuSet, TextGoesBothWays) {
  for (const char* text : {"", "0", "0-3,8", "5,7,9-11", "0-4095"}) EXPECT_EQ(cpus(text).text(), text);
  for (const char* bad : {"x", "1-", "3-1", "1,", ",", "4096", "1;2"}) EXPECT_FALSE(CpuSet::from_text(bad)) << bad;
}

TEST(CpuSet, GoesThroughItsUsedWords) {
  for (const char* text : {"0", "63", "64", "3,70-130", "4095"}) {
    const CpuSet set = cpus(text);
    const std::span<const std::uint64_t> words(set.words());
    EXPECT_EQ(CpuSet::from_words(words.first(set.used_words())), set) << text;
  }
  EXPECT_EQ(CpuSet().used_words(), 0U);
  EXPECT_TRUE(CpuSet::from_words({}).empty());
  EXPECT_EQ(cpus("63").used_words(), 1U);
  EXPECT_EQ(cpus("64").used_words(), 2U);
}

TEST(CpuSet, AllowedIsWhatBindSet) {
  const CpuSet before = CpuSet::allowed();
  ASSERT_FALSE(before.empty());
  CpuSet one;
  one.add(before.first());
  ASSERT_TRUE(one.bind());
  EXPECT_EQ(CpuSet::allowed(), one);
  EXPECT_TRUE(before.bind());
}

TEST(Topology, TextGoesBothWays) {
  EXPECT_EQ(kNode.text(), "0,4/1,5|2,6/3,7");
  EXPECT_EQ(kNode.cpus(), cpus("0-7"));
  EXPECT_EQ(kNode.cores[2].node, 1U);
  EXPECT_FALSE(Topology::from_text("0/x"));
}

TEST(Topology, HardwareThreadsOfACoreAreOneCore) {
  EXPECT_EQ(kNode.within(cpus("0,4")).size(), 1U);
  EXPECT_EQ(kNode.within(cpus("0,5")).size(), 2U);
}

}  // namespace
}  // namespace urakata
