// SPDX-License-Identifier: BSD-3-Clause
// Schedules that have been built, for all who need equal ones: a program's communicators are mostly duplicates, and
// one that is made after another was freed starts the same collectives.
//
// A schedule follows from its algorithm and arguments alone, so these are the key: all of the arguments, with the
// contents of their arrays. What has not been used for longest goes where the room is used up; whoever holds it keeps
// it.
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
  // room: bytes of all that is kept, keys included; nothing is kept that takes more than a quarter of it.
  explicit ScheduleTable(std::size_t room) : room_(room) {}

  // nullptr where none is kept.
  std::shared_ptr<const schedule::Schedule> find(const Algorithm& algorithm, const Arguments& arguments);
  // Keeps what the algorithm has built of the arguments. Where another thread was first, that one's is the result.
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
  Words key_ URAKATA_GUARDED_BY(lock_);  // of the call that has the lock; kept, so that finding allocates nothing
  Map kept_ URAKATA_GUARDED_BY(lock_);
  std::list<const Words*> uses_ URAKATA_GUARDED_BY(lock_);  // keys of kept_, the last used first
  std::size_t bytes_ URAKATA_GUARDED_BY(lock_) = 0;         // of all that is kept
};

}  // namespace urakata::collectives
