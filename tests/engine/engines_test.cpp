#include "engine/engines.hpp"

#include <gtest/gtest.h>

#include "cluster.hpp"
#include "engine/fallback.hpp"
#include "engine/poll.hpp"

namespace urakata::simulated {
namespace {

using engine::Engine;
using engine::Engines;
using engine::Environment;
using engine::HelperSettings;

// A run that was started with --engine thread, between nodes, on a host that has all that an engine may want.
Environment with_helpers() {
  Environment run;
  run.wish = EngineKind::thread;
  run.hook = true;
  run.threads = true;
  run.placement = "on a shared core";
  return run;
}

class EngineTable : public testing::Test {
 protected:
  Engines& made(const Environment& run, std::size_t helpers = 1) {
    engines_ = std::make_unique<Engines>();
    engines_->make(
        run, helpers, [this] { return std::make_unique<engine::Domain>(attach(network_, 0)); },
        [this](std::size_t i) {
          settings_of.push_back(i);
          HelperSettings settings;
          settings.name = "helper " + std::to_string(i);
          return settings;
        });
    return *engines_;
  }
  std::vector<std::size_t> settings_of;  // whose were asked for

 private:
  Network network_{1};
  std::unique_ptr<Engines> engines_;
};

TEST_F(EngineTable, HasARowForEachChoiceButHost) {
  for (const engine::EngineRow& row : engine::engine_table()) {
    EXPECT_TRUE(engine_named(row.name).ok()) << row.name;
    EXPECT_EQ(engine::engine_row(row.name), &row);
  }
  const auto option = option_named("ENGINE");
  ASSERT_TRUE(option.ok());
  for (const std::string_view name : (*option)->choices) {
    EXPECT_EQ(engine::engine_row(name) != nullptr, name != "host") << name;
  }
}

TEST_F(EngineTable, HelpersAreDealtOutInTurn) {
  Engines& engines = made(with_helpers(), 2);
  EXPECT_EQ(settings_of, (std::vector<std::size_t>{0, 1}));
  ASSERT_EQ(engines.all().size(), 3U);
  Engine* const first = engines.named("thread");
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->name(), "thread/shared");
  EXPECT_EQ(&engines.best(), first);
  EXPECT_EQ(engines.next(false), first);
  Engine* const poll = engines.named("poll");
  ASSERT_NE(poll, nullptr);
  EXPECT_EQ(poll->name(), "poll");
  EXPECT_EQ(engines.next(true), poll);  // takes no helper's turn
  Engine* const second = engines.next(false);
  EXPECT_NE(second, first);
  EXPECT_NE(second, poll);
  EXPECT_NE(&second->domain(), &first->domain());
  EXPECT_EQ(engines.next(false), first);
  EXPECT_EQ(engines.why_not("thread"), "");
  EXPECT_EQ(engines.why_not("poll"), "");
}

TEST_F(EngineTable, AHostWithoutAHookHasTheFallbackThreadForCallersBesideHelpers) {
  Environment run = with_helpers();
  run.hook = false;
  for (const EngineKind wish : {EngineKind::thread, EngineKind::poll}) {
    run.wish = wish;
    Engines& engines = made(run);
    EXPECT_EQ(engines.named("thread") != nullptr, wish == EngineKind::thread);
    EXPECT_EQ(&engines.best(), engines.named(wish == EngineKind::thread ? "thread" : "poll"));
    Engine* const fallback = engines.next(true);
    EXPECT_NE(dynamic_cast<engine::FallbackEngine*>(fallback), nullptr);
    EXPECT_EQ(fallback->name(), "poll");
    EXPECT_EQ(fallback, engines.named("poll"));
  }
}

TEST_F(EngineTable, OneThreadAtATimeMeansCallersOnly) {
  Environment run = with_helpers();
  run.threads = false;
  for (const bool hook : {false, true}) {
    run.hook = hook;
    EXPECT_TRUE(engine::engine_row("poll")->usable(run).ok());
    EXPECT_FALSE(engine::engine_row("thread")->usable(run).ok());
  }
  run.hook = false;
  Engines& engines = made(run, 2);
  EXPECT_TRUE(settings_of.empty());
  ASSERT_EQ(engines.all().size(), 1U);
  EXPECT_NE(dynamic_cast<engine::PollEngine*>(&engines.best()), nullptr);
  EXPECT_EQ(engines.next(false), &engines.best());
  EXPECT_NE(engines.why_not("thread").find("MPI_THREAD_MULTIPLE"), std::string::npos);
}

TEST_F(EngineTable, WhereHelpersDoNotPayItSaysWhereTheyWouldBe) {
  Environment run = with_helpers();
  run.helpers_pay = false;
  const Engines& engines = made(run);
  EXPECT_EQ(engines.named("thread"), nullptr);
  EXPECT_EQ(engines.why_not("thread"),
            "no helper, since all ranks are on this node (--placement shared makes one); it would be on a shared core");
}

TEST_F(EngineTable, HelpersMustBeWished) {
  Environment run = with_helpers();
  run.wish = EngineKind::poll;
  const Engines& engines = made(run);
  EXPECT_EQ(engines.named("thread"), nullptr);
  EXPECT_EQ(engines.why_not("thread"), "only --engine thread makes helpers");
}

TEST_F(EngineTable, AsksForThreadsOnlyWhereAnEngineHasOne) {
  for (const bool hook : {false, true}) {
    for (const bool pay : {false, true}) {
      Environment run;
      run.hook = hook;
      run.helpers_pay = pay;
      run.wish = EngineKind::host;
      EXPECT_FALSE(need_threads(run));
      run.wish = EngineKind::poll;
      EXPECT_EQ(need_threads(run), !hook);
      run.wish = EngineKind::thread;
      EXPECT_EQ(need_threads(run), pay || !hook);
    }
  }
}

}  // namespace
}  // namespace urakata::simulated
