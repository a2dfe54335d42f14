// SPDX-License-Identifier: BSD-3-Clause
#include "base/interfaces.hpp"

#include <gtest/gtest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <vector>

namespace urakata {
namespace {

// lo leads to no other node, so it is never among them, not even where it is asked for.
TEST(Interfaces, LeadToOtherNodes) {
  EXPECT_TRUE(interface_addresses("lo").empty());
  EXPECT_TRUE(interface_addresses("no such").empty());
  for (const InterfaceAddress& one : interface_addresses("")) {
    EXPECT_NE(one.interface, "lo");
    EXPECT_NE(if_nametoindex(one.interface.c_str()), 0U) << one.interface;
    EXPECT_TRUE(one.family == AF_INET || one.family == AF_INET6);
  }
}

TEST(Interfaces, AreNamedOnceEach) {
  const std::vector<InterfaceAddress> all = interface_addresses("");
  const std::vector<std::string> names = interface_names("");
  std::vector<std::string> sorted = names;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end());
  std::size_t together = 0;
  for (const std::string& name : names) {
    EXPECT_EQ(interface_names(name), std::vector<std::string>{name});
    together += interface_addresses(name).size();
  }
  EXPECT_EQ(together, all.size());
  if (!all.empty()) {
    EXPECT_EQ(names.front(), all.front().interface);
  }
}

// A name that was mistyped is told with those that may be meant.
TEST(Interfaces, SayWhyANameLeadsNowhere) {
  EXPECT_EQ(why_no_interface(""), "");
  EXPECT_TRUE(why_no_interface("none0").starts_with("there is no network interface none0"));
  EXPECT_TRUE(why_no_interface("lo").starts_with("interface lo leads to no other node"));
  for (const std::string& name : interface_names("")) {
    EXPECT_EQ(why_no_interface(name), "");
    EXPECT_NE(why_no_interface("none0").find(name), std::string::npos);
  }
}

}  // namespace
}  // namespace urakata
