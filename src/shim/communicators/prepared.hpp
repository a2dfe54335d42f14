// SPDX-License-Identifier: BSD-3-Clause
// A prepared collective: its schedule, which other communicators may share, and the instances that have been made of
// it. Cached per communicator, so that the second start of the same collective builds and allocates nothing.
//
// Thread-safety: take(), give() and idle() by any thread. The communicator's lock guards last_use; all other public
// members are constant once the communicator keeps the collective.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/spin_lock.hpp"
#include "collectives/collectives.hpp"
#include "engine/instance.hpp"
#include "shim/kernel_run.hpp"

namespace urakata::chain {
struct ChainedSchedule;
}

namespace urakata::shim {

// What makes two calls have the same schedule. The per-rank entries are those of the v-forms: bytes and displacements.
struct Key {
  collectives::Operation operation{};
  bool in_place = false;
  bool commutative = true;
  bool inputs_only = false;  // whether the algorithm must have Algorithm::inputs_only
  bool in_order = true;      // whether blocks between two neighbours meet in order (neighbours.hpp)
  std::uint32_t root = 0;
  std::uint64_t bytes = 0;
  std::uint64_t element = 1;
  std::uint64_t extent = 1;
  bool operator==(const Key&) const = default;
};

struct Prepared;

// An instance and the memory that belongs to it.
struct Run : engine::Instance {
  explicit Run(Prepared& of);
  Prepared& prepared;
  std::vector<std::byte> packed_send;  // packed copies of buffers whose types have holes
  std::vector<std::byte> packed_recv;
  KernelRun kernel;

  // Whether the executor can make progress. The instance must have an executor.
  bool can_progress() const { return kernel.can_progress(executor); }
};

struct Prepared {
  Key key;
  std::vector<std::uint64_t> blocks;  // v-forms: send bytes, send displacements, recv bytes, recv displacements
  std::shared_ptr<const schedule::Schedule> schedule;
  std::shared_ptr<const chain::ChainedSchedule> chained;  // nullptr: the kernel does not run it as a chain
  std::string_view algorithm;
  std::string_view why;
  std::vector<Streams> streams;  // as engine::Instance has them
  std::uint64_t last_use = 0;

  // An idle instance; makes one if there is none. The caller returns it by give(); it stays this object's.
  Run* take();
  void give(Run* run);
  bool idle();  // whether no instance is in use

 private:
  SpinLock lock_;
  std::vector<std::unique_ptr<Run>> all_ URAKATA_GUARDED_BY(lock_);
  std::vector<Run*> idle_ URAKATA_GUARDED_BY(lock_);
};

}  // namespace urakata::shim
