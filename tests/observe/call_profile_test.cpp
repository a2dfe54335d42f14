// SPDX-License-Identifier: BSD-3-Clause
// The file of a rank's calls, read as a reader does: by its bytes, at any time.
#include "observe/call_profile.hpp"

#include <fcntl.h>
#include <gnu/libc-version.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file_bytes.hpp"

namespace urakata::observe {
namespace {

class CallProfiles : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/urakata-calls-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::unique_ptr<CallProfile> made() {
    auto profile =
        CallProfile::create(folder_, {.rank = 3, .ranks = 5, .job = 9, .program = "./app 1", .file = "/nowhere/app"});
    EXPECT_TRUE(profile.ok()) << profile.error().message;
    return profile.ok() ? std::move(*profile) : nullptr;
  }

  struct Read {
    std::string bytes;
    const CallFile& head() const { return *reinterpret_cast<const CallFile*>(bytes.data()); }
    std::string text(std::uint32_t at) const { return bytes.c_str() + head().texts + at; }
    std::vector<const CallRecord*> called() const {
      std::vector<const CallRecord*> all;
      for (std::uint32_t i = 0; i < head().records; ++i) {
        const auto* const one = reinterpret_cast<const CallRecord*>(bytes.data() + sizeof(CallFile)) + i;
        if (one->calls != 0) all.push_back(one);
      }
      return all;
    }
  };
  Read read() const { return {file_bytes(folder_ + "/calls-3.bin")}; }

  std::string folder_;
};

// In the C library, and no sanitizer stands in front of it.
const void* const kHere = reinterpret_cast<const void*>(&gnu_get_libc_version);
const char* const kSend = "Send";
const char* const kWait = "Wait";

TEST_F(CallProfiles, AddsUpTheCallsFromOnePlace) {
  const auto profile = made();
  CallRecord& send = profile->record({kSend, kHere});
  EXPECT_EQ(&send, &profile->record({kSend, kHere}));
  EXPECT_NE(&send, &profile->record({kWait, kHere}));
  profile->leave(send, 100, 130, 8);
  profile->leave(send, 200, 210, CallProfile::kNotKnown);
  for (const bool finished : {false, true}) {
    if (finished) {
      ASSERT_TRUE(profile->finish(1'000'000'000'000'000).ok());
    }
    const Read seen = read();
    ASSERT_EQ(std::memcmp(seen.head().mark, kCallFileMark, 8), 0);
    EXPECT_EQ(seen.head().rank, 3U);
    EXPECT_EQ(seen.head().ranks, 5U);
    EXPECT_EQ(seen.head().job, 9U);
    EXPECT_EQ(seen.text(seen.head().program), "./app 1");
    EXPECT_EQ(seen.head().state, finished ? CallFileState::finished : CallFileState::running);
    const auto called = seen.called();
    ASSERT_EQ(called.size(), 1U);
    EXPECT_EQ(seen.text(called[0]->operation), "Send");
    EXPECT_EQ(called[0]->calls, 2U);
    EXPECT_EQ(called[0]->ns, 40U);
    EXPECT_EQ(called[0]->least_ns, 10U);
    EXPECT_EQ(called[0]->most_ns, 30U);
    EXPECT_EQ(called[0]->sized, 1U);
    EXPECT_EQ(called[0]->bytes, 8U);
    EXPECT_NE(seen.text(called[0]->module).find("libc"), std::string::npos) << seen.text(called[0]->module);
    if (finished) {
      EXPECT_LT(seen.bytes.size(), 2000U);
    }
  }
}

TEST_F(CallProfiles, TellsOfTheCallThatARankIsIn) {
  const auto profile = made();
  EXPECT_EQ(read().head().inside, 0U);
  CallRecord& wait = profile->record({kWait, kHere});
  profile->enter(wait, 77);
  const Read seen = read();
  ASSERT_NE(seen.head().inside, 0U);
  EXPECT_EQ(seen.head().since_ns, 77U);
  const auto* const records = reinterpret_cast<const CallRecord*>(seen.bytes.data() + sizeof(CallFile));
  EXPECT_EQ(seen.text(records[seen.head().inside - 1].operation), "Wait");
  EXPECT_TRUE(seen.called().empty());
  profile->leave(wait, 77, 80, CallProfile::kNotKnown);
  EXPECT_EQ(read().head().inside, 0U);
  EXPECT_EQ(read().head().end_ns, 80U);
  const auto last = [&] {
    const Read now = read();
    const auto* const all = reinterpret_cast<const CallRecord*>(now.bytes.data() + sizeof(CallFile));
    return now.head().last == 0 ? "" : now.text(all[now.head().last - 1].operation);
  };
  EXPECT_EQ(last(), "Wait");
  CallRecord& send = profile->record({kSend, kHere});
  profile->enter(send, 90);
  EXPECT_EQ(last(), "Wait");
  // Its line is found later; one of a call that has ended changes nothing.
  const PythonLine line{"/a/app.py", "step", 7};
  CallRecord& located = profile->record({kSend, kHere, &line});
  profile->located(located, 77);
  EXPECT_EQ(read().head().inside, profile->number_of(send) + 1);
  profile->located(located, 90);
  EXPECT_EQ(read().head().inside, profile->number_of(located) + 1);
  profile->leave(located, 90, 95, CallProfile::kNotKnown);
  profile->located(located, 90);
  EXPECT_EQ(read().head().inside, 0U);
  EXPECT_EQ(last(), "Send");
  profile->aborted();
  EXPECT_EQ(read().head().state, CallFileState::aborted);
}

TEST_F(CallProfiles, AllThatFindNoRoomShareARecord) {
  const auto profile = made();
  std::vector<char> places(3 * CallProfile::kMost);
  for (const char& place : places) profile->leave(profile->record({kSend, &place}), 0, 1, 1);
  const auto seen = read();
  const auto called = seen.called();
  ASSERT_EQ(called.size(), CallProfile::kMost);
  EXPECT_EQ(seen.text(called[0]->operation), "(others)");
  EXPECT_EQ(called[0]->calls, places.size() - (CallProfile::kMost - 1));
}

TEST_F(CallProfiles, NamesThatFindNoRoomAreLeftOut) {
  const auto profile = made();
  std::vector<PythonLine> lines;
  for (int i = 0; i < 200; ++i)
    lines.push_back({std::string(1000, static_cast<char>('a' + i % 26)) + std::to_string(i), "f", i});
  for (const PythonLine& line : lines) profile->leave(profile->record({kSend, kHere, &line}), 0, 1, 1);
  const auto seen = read();
  const auto called = seen.called();
  ASSERT_EQ(called.size(), lines.size());
  EXPECT_EQ(seen.text(called[0]->python_file), lines[0].file);
  EXPECT_EQ(seen.text(called.back()->python_file), "");
  EXPECT_EQ(called.back()->python_line, 199);
  ASSERT_TRUE(profile->finish(5).ok());
  EXPECT_EQ(read().text(read().called()[0]->python_file), lines[0].file);
}

TEST_F(CallProfiles, ThreadsAddUp) {
  const auto profile = made();
  constexpr int kThreads = 4;
  constexpr std::uint64_t kCalls = 20'000;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < kCalls; ++i) {
        CallRecord& record = profile->record({i % 2 == 0 ? kSend : kWait, kHere});
        profile->enter(record, i);
        profile->leave(record, i, i + 2, 3);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const auto seen = read();
  ASSERT_EQ(seen.called().size(), 2U);
  for (const CallRecord* record : seen.called()) {
    EXPECT_EQ(record->calls, kThreads * kCalls / 2);
    EXPECT_EQ(record->ns, kThreads * kCalls);
    EXPECT_EQ(record->bytes, kThreads * kCalls / 2 * 3);
  }
}

TEST_F(CallProfiles, AnEarlierRunsFileStaysWholeForItsReader) {
  const auto first = made();
  const int file = open((folder_ + "/calls-3.bin").c_str(), O_RDONLY | O_CLOEXEC);
  const auto second = made();
  second->leave(second->record({kSend, kHere}), 0, 1, 1);
  first->leave(first->record({kWait, kHere}), 0, 1, 1);  // not a signal: its memory is there
  CallFile head{};
  ASSERT_EQ(pread(file, static_cast<void*>(&head), sizeof head, 0), static_cast<ssize_t>(sizeof head));
  close(file);
  EXPECT_EQ(head.records, 2U);
  EXPECT_EQ(read().text(read().called()[0]->operation), "Send");
}

TEST_F(CallProfiles, LeavesFilesOfOthersAlone) {
  std::filesystem::create_directories(folder_);
  for (const char* name : {"/rank-3.json", "/calls-3.bin", "/events-3.bin"}) {
    const std::string path = folder_ + name;
    std::ofstream(path) << "mine";
    const auto profile = CallProfile::create(folder_, {.rank = 3, .ranks = 5, .job = 9, .program = "", .file = ""});
    ASSERT_FALSE(profile.ok());
    EXPECT_EQ(profile.error().message,
              "report: " + path + " is not a file of a report; move it, or name another folder");
    EXPECT_EQ(std::filesystem::file_size(path), 4U);
    std::filesystem::remove(path);
  }
}

TEST_F(CallProfiles, SaysWhereItCannotBeWritten) {
  std::filesystem::create_directories(folder_);
  const std::string in_the_way = folder_ + "/file";
  close(open(in_the_way.c_str(), O_CREAT | O_CLOEXEC, 0600));
  const auto profile = CallProfile::create(in_the_way + "/under", {});
  ASSERT_FALSE(profile.ok());
  EXPECT_NE(profile.error().message.find(in_the_way), std::string::npos) << profile.error().message;
}

}  // namespace
}  // namespace urakata::observe
