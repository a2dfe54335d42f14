// SPDX-License-Identifier: BSD-3-Clause
#include "observe/observer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace urakata::observe {
namespace {

const char code[64] = {};  // its addresses stand for return addresses

CallSiteKey key_at(int place, std::uint64_t bytes = 8) {
  return {.operation = "Ibcast", .address = code + place, .bytes = bytes, .engine = "poll", .algorithm = "chain"};
}

TEST(Observer, OneSiteForEachKeyAndTheFirstReasonStays) {
  Observer observer(false);
  CallSite* first = observer.call_site(key_at(0), "asked for");
  EXPECT_EQ(observer.call_site(key_at(0), "another reason"), first);
  EXPECT_EQ(first->why(), "asked for");
  EXPECT_NE(observer.call_site(key_at(1), ""), first);
  EXPECT_NE(observer.call_site(key_at(0, 16), ""), first);
  CallSiteKey other = key_at(0);
  other.engine = "thread";
  EXPECT_NE(observer.call_site(other, ""), first);
  EXPECT_EQ(observer.call_sites().size(), 4u);
  EXPECT_EQ(observer.call_sites()[0], first);
}

TEST(Observer, TheLineOfAPythonProgramTellsSitesApart) {
  Observer observer(false);
  const PythonLine here{"app.py", "step", 12};
  const PythonLine there{"app.py", "step", 13};
  CallSiteKey key = key_at(0);
  key.python = &here;
  CallSite* first = observer.call_site(key, "");
  EXPECT_EQ(observer.call_site(key, ""), first);
  EXPECT_EQ(first->key().python, &here);
  key.python = &there;
  EXPECT_NE(observer.call_site(key, ""), first);
}

TEST(Observer, TooManySitesShareOne) {
  Observer observer(false);
  for (std::uint64_t i = 0; i < Observer::kMaxCallSites; ++i) observer.call_site(key_at(0, i), "");
  CallSite* others = observer.call_site(key_at(0, 1'000'000), "");
  EXPECT_EQ(others->key().operation, "(others)");
  EXPECT_EQ(observer.call_site(key_at(3, 1'000'000), ""), others);
  EXPECT_NE(observer.call_site(key_at(0, 17), ""), others);
  EXPECT_EQ(observer.call_sites().size(), Observer::kMaxCallSites);
  others->started.fetch_add(1);
  EXPECT_EQ(observer.call_sites().size(), Observer::kMaxCallSites + 1);
  EXPECT_EQ(observer.call_sites().back(), others);
}

TEST(Observer, MessagesHaveSitesOfTheirOwn) {
  Observer observer(false);
  MessageSite* here = observer.message_site({.operation = "Isend", .address = code, .carrier = "space"});
  EXPECT_EQ(observer.message_site({.operation = "Isend", .address = code, .carrier = "space"}), here);
  EXPECT_NE(observer.message_site({.operation = "Isend", .address = code, .carrier = "host"}), here);
  EXPECT_NE(observer.message_site({.operation = "Isend", .address = code + 1, .carrier = "space"}), here);
  EXPECT_NE(observer.message_site({.operation = "Issend", .address = code, .carrier = "space"}), here);
  EXPECT_EQ(observer.message_sites().size(), 4u);
  EXPECT_EQ(observer.message_sites()[0], here);
  EXPECT_TRUE(observer.call_sites().empty());
}

TEST(Observer, TooManySitesOfMessagesShareOne) {
  static const char places[Observer::kMaxCallSites + 2] = {};
  Observer observer(false);
  for (std::uint32_t i = 0; i < Observer::kMaxCallSites; ++i) observer.message_site({"Send", places + i, "host"});
  MessageSite* others = observer.message_site({"Send", places + Observer::kMaxCallSites, "host"});
  EXPECT_EQ(others->key().operation, "(others)");
  EXPECT_EQ(observer.message_site({"Send", places + Observer::kMaxCallSites + 1, "host"}), others);
  EXPECT_EQ(observer.message_sites().size(), Observer::kMaxCallSites);
  others->started();
  EXPECT_EQ(observer.message_sites().back(), others);
}

TEST(Observer, FourThreadsAtTheSameKeysGetTheSameSites) {
  Observer observer(false);
  std::vector<std::vector<CallSite*>> seen(4);
  std::vector<std::thread> threads;
  for (auto& mine : seen) {
    threads.emplace_back([&] {
      for (std::uint64_t i = 0; i < 500; ++i) {
        mine.push_back(observer.call_site(key_at(0, i), ""));
        mine.back()->start.add(i + 1);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (auto& mine : seen) EXPECT_EQ(mine, seen[0]);
  EXPECT_EQ(observer.call_sites().size(), 500u);
  EXPECT_EQ(seen[0][6]->start.count(), 4u);
  EXPECT_EQ(seen[0][6]->start.sum(), 28u);
}

TEST(ObservedInstance, ProgressThreadFinishesWhileTheProgramComputes) {
  // start 100..110, progress thread done at 500, a test 300..320 in between, wait 1000..1005.
  Observer observer(false);
  CallSite* site = observer.call_site(key_at(0), "");
  ProfiledThread thread;
  ObservedInstance observed;
  observed.started(100);
  observed.returned(110, thread);
  observed.at(site);
  observed.tested(300, 320);
  observed.done(500);
  observed.finished(1000, 1005, thread, {}, {});
  EXPECT_EQ(observed.call_site(), nullptr);
  EXPECT_EQ(site->started.load(), 1u);
  EXPECT_EQ(site->start.sum(), 10u);
  EXPECT_EQ(site->gap.sum(), 870u);
  EXPECT_EQ(site->test.sum(), 20u);
  EXPECT_EQ(site->wait.sum(), 5u);
  EXPECT_EQ(site->in_flight.sum(), 400u);
  EXPECT_EQ(site->overlapped.sum(), 390u);
}

TEST(ObservedInstance, WaitedForAtOnceHasNoGap) {
  // start 100..110, wait 112..510, the MPI library says nothing of when it was done.
  Observer observer(false);
  CallSite* site = observer.call_site(key_at(0), "");
  ProfiledThread thread;
  ObservedInstance observed;
  observed.started(100);
  observed.returned(110, thread);
  observed.at(site);
  observed.finished(112, 510, thread, {}, {});
  EXPECT_EQ(site->in_flight.sum(), 410u);
  EXPECT_EQ(site->overlapped.sum(), 2u);
  EXPECT_EQ(site->test.count(), 0u);
}

TEST(ObservedInstance, OtherCallsAreNoPartOfTheGap) {
  // Started 100..110 in a call 90..115, another call 150..250, a test of it 260..270, waited for in a call from 300 on.
  Observer observer(false);
  CallSite* site = observer.call_site(key_at(0), "");
  ProfiledThread thread{.begin = 90, .past = 1000};
  ObservedInstance observed;
  observed.started(100);
  observed.returned(110, thread);
  observed.at(site);
  thread = {.begin = 260, .past = 1000 + 25 + 100};
  observed.tested(260, 270);
  thread = {.begin = 300, .past = 1000 + 25 + 100 + 10};
  observed.finished(300, 400, thread, {.all = 100, .computing = 45},
                    {.first = 3, .context = 7, .sequence = 41, .ranks = 2});
  EXPECT_EQ(site->gap.sum(), 300u - 110 - 5 - 100 - 10);
  ASSERT_EQ(site->samples.all().size(), 1u);
  const Sample& sample = site->samples.all()[0];
  EXPECT_EQ(sample.work.all, 100u);
  EXPECT_EQ(sample.work.computing, 45u);
  EXPECT_EQ(sample.tests, 10u);
  EXPECT_EQ(sample.calls, 5u + 100 + 10);
  EXPECT_EQ(sample.wait, 300u);
  EXPECT_EQ(sample.done, 400u);
  EXPECT_EQ(sample.identity.sequence, 41u);
}

TEST(ObservedInstance, CallsOfAnotherThreadAreNotTakenForThoseOfTheOneThatStartedIt) {
  Observer observer(false);
  CallSite* site = observer.call_site(key_at(0), "");
  const ProfiledThread starter{.begin = 90, .past = 5};
  const ProfiledThread waiter{.begin = 300, .past = 1'000'000};
  ObservedInstance observed;
  observed.started(100);
  observed.returned(110, starter);
  observed.at(site);
  observed.tested(200, 210);
  observed.finished(300, 400, waiter, {}, {});
  EXPECT_EQ(site->gap.sum(), 180u);
}

TEST(Samples, TwoRanksKeepTheSameHoweverManyTheyAdd) {
  // One has seen 1000 instances, the other 5000: of the first 1000 the second keeps none that the first has not.
  Samples one;
  Samples other;
  const auto add = [](Samples& to, std::uint64_t sequence) {
    Sample sample;
    sample.identity.sequence = sequence;
    to.add(sample);
  };
  for (std::uint64_t i = 0; i < 1000; ++i) add(one, i);
  for (std::uint64_t i = 0; i < 5000; ++i) add(other, i);
  std::set<std::uint64_t> kept;
  for (const Sample& sample : one.all()) kept.insert(sample.identity.sequence);
  EXPECT_EQ(kept.size(), one.all().size());
  EXPECT_GE(kept.size(), Samples::kMost / 4);
  EXPECT_GE(other.all().size(), Samples::kMost / 4);
  EXPECT_LE(other.all().size(), Samples::kMost);
  for (const Sample& sample : other.all()) {
    if (sample.identity.sequence < 1000) {
      EXPECT_EQ(kept.count(sample.identity.sequence), 1u) << sample.identity.sequence;
    }
  }
}

TEST(Samples, FewAreAllKept) {
  Samples samples;
  for (std::uint64_t i = 0; i < Samples::kMost; ++i) {
    Sample sample;
    sample.identity.sequence = 2 * i;
    samples.add(sample);
  }
  EXPECT_EQ(samples.all().size(), Samples::kMost);
}

TEST(ObservedInstance, ThoseThatRanksCannotMatchAreSampledToo) {
  // 1000 exchanges of a call site: some are kept, of the last half too.
  Observer observer(false);
  CallSite* site = observer.call_site(key_at(0), "");
  ProfiledThread thread;
  for (std::uint64_t i = 0; i < 1000; ++i) {
    ObservedInstance observed;
    observed.started(100 * i);
    observed.returned(100 * i + 10, thread);
    observed.at(site);
    observed.finished(100 * i + 20, 100 * i + 30, thread, {}, {.first = 0, .context = -1});
  }
  const auto kept = site->samples.all();
  EXPECT_GE(kept.size(), Samples::kMost / 4);
  EXPECT_TRUE(std::ranges::any_of(kept, [](const Sample& sample) { return sample.begin >= 50000; }));
}

TEST(ObservedInstance, UnobservedIsIgnored) {
  ObservedInstance observed;
  observed.done(5);
  observed.finished(1, 2, {}, {}, {});
  EXPECT_EQ(observed.call_site(), nullptr);
}

TEST(Times, KeepsExtremes) {
  Times times;
  EXPECT_EQ(times.min(), 0u);
  for (std::uint64_t ns : {7U, 3U, 9U}) times.add(ns);
  EXPECT_EQ(times.min(), 3u);
  EXPECT_EQ(times.max(), 9u);
  EXPECT_EQ(times.sum(), 19u);
  EXPECT_EQ(times.count(), 3u);
}

TEST(Track, OverwritesTheOldestAndCountsThem) {
  Track track("progress thread 0", 4);
  for (std::uint64_t i = 0; i < 6; ++i) track.add(10 * i, 10 * i + 5);
  EXPECT_EQ(track.lost(), 2u);
  const auto spans = track.spans();
  ASSERT_EQ(spans.size(), 4u);
  EXPECT_EQ(spans[0].begin, 20u);
  EXPECT_EQ(spans[3].end, 55u);
}

TEST(Observer, TracksOnlyWithATimeLine) {
  Observer off(false, 2);
  EXPECT_EQ(off.progress_thread(0), nullptr);
  Observer on(true, 2, 16);
  EXPECT_EQ(on.progress_thread(1)->name(), "progress thread 1");
  EXPECT_EQ(on.progress_thread(2), nullptr);
}

}  // namespace
}  // namespace urakata::observe
