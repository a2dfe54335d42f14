// SPDX-License-Identifier: BSD-3-Clause
#include "engine/engines.hpp"

#include <gtest/gtest.h>

#include <set>

#include "base/options/options.hpp"
#include "cluster.hpp"
#include "engine/kernel_engine.hpp"
#include "engine/periodic_engine.hpp"
#include "engine/poll.hpp"

namespace urakata::simulated {
namespace {

using engine::Engine;
using engine::Engines;
using engine::ProgressThreadSettings;

const std::vector<std::string_view> kBoth = {"thread", "poll"};
const std::vector<std::string_view> kPoll = {"poll"};

class EngineTable : public testing::Test {
 protected:
  Engines& made(const std::vector<std::string_view>& names, bool periodic = false) {
    engines_ = std::make_unique<Engines>();
    engines_->make(
        names, periodic, failures_,
        [this](bool progress_thread) {
          domains_of_progress_threads += progress_thread ? 1U : 0U;
          return std::make_unique<engine::Domain>(attach(network_, 0));
        },
        ProgressThreadSettings{});
    return *engines_;
  }
  unsigned domains_of_progress_threads = 0;

 private:
  Network network_{1};
  transport::Failures failures_{1};
  std::unique_ptr<Engines> engines_;
};

TEST_F(EngineTable, HasARowForEachChoiceButNative) {
  std::set<std::string_view> names{"native"};
  for (const engine::EngineRow& row : engine::engine_table()) names.insert(row.name);
  if (engine::kernel_rows().empty()) names.insert("kernel");  // a choice that is refused in the job
  const auto option = option_named("ENGINE");
  ASSERT_TRUE(option.ok());
  EXPECT_EQ(names, std::set<std::string_view>((*option)->choices.begin(), (*option)->choices.end()));
}

TEST_F(EngineTable, TheBestOneRunsAllThatCallersNeedNotRun) {
  Engines& engines = made(kBoth);
  ASSERT_EQ(engines.all().size(), 2U);
  EXPECT_EQ(domains_of_progress_threads, 1U);
  Engine* const first = engines.named("thread");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->name(), "thread/shared");
  EXPECT_EQ(&engines.best(), first);
  EXPECT_EQ(engines.next(false), first);
  Engine* const poll = engines.named("poll");
  ASSERT_NE(poll, nullptr);
  EXPECT_EQ(poll->name(), "poll");
  EXPECT_EQ(engines.next(true), poll);
  EXPECT_NE(&poll->domain(), &first->domain());
  EXPECT_EQ(engines.next(false), first);
}

TEST_F(EngineTable, CallersHaveThePeriodicThreadWhereTheLibraryDoesNotCall) {
  for (const auto& names : {kBoth, kPoll}) {
    Engines& engines = made(names, true);
    EXPECT_EQ(engines.named("thread") != nullptr, names == kBoth);
    EXPECT_EQ(&engines.best(), engines.named(names.front()));
    Engine* const periodic = engines.next(true);
    EXPECT_NE(dynamic_cast<engine::PeriodicEngine*>(periodic), nullptr);
    EXPECT_EQ(periodic->name(), "poll");
    EXPECT_EQ(periodic, engines.named("poll"));
  }
}

TEST_F(EngineTable, WithoutProgressThreadsThereIsOneForAllCallers) {
  Engines& engines = made(kPoll);
  EXPECT_EQ(domains_of_progress_threads, 0U);
  ASSERT_EQ(engines.all().size(), 1U);
  EXPECT_NE(dynamic_cast<engine::PollEngine*>(&engines.best()), nullptr);
  EXPECT_EQ(engines.next(false), &engines.best());
  EXPECT_EQ(engines.named("thread"), nullptr);
}

}  // namespace
}  // namespace urakata::simulated
