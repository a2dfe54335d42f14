// SPDX-License-Identifier: BSD-3-Clause
// Blocks of 4 bytes, 8 apart, on a device: the staging buffer has them at the same distances, and the bytes between
// them on the device stay as they are.
#include "device/staging_buffer.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <vector>

#include "device/runtime.hpp"
#include "false_library.hpp"
#include "layout/shape.hpp"
#include "layout/type_map.hpp"

namespace urakata::device {
namespace {

using layout::TypeMap;
using test::FalseLibrary;

struct Shaped final : layout::Layout {
  explicit Shaped(const TypeMap& map) : own(map) {
    size = map.size();
    extent = static_cast<std::uint64_t>(map.extent());
    true_lb = map.true_lb();
    true_extent = map.true_extent();
    contiguous = own.contiguous();
  }
  const layout::Shape* shape() const override { return known ? &own : nullptr; }
  void pack(const std::byte* /*base*/, std::uint64_t /*first*/, std::uint64_t /*count*/,
            std::byte* /*packed*/) const override {}
  void unpack(const std::byte* /*packed*/, std::byte* /*base*/, std::uint64_t /*first*/,
              std::uint64_t /*count*/) const override {}

  layout::Shape own;
  bool known = true;
};

constexpr std::size_t kBytes = 1 << 16;
constexpr int kOwner = 3;

// With each of the three drivers.
class StagingBufferTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    ASSERT_NE(library.library, nullptr) << dlerror();
    ASSERT_TRUE(find_drivers());
    library.use(9);
    at = static_cast<std::byte*>(library.make(kBytes, kOwner, 0));
    bytes.resize(kBytes);
    std::iota(bytes.begin(), bytes.end(), std::uint8_t{1});
    library.write(at, bytes.data(), kBytes);
  }
  void TearDown() override {
    EXPECT_EQ(library.used(), 9) << "what was current before has to be so again";
    EXPECT_EQ(library.wrong(), 0) << "a copy in another context than the memory's";
  }

  std::unique_ptr<StagingBuffer> staging_buffer_of(const Elements& elements, bool in, bool out) {
    auto made = StagingBuffer::of({{elements, in, out}});
    EXPECT_TRUE(made.ok()) << made.error().message;
    return std::move(*made);
  }
  std::vector<std::uint8_t> on_device() {
    std::vector<std::uint8_t> found(kBytes);
    library.read(found.data(), at, kBytes);
    return found;
  }
  std::byte* own_memory() { return reinterpret_cast<std::byte*>(own.data()); }

  FalseLibrary library{std::string(FALSE_LIBRARIES) + GetParam()};
  std::byte* at = nullptr;
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint8_t> own = std::vector<std::uint8_t>(kBytes);
};

TEST_P(StagingBufferTest, MemoryOfTheProcessorNeedsNone) {
  EXPECT_EQ(staging_buffer_of({nullptr, own_memory(), kBytes}, true, true), nullptr);
  EXPECT_EQ(staging_buffer_of({nullptr, nullptr, 0}, true, true), nullptr);
  auto* managed = static_cast<std::byte*>(library.make(kBytes, kOwner, 1));
  EXPECT_EQ(staging_buffer_of({nullptr, managed, kBytes}, true, true), nullptr)
      << "managed memory counts as the processor's";
}

TEST_P(StagingBufferTest, BytesGoThereAndBack) {
  const auto staged = staging_buffer_of({nullptr, at + 5, 100}, true, true);
  ASSERT_NE(staged, nullptr);
  ASSERT_TRUE(staged->fetch().ok());
  EXPECT_EQ(std::memcmp(staged->at(at + 5), bytes.data() + 5, 100), 0);
  std::memset(staged->at(at + 5), 77, 100);
  ASSERT_TRUE(staged->store().ok());
  std::memset(bytes.data() + 5, 77, 100);
  EXPECT_EQ(on_device(), bytes);
}

TEST_P(StagingBufferTest, HolesAreTheDevicesAndOnlyWhatWasReceivedIsWritten) {
  const std::vector<std::int64_t> lengths = {4, 1, 9};
  const std::vector<std::int64_t> places = {40, 0, 20};
  for (const TypeMap& map : {TypeMap::hvector(6, 4, 8, TypeMap::bytes(1)),   //
                             TypeMap::hvector(6, 4, -8, TypeMap::bytes(1)),  // backwards
                             TypeMap::hindexed(lengths, places, TypeMap::bytes(1))}) {
    const Shaped type(map);
    std::byte* const address = at + 8192;
    const auto staged = staging_buffer_of({&type, address, 50}, true, true);
    ASSERT_NE(staged, nullptr);
    ASSERT_TRUE(staged->fetch().ok());
    // Offsets of the elements' bytes, in payload order.
    std::vector<std::int64_t> order;
    for (std::int64_t element = 0; element < 50; ++element) {
      const std::int64_t base = element * map.extent();
      if (map.size() == 24) {
        const std::int64_t step = map.true_lb() < 0 ? -8 : 8;
        for (int block = 0; block < 6; ++block) {
          for (int i = 0; i < 4; ++i) order.push_back(base + block * step + i);
        }
      } else {
        for (std::size_t block = 0; block < 3; ++block) {
          for (int i = 0; i < lengths[block]; ++i) order.push_back(base + places[block] + i);
        }
      }
    }
    std::vector<std::uint8_t> expected = on_device();
    const std::size_t received = order.size() - 10;  // in the middle of an element
    for (std::size_t i = 0; i < order.size(); ++i) {
      std::byte* const byte = staged->at(address + order[i]);
      ASSERT_EQ(static_cast<std::uint8_t>(*byte), expected[static_cast<std::size_t>(8192 + order[i])]);
      *byte = std::byte{200};
      if (i < received) expected[static_cast<std::size_t>(8192 + order[i])] = 200;
    }
    library.write(at + 8192 + 5, "??", 2);  // the device writes into a hole meanwhile, or into what is stored
    expected = on_device();
    for (std::size_t i = 0; i < received; ++i) expected[static_cast<std::size_t>(8192 + order[i])] = 200;
    ASSERT_TRUE(staged->store(received).ok());
    EXPECT_EQ(on_device(), expected);
  }
}

TEST_P(StagingBufferTest, OneBufferMayLieHereAndThere) {
  const std::vector<std::int64_t> lengths = {8, 8};
  const std::vector<std::int64_t> places = {0, at - own_memory()};
  const Shaped type(TypeMap::hindexed(lengths, places, TypeMap::bytes(1)));
  const auto staged = staging_buffer_of({&type, own_memory(), 1}, true, true);
  ASSERT_NE(staged, nullptr);
  ASSERT_TRUE(staged->fetch().ok());
  EXPECT_EQ(std::memcmp(staged->at(at), bytes.data(), 8), 0);
  std::memset(staged->at(at), 5, 8);
  std::memset(staged->at(own_memory()), 6, 8);
  ASSERT_TRUE(staged->store().ok());
  EXPECT_EQ(on_device()[7], 5);
  EXPECT_EQ(own[7], 6);
  EXPECT_EQ(own[8], 0);
}

TEST_P(StagingBufferTest, AnAddressIsAskedForAnew) {
  ASSERT_NE(staging_buffer_of({nullptr, at, 8}, true, false), nullptr);
  library.free(at, 1);  // the same address is host memory now
  EXPECT_EQ(staging_buffer_of({nullptr, at, 8}, true, false), nullptr);
}

TEST_P(StagingBufferTest, ErrorsTellTheirStory) {
  Shaped type(TypeMap::hvector(6, 4, 8, TypeMap::bytes(1)));
  type.known = false;
  const auto closed = StagingBuffer::of({{{&type, at, 2}, true, false}});
  ASSERT_FALSE(closed.ok());
  EXPECT_NE(closed.error().message.find("datatype whose blocks"), std::string::npos) << closed.error().message;
  EXPECT_EQ(staging_buffer_of({&type, own_memory(), 2}, true, false), nullptr)
      << "in the processor's memory it is as ever";

  const auto staged = staging_buffer_of({nullptr, at, 100}, true, true);
  library.fail(1);
  const Status copied = staged->fetch();
  library.fail(0);
  ASSERT_FALSE(copied.ok());
  EXPECT_NE(copied.error().message.find("cannot read a buffer"), std::string::npos) << copied.error().message;
  EXPECT_TRUE(staged->fetch().ok()) << "and the next one works";
}

TEST_P(StagingBufferTest, BytesAreCounted) {
  const Traffic before = traffic();
  const auto staged = staging_buffer_of({nullptr, at, 100}, true, true);
  ASSERT_TRUE(staged->fetch().ok());
  ASSERT_TRUE(staged->store(30).ok());
  EXPECT_EQ(traffic().fetched - before.fetched, 100U);
  EXPECT_EQ(traffic().stored - before.stored, 30U);
}

INSTANTIATE_TEST_SUITE_P(Drivers, StagingBufferTest,
                         ::testing::Values("libcuda.so.1", "libamdhip64.so.6", "libze_loader.so.1"));

}  // namespace
}  // namespace urakata::device
