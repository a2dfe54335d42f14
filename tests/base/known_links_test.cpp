// links.toml knows "a1 a2 - b1": the job's hosts a2 and b1 are at these sites, a3 and b1 are not.
#include "base/known_links.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace urakata {
namespace {

KnownLink between(std::vector<std::string> one, std::vector<std::string> other, double link) {
  return {.one = std::move(one),
          .other = std::move(other),
          .facts = {.delay = 0.008, .stream = 3e6, .pair = 12e6, .link = link, .inside = 1e8, .loss = 0.001}};
}

TEST(KnownLinks, AHostStandsForItsSite) {
  const KnownLinks known{.links = {between({"a1", "a2"}, {"b1"}, 1), between({"c*"}, {"b1"}, 2)}, .file = "f"};
  EXPECT_EQ(known.between({"a2", "a9"}, {"b1"}), &known.links[0]);
  EXPECT_EQ(known.between({"b1"}, {"a1"}), &known.links[0]);
  EXPECT_EQ(known.between({"b1"}, {"c77.site"}), &known.links[1]);
  EXPECT_EQ(known.between({"a3"}, {"b1"}), nullptr);
  EXPECT_EQ(known.between({"a1"}, {"a2"}), nullptr);
}

TEST(KnownLinks, TheLastEntryCounts) {
  KnownLinks known{.links = {between({"a"}, {"b"}, 1), between({"b"}, {"a"}, 2)}, .file = ""};
  EXPECT_EQ(known.between({"a"}, {"b"})->facts.link, 2);
  known.links.push_back({.one = {"a"}, .other = {"b"}, .facts = {}, .outdated = true});
  EXPECT_EQ(known.between({"a"}, {"b"}), nullptr);
  known.links.push_back(between({"a"}, {"b"}, 3));
  EXPECT_EQ(known.between({"a"}, {"b"})->facts.link, 3);
}

TEST(KnownLinks, WhatIsHandedOnIsReadAgain) {
  KnownLinks known{.links = {between({"a1", "a2"}, {"b*"}, 48.25e6)}, .file = "/a folder;with@all/links.toml"};
  known.links.push_back({.one = {"a"}, .other = {"b"}, .facts = {}, .outdated = true});
  const Result<KnownLinks> read = read_known_links(handed_on(known));
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->file, known.file);
  ASSERT_EQ(read->links.size(), 2U);
  EXPECT_EQ(read->links[0].one, known.links[0].one);
  EXPECT_EQ(read->links[0].other, known.links[0].other);
  EXPECT_EQ(read->links[0].facts.link, 48.25e6);
  EXPECT_EQ(read->links[0].facts.loss, 0.001);
  EXPECT_FALSE(read->links[0].outdated);
  EXPECT_TRUE(read->links[1].outdated);
  EXPECT_TRUE(read_known_links(handed_on({.links = {}, .file = "f"}))->links.empty());
}

TEST(KnownLinks, WhatNobodyHasHandedOnIsRefused) {
  for (const char* text : {"", "links.toml", "links:", "links:a|b|1|2|3;@f", "links:a|b|1|2|3|4|5|6|2;@f",
                           "links:a|b|1|x|3|4|5|6|0;@f", "links:a||1|2|3|4|5|6|0;@f"}) {
    EXPECT_FALSE(read_known_links(text).ok()) << text;
  }
}

TEST(KnownLinks, EntriesAreAppended) {
  const std::string file = "known_links_test-" + std::to_string(getpid()) + ".toml";
  ASSERT_TRUE(append_entries(file, entry(between({"a1", "a2"}, {"b1"}, 48e6), "2026-01-31")).ok());
  const KnownLink outdated{.one = {"a1"}, .other = {"b1"}, .facts = {}, .outdated = true};
  ASSERT_TRUE(append_entries(file, entry(outdated, "2026-02-01")).ok());
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  std::filesystem::remove(file);
  EXPECT_EQ(text.str(), R"(
[[link]]
one = ["a1", "a2"]
other = ["b1"]
delay_ms = 8.000
stream_mbit = 24.000
pair_mbit = 96.000
link_mbit = 384.000
inside_mbit = 800.000
loss_percent = 0.100
date = "2026-01-31"

[[link]]
one = ["a1"]
other = ["b1"]
outdated = true
date = "2026-02-01"
)");
  const Status refused = append_entries("/no/such/folder/links.toml", "x");
  EXPECT_EQ(refused.error().message, "/no/such/folder/links.toml: No such file or directory");
}

}  // namespace
}  // namespace urakata
