// SPDX-License-Identifier: BSD-3-Clause
#include "observe/call_events.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

namespace urakata::observe {
namespace {

class CallEventsFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string wish = testing::TempDir() + "events-XXXXXX";
    ASSERT_NE(mkdtemp(wish.data()), nullptr);
    folder_ = wish;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string bytes() const {
    std::ifstream file(folder_ + "/events-3.bin", std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  template <class T>
  static T at(const std::string& data, std::size_t offset) {
    T value;
    std::memcpy(&value, data.data() + offset, sizeof value);
    return value;
  }
  static constexpr std::size_t kHead = 40, kEntry = 40;

  std::string folder_;
};

TEST_F(CallEventsFile, IsThereAtOnceAndHasWhatWasAdded) {
  const auto events = CallEvents::create(folder_, 3, 5);
  ASSERT_TRUE(events.ok()) << events.error().message;
  (*events)->add({.begin = 10, .end = 30, .record = 7});
  (*events)->add({.begin = 20,
                  .end = 4096,
                  .record = 8,
                  .communicator = 0xfedcba98,
                  .number = 2,
                  .peer = 4,
                  .tag = -5,
                  .kind = CallEventKind::receive});
  const std::string data = bytes();
  ASSERT_EQ(data.size(), kHead + CallEvents::kMost * kEntry);
  EXPECT_EQ(data.substr(0, 8), "URAEVENT");
  EXPECT_EQ(at<std::uint32_t>(data, 12), 3U);
  EXPECT_EQ(at<std::uint32_t>(data, 16), 5U);
  EXPECT_EQ(at<std::uint64_t>(data, 32), 2U);
  EXPECT_EQ(at<std::uint64_t>(data, kHead), 10U);
  EXPECT_EQ(at<std::uint64_t>(data, kHead + 8), 30U);
  EXPECT_EQ(at<std::uint32_t>(data, kHead + 16), 7U);
  EXPECT_EQ(at<std::uint8_t>(data, kHead + 38), 0U);
  const std::size_t second = kHead + kEntry;
  EXPECT_EQ(at<std::uint64_t>(data, second + 8), 4096U);
  EXPECT_EQ(at<std::uint32_t>(data, second + 20), 0xfedcba98U);
  EXPECT_EQ(at<std::uint32_t>(data, second + 24), 2U);
  EXPECT_EQ(at<std::int32_t>(data, second + 28), 4);
  EXPECT_EQ(at<std::int32_t>(data, second + 32), -5);
  EXPECT_EQ(at<std::uint8_t>(data, second + 38), 3U);
}

TEST_F(CallEventsFile, NewEventsTakeTheRoomOfTheOldest) {
  const auto events = CallEvents::create(folder_, 3, 5);
  ASSERT_TRUE(events.ok());
  const auto fill = [&] {
    for (std::uint64_t i = 0; i < CallEvents::kMost; ++i) (*events)->add({.begin = i, .end = i});
  };
  std::thread other(fill);
  fill();
  other.join();
  (*events)->add({.begin = 77, .end = 78});
  const std::string data = bytes();
  EXPECT_EQ(at<std::uint64_t>(data, 32), 2 * CallEvents::kMost + 1);
  EXPECT_EQ(at<std::uint64_t>(data, kHead), 77U);
}

TEST_F(CallEventsFile, WhereItCannotBeWrittenTheErrorNamesIt) {
  const auto events = CallEvents::create(folder_ + "/nowhere", 3, 5);
  ASSERT_FALSE(events.ok());
  EXPECT_NE(events.error().message.find("nowhere/events-3.bin"), std::string::npos) << events.error().message;
}

}  // namespace
}  // namespace urakata::observe
