// SPDX-License-Identifier: BSD-3-Clause
// Arguments "a", "bc", environment "X=1": at the stack pointer stand 2, two pointers, 0, one pointer, 0, and the
// auxiliary vector with the given pairs, fresh random bytes and the file's name.
#include "space/start_stack.hpp"

#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>

namespace urakata::space {
namespace {

std::string text_at(std::uint64_t address) { return reinterpret_cast<const char*>(address); }

class Stack : public ::testing::Test {
 protected:
  alignas(16) std::array<std::byte, 8192> memory{};
  std::vector<std::string> arguments = {"a", "bc"};
  std::vector<std::string> environment = {"X=1"};
  std::vector<Auxiliary> auxiliary = {{AT_PAGESZ, 4096}, {AT_RANDOM, 1}, {AT_EXECFN, 2}, {AT_ENTRY, 77}};
};

TEST_F(Stack, HoldsWhatTheAbiSays) {
  StackContents contents{arguments, environment, "./file", {}, auxiliary};
  for (std::size_t i = 0; i < contents.random.size(); ++i) contents.random[i] = static_cast<std::byte>(i + 1);
  const auto pointer = write_stack(memory, contents);
  ASSERT_TRUE(pointer);
  EXPECT_EQ(reinterpret_cast<std::uint64_t>(*pointer) % 16, 0U);
  const auto* word = reinterpret_cast<const std::uint64_t*>(*pointer);
  ASSERT_EQ(word[0], 2U);
  EXPECT_EQ(text_at(word[1]), "a");
  EXPECT_EQ(text_at(word[2]), "bc");
  EXPECT_EQ(word[2], word[1] + 2) << "programs that change their title need the texts side by side";
  EXPECT_EQ(word[3], 0U);
  EXPECT_EQ(text_at(word[4]), "X=1");
  EXPECT_EQ(word[5], 0U);
  std::map<std::uint64_t, std::uint64_t> vector;
  for (word += 6; word[0] != AT_NULL; word += 2) {
    EXPECT_TRUE(vector.emplace(word[0], word[1]).second) << "twice: " << word[0];
  }
  EXPECT_EQ(vector.size(), 4U);
  EXPECT_EQ(vector[AT_PAGESZ], 4096U);
  EXPECT_EQ(vector[AT_ENTRY], 77U);
  EXPECT_EQ(text_at(vector[AT_EXECFN]), "./file");
  EXPECT_EQ(std::memcmp(reinterpret_cast<const void*>(vector[AT_RANDOM]), contents.random.data(), 16), 0);
  const auto* const end = reinterpret_cast<const std::byte*>(word + 2);
  EXPECT_LE(end, memory.data() + memory.size());
}

TEST_F(Stack, IsAlignedForEveryNumberOfArguments) {
  for (std::size_t count = 0; count < 20; ++count) {
    arguments.assign(count, std::string(count, 'x'));
    const auto pointer = write_stack(memory, {arguments, environment, "f", {}, auxiliary});
    ASSERT_TRUE(pointer);
    EXPECT_EQ(reinterpret_cast<std::uint64_t>(*pointer) % 16, 0U);
  }
}

TEST_F(Stack, RefusesWhatWouldFillIt) {
  arguments.emplace_back(5000, 'x');
  EXPECT_FALSE(write_stack(memory, {arguments, environment, "f", {}, auxiliary}));
}

TEST(OwnAuxiliary, HasThePageSize) {
  const std::vector<Auxiliary> all = own_auxiliary();
  const auto page = std::ranges::find(all, static_cast<std::uint64_t>(AT_PAGESZ), &Auxiliary::kind);
  ASSERT_NE(page, all.end());
  EXPECT_GE(page->value, 4096U);
}

}  // namespace
}  // namespace urakata::space
