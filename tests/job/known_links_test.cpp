// SPDX-License-Identifier: BSD-3-Clause
// links.toml knows "a1 a2 - b1": the job's hosts a2 and b1 are at these sites, a3 and b1 are not.
#include "job/known_links.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <thread>
#include <vector>

namespace urakata::job::known_links_test {
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
  const Status refused = append_entries("/dev/null/links.toml", "x");
  EXPECT_EQ(refused.error().message, "/dev/null/links.toml: Not a directory");
}

// A folder of the test's own, gone with it.
struct Folder {
  std::filesystem::path path = "known_links_test-" + std::to_string(getpid());
  Folder() { std::filesystem::create_directory(path); }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string in(const char* name) const { return (path / name).string(); }
};

std::string content(const std::string& file) {
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  return text.str();
}

// Eight threads append ten lines each, while one reads: it never finds half a line, and in the end all are there.
TEST(KnownLinks, WhoeverReadsFindsNothingHalf) {
  const Folder folder;
  const std::string file = folder.in("new/links.toml");
  constexpr std::size_t kLine = 2000;
  ASSERT_TRUE(append_entries(file, "").ok());
  std::atomic<int> running{8};
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 8; ++writer) {
    writers.emplace_back([&, writer] {
      const std::string line = std::string(kLine - 1, static_cast<char>('a' + writer)) + "\n";
      for (int i = 0; i < 10; ++i) EXPECT_TRUE(append_entries(file, line).ok());
      --running;
    });
  }
  while (running != 0) {
    const std::string text = content(file);
    ASSERT_EQ(text.size() % kLine, 0U);
    for (std::size_t at = 0; at < text.size(); at += kLine) {
      ASSERT_EQ(text.substr(at, kLine - 1), std::string(kLine - 1, text[at]));
    }
  }
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(content(file).size(), 80 * kLine);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder.in("new")), {}), 1);  // nothing is left beside it
}

TEST(KnownLinks, ALinkToAFileStaysOne) {
  const Folder folder;
  const std::string real = folder.in("real.toml"), link = folder.in("links.toml");
  ASSERT_TRUE(append_entries(real, "# mine\n").ok());
  std::filesystem::permissions(real, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  std::filesystem::create_symlink("real.toml", link);
  ASSERT_TRUE(append_entries(link, "# more\n").ok());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(content(real), "# mine\n# more\n");
  EXPECT_EQ(std::filesystem::status(real).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST(KnownLinks, OfALargeFileTheOldestTablesGo) {
  const Folder folder;
  const std::string file = folder.in("links.toml");
  ASSERT_TRUE(append_entries(file, "# head\n").ok());
  const std::string filling = "# " + std::string(kMostOfFile / 4, '-') + "\n";
  for (const char* host : {"a", "b", "c", "d", "e"}) {
    ASSERT_TRUE(append_entries(file, entry(between({host}, {"z"}, 48e6), "2026-01-31") + filling).ok());
  }
  const std::string text = content(file);
  EXPECT_LE(text.size(), kMostOfFile);
  EXPECT_TRUE(text.starts_with("# head\n\n[[link]]\none = [\"c\"]"));
  EXPECT_NE(text.find("one = [\"e\"]"), std::string::npos);
}

TEST(KnownLinks, OnlyTheUsersOwnFileIsTrusted) {
  const Folder folder;
  const std::string file = folder.in("links.toml");
  ASSERT_TRUE(append_entries(file, "").ok());
  EXPECT_TRUE(trusted(file).ok());
  std::filesystem::permissions(file, std::filesystem::perms::others_write, std::filesystem::perm_options::add);
  EXPECT_EQ(trusted(file).error().message, file + " may be written by anyone");
  EXPECT_EQ(trusted(folder.path.string()).error().message, folder.path.string() + " is no file");
  EXPECT_FALSE(trusted(folder.in("nowhere")).ok());
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file to another user";
  std::filesystem::permissions(file, std::filesystem::perms::others_write, std::filesystem::perm_options::remove);
  ASSERT_EQ(chown(file.c_str(), 12345, 12345), 0);
  EXPECT_EQ(trusted(file).error().message, file + " is another user's");
}

}  // namespace
}  // namespace urakata::job::known_links_test
