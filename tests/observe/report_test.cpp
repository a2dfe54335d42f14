// SPDX-License-Identifier: BSD-3-Clause
#include "observe/report.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "observe/code.hpp"

namespace urakata::observe {
namespace {

TEST(CodePlace, FindsThisProgram) {
  const CodePlace place = code_place(reinterpret_cast<const void*>(&code_place), "/a/program");
  EXPECT_EQ(place.module, "/a/program");
  EXPECT_GT(place.offset, 0u);
  EXPECT_EQ(code_place(nullptr, "/a/program").module, "");
}

TEST(CodePlace, FindsALibrarySymbol) {
  const CodePlace place = code_place(reinterpret_cast<const char*>(&::getpid) + 1, "/a/program");
  EXPECT_NE(place.module.find("libc"), std::string::npos) << place.module;
  EXPECT_EQ(place.symbol_offset, 1u);
}

class Report : public ::testing::Test {
 protected:
  Report() : directory_(::testing::TempDir() + "/urakata-report-" + std::to_string(getpid())) {}
  ~Report() override { std::filesystem::remove_all(directory_); }
  std::string directory_;
};

TEST_F(Report, WritesOneFileForTheRankWithNothingLeftBeside) {
  Observer observer(true, 1, 4);
  const PythonLine line{"/a/app.py", "Solver.step", 12};
  CallSite* site = observer.call_site(
      {.operation = "Ibcast", .address = this, .bytes = 64, .engine = "thread", .algorithm = "chain", .python = &line},
      "large \"message\"");
  ObservedInstance observed;
  observed.started(10);
  const ProfiledThread thread;
  observed.returned(20, thread);
  observed.at(site);
  observed.finished(30, 40, thread, {.all = 4, .computing = 2}, {.first = 2, .context = 1, .sequence = 9, .ranks = 3});
  observer.progress_thread(0)->add(12, 14);
  MessageSite* messages = observer.message_site({.operation = "Irecv", .address = this, .carrier = "space"});
  messages->started();
  messages->started();
  messages->waited_for(30);
  messages->waited_for(12);
  messages->moved(8);
  messages->ended();
  messages->transferred(100, 60, 50);
  Meta meta;
  meta.space = {true, 0, "it is static"};
  meta.rank = 3;
  meta.ranks = 4;
  meta.fences = 17;
  meta.options.push_back({"ENGINE", "thread", "environment"});
  meta.progress_threads.push_back({"shared core", "0-1", 0.25});
  const Status status = write(observer, directory_ + "/deep/er", meta);
  ASSERT_TRUE(status.ok()) << status.error().message;

  int files = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(directory_ + "/deep/er")) ++files;
  EXPECT_EQ(files, 1);
  std::stringstream text;
  text << std::ifstream(directory_ + "/deep/er/rank-3.json").rdbuf();
  for (const char* part :
       {R"("rank":3,"ranks":4)", R"("operation":"Ibcast","bytes":64)", R"("why":"large \"message\"")",
        R"("samples":[[2,1,9,3,10,20,30,40,40,0,4,2,0]])", R"("wait":{"count":1,"sum":10,"min":10,"max":10})",
        R"("spans":[[12,14]])", R"("cpu_seconds":0.25)", R"("origin":"environment")", R"("fences":17)",
        R"("python":{"file":"/a/app.py","line":12,"function":"Solver.step"})",
        R"("space":{"asked":true,"ranks":0,"why":"it is static"})",
        R"("messages":[{"operation":"Irecv","carrier":"space",)",
        R"("messages":2,"sized":1,"bytes":8,"waited":1,"waited_ns":42,)",
        R"("done_at_once":0,"timed":1,"life_ns":100,"gap_ns":60,"overlapped_ns":50})"}) {
    EXPECT_NE(text.str().find(part), std::string::npos) << part << " is not in " << text.str();
  }
}

TEST_F(Report, LeavesAFileOfOthersAlone) {
  std::filesystem::create_directories(directory_);
  const std::string path = directory_ + "/rank-0.json";
  std::ofstream(path) << R"({"mine": 1})";
  const Status refused = write(Observer(false), directory_, Meta{});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().message, "report: " + path + " is not a file of a report; move it, or name another folder");
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), R"({"mine": 1})");
  for (const char* own : {"", R"({"urak)", R"({"urakata_report":3,"rank":0})"}) {
    std::ofstream(path) << own;
    EXPECT_TRUE(write(Observer(false), directory_, Meta{}).ok()) << own;
  }
}

TEST_F(Report, NamesThePathThatCannotBeWritten) {
  std::filesystem::create_directories(directory_);
  std::ofstream(directory_ + "/file") << "x";
  const Status status = write(Observer(false), directory_ + "/file/below", Meta{});
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.error().message.find(directory_ + "/file/below"), std::string::npos) << status.error().message;
}

}  // namespace
}  // namespace urakata::observe
