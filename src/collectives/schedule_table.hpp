// SPDX-License-Identifier: BSD-3-Clause
// The schedules that have been built, shared by all calls that need equal ones: most communicators of a program are
// duplicates, and one that is made after another was freed starts the same collectives.
//
// A schedule follows from its algorithm and arguments alone, so these are the key, with the contents of the arguments'
// arrays. If the room is used up, the table drops the least recently used schedules. A schedule lives as long as
// somebody holds it.
//
// Thread-safety: all by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "collectives/collectives.hpp"
#include "schedule/schedule.hpp"

namespace urakata::collectives {

class ScheduleTable {
 public:
  // room: bytes of all schedules and keys kept. A schedule that takes more than a quarter of it is not kept.
  explicit ScheduleTable(std::size_t room) : room_(room) {}

  // nullptr: the table has no such schedule.
  std::shared_ptr<const schedule::Schedule> find(const Algorithm& algorithm, const Arguments& arguments);
  // Keeps the schedule that the algorithm has built from the arguments, and returns it. If another thread has kept an
  // equal one before, returns that one.
  std::shared_ptr<const schedule::Schedule> keep(const Algorithm& algorithm, const Arguments& arguments,
                                                 schedule::Schedule built);

 private:
  using Words = std::vector<std::uint64_t>;
  struct Hash {
    std::size_t operator()(const Words& words) const;
  };
  struct Kept {
    std::shared_ptr<const schedule::Schedule> schedule;
    std::size_t bytes = 0;
    std::list<const Words*>::iterator use;
  };
  using Map = std::unordered_map<Words, Kept, Hash>;

  void read_key(const Algorithm& algorithm, const Arguments& arguments) URAKATA_REQUIRES(lock_);
  std::shared_ptr<const schedule::Schedule> use(Kept& kept) URAKATA_REQUIRES(lock_);

  const std::size_t room_;
  Mutex lock_;
  Words key_ URAKATA_GUARDED_BY(lock_);  // key of the call that has the lock; a member so that find() need not allocate
  Map kept_ URAKATA_GUARDED_BY(lock_);
  std::list<const Words*> uses_ URAKATA_GUARDED_BY(lock_);  // keys of kept_, the most recently used first
  std::size_t bytes_ URAKATA_GUARDED_BY(lock_) = 0;         // of all schedules and keys kept
};

}  // namespace urakata::collectives
