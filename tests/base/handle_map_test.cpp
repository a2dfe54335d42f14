// SPDX-License-Identifier: BSD-3-Clause
#include "base/handle_map.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

namespace urakata {
namespace {

// A type of its own for each test: what a thread remembers is kept per type.
TEST(HandleMap, HandlesMayBeIntegersOrPointers) {
  struct Object {};
  Object one;
  int place = 0;
  HandleMap<int, Object> integers;
  HandleMap<int*, Object> pointers;
  EXPECT_EQ(integers.insert(-7, &one), &one);
  EXPECT_EQ(pointers.insert(&place, &one), &one);
  EXPECT_EQ(integers.find(-7).object, &one);
  EXPECT_EQ(pointers.find(&place).object, &one);
  EXPECT_FALSE(integers.find(7).known);
  EXPECT_EQ(handle_of<int*>(bits(&place)), &place);
  EXPECT_EQ(handle_of<int>(bits(-7)), -7);
}

TEST(HandleMap, KnownToBeNothingIsNotUnknown) {
  struct Object {};
  HandleMap<int, Object> map;
  EXPECT_FALSE(map.find(1).known);
  map.insert(1, nullptr);
  EXPECT_TRUE(map.find(1).known);
  EXPECT_EQ(map.find(1).object, nullptr);
  Object one;
  Object other;
  EXPECT_EQ(map.insert(1, &one), &one);
  EXPECT_EQ(map.insert(1, &other), &one);  // the first stays
  EXPECT_EQ(map.erase(1), &one);
  EXPECT_FALSE(map.find(1).known);
  EXPECT_EQ(map.erase(1), nullptr);
}

// A handle that is freed and given again stands for something else.
TEST(HandleMap, DoesAsAnOrdinaryMapDoes) {
  struct Object {};
  std::vector<Object> objects(16);
  HandleMap<unsigned, Object> map;
  std::unordered_map<unsigned, Object*> model;
  std::mt19937 random(1);
  for (int step = 0; step < 20'000; ++step) {
    const auto handle = static_cast<unsigned>(random() % 40 * 256);  // which share few places among those remembered
    Object* const object = &objects[random() % objects.size()];
    switch (random() % 4) {
      case 0:
        map.insert(handle, object);
        model.emplace(handle, object);
        break;
      case 1:
        map.erase(handle);
        model.erase(handle);
        break;
      default: {
        const auto found = map.find(handle);
        ASSERT_EQ(found.known, model.contains(handle));
        if (found.known) {
          ASSERT_EQ(found.object, model[handle]);
        }
      }
    }
  }
  std::size_t all = 0;
  map.for_each([&](Object*) { ++all; });
  EXPECT_EQ(all, model.size());
}

// Threads ask for handles that another one takes out and puts in again as something else: each answer was true at some
// moment since the one before, so no thread sees the object's number go back.
TEST(HandleMap, NoThreadRemembersWhatIsGone) {
  struct Object {
    int number = 0;
  };
  std::vector<Object> objects(2000);
  for (std::size_t i = 0; i < objects.size(); ++i) objects[i].number = static_cast<int>(i);
  HandleMap<int, Object> map;
  std::atomic<int> latest{-1};  // number of the object that the handle stands for at least
  std::vector<std::thread> askers;
  for (int i = 0; i < 3; ++i) {
    askers.emplace_back([&] {
      int seen = -1;
      while (seen < static_cast<int>(objects.size()) - 1) {
        const int before = latest.load();
        const auto found = map.find(1);
        if (!found.known) continue;
        ASSERT_GE(found.object->number, seen);
        ASSERT_GE(found.object->number, before);
        seen = found.object->number;
      }
    });
  }
  for (Object& object : objects) {
    map.erase(1);
    map.insert(1, &object);
    latest.store(object.number);
  }
  for (std::thread& asker : askers) asker.join();
}

// MPI_Comm_free: delete callbacks still use what the handle stands for, while another thread may be given the handle.
TEST(HandleMap, AWithdrawnHandleIsItsThreadsAlone) {
  struct Object {};
  Object old;
  Object other;
  Object late;
  HandleMap<int, Object> map;
  map.insert(1, &old);
  map.withdraw(1);
  map.withdraw(2);  // which is not known yet
  EXPECT_EQ(map.find(1).object, &old);
  EXPECT_FALSE(map.find(2).known);
  EXPECT_EQ(map.insert(2, &late), &late);
  std::thread([&] {
    EXPECT_FALSE(map.find(1).known);
    EXPECT_FALSE(map.find(2).known);
    EXPECT_EQ(map.insert(1, &other), &other);
    EXPECT_EQ(map.find(1).object, &other);
  }).join();
  std::size_t all = 0;
  map.for_each([&](Object*) { ++all; });
  EXPECT_EQ(all, 3U);
  EXPECT_EQ(map.find(1).object, &old);
  EXPECT_EQ(map.erase(1), &old);
  EXPECT_EQ(map.find(1).object, &other);
  EXPECT_EQ(map.find(2).object, &late);
  EXPECT_EQ(map.erase(2), &late);
  EXPECT_FALSE(map.find(2).known);
}

TEST(HandleMap, AHandleThatIsNotFreedAfterAllStandsForTheSame) {
  struct Object {};
  Object one;
  HandleMap<int, Object> map;
  map.insert(1, &one);
  map.withdraw(1);
  map.restore(1);
  map.withdraw(2);
  map.restore(2);
  std::thread([&] { EXPECT_EQ(map.find(1).object, &one); }).join();
  EXPECT_EQ(map.find(1).object, &one);
  EXPECT_FALSE(map.find(2).known);
  EXPECT_EQ(map.erase(1), &one);
  EXPECT_FALSE(map.find(1).known);
}

}  // namespace
}  // namespace urakata
