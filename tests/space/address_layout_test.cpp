// SPDX-License-Identifier: BSD-3-Clause
// Which addresses the kernel leaves free, in layouts as Linux makes them (addresses in GiB; 1024 GiB are 1 TiB).
#include "space/address_layout.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>

namespace urakata::space {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30U;
constexpr std::uint64_t kTiB = 1024 * kGiB;
constexpr std::uint64_t kProgram = 87381 * kGiB;  // two thirds of 128 TiB
constexpr std::uint64_t kStack = 128 * kTiB - kGiB;

bool overlap(AddressRange one, AddressRange other) { return one.begin < other.end && other.begin < one.end; }

AddressLayout with_libraries(std::uint64_t begin, bool upward) {
  AddressLayout layout;
  layout.mapped = {{begin, begin + kGiB}, {kProgram, kProgram + kGiB}, {kStack, kStack + kGiB / 2}};
  std::ranges::sort(layout.mapped, {}, &AddressRange::begin);
  layout.next = upward ? begin + kGiB : begin - 4 * kGiB;
  layout.upward = upward;
  return layout;
}

// `kernel`: addresses that it places mappings at by and by.
void expect_free(const AddressLayout& layout, AddressRange kernel, std::uint64_t at_least) {
  const AddressRange free = range_left_free(layout);
  EXPECT_GE(free.end - free.begin, at_least) << free.begin / kGiB << " to " << free.end / kGiB;
  EXPECT_FALSE(overlap(free, kernel)) << free.begin / kGiB << " to " << free.end / kGiB;
  EXPECT_GE(free.begin, 16 * kTiB);
  for (const AddressRange& one : layout.mapped) EXPECT_FALSE(overlap(free, one));
}

TEST(AddressLayout, BelowTheProgramWhereLibrariesAreBelowTheStack) {
  expect_free(with_libraries(127 * kTiB, false), {111 * kTiB, 127 * kTiB}, 69 * kTiB);
}

// ulimit -s unlimited: a sixth of all addresses, and downwards.
TEST(AddressLayout, AboveLibrariesWhereTheStackIsUnlimited) {
  expect_free(with_libraries(21 * kTiB, false), {0, 21 * kTiB}, 63 * kTiB);
}

// setarch --addr-compat-layout: a third of all addresses, and upwards.
TEST(AddressLayout, AboveTheProgramWhereLibrariesGrowUpwards) {
  expect_free(with_libraries(43 * kTiB, true), {43 * kTiB, 59 * kTiB}, 41 * kTiB);
}

// A stack of up to 41 TiB: the kernel has 1.6 TiB above the program, and goes on below it.
TEST(AddressLayout, BelowWhatTheKernelTakesOnBothSidesOfTheProgram) {
  expect_free(with_libraries(87 * kTiB, false), {kProgram - 14 * kTiB, 87 * kTiB}, 54 * kTiB);
}

TEST(AddressLayout, OfASmallAddressSpaceIsSmall) {
  AddressLayout layout;  // 39 bits
  layout.mapped = {{340 * kGiB, 341 * kGiB}, {500 * kGiB, 501 * kGiB}, {511 * kGiB, 512 * kGiB}};
  layout.next = 495 * kGiB;
  const AddressRange free = range_left_free(layout);
  EXPECT_GE(free.begin, 64 * kGiB);
  EXPECT_LE(free.end, 340 * kGiB);
  EXPECT_GT(free.end, free.begin);
}

TEST(AddressLayout, OfThisProcessIsWhereTheKernelMaps) {
  const Result<AddressLayout> layout = own_address_layout();
  ASSERT_TRUE(layout) << layout.error().message;
  void* const mapped = mmap(nullptr, 8 * kGiB, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(mapped, MAP_FAILED);
  munmap(mapped, 8 * kGiB);
  const auto begin = reinterpret_cast<std::uint64_t>(mapped);
  const AddressRange free = range_left_free(*layout);
  EXPECT_GT(free.end, free.begin);
  EXPECT_FALSE(overlap(free, {begin, begin + 8 * kGiB}));
}

}  // namespace
}  // namespace urakata::space
