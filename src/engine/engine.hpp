// SPDX-License-Identifier: BSD-3-Clause
// An engine: what advances a domain's instances. Callers that wait always do; some engines have a progress thread, or
// the Linux kernel, as well.
//
// Thread-safety: start*(), enter(), leave() by any thread of the program, step() by progress threads, too; none of them
// blocks. stop() by one thread; it waits until the engine's threads have ended.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/progress_thread.hpp"
#include "engine/domain.hpp"

namespace urakata::engine {

class Engine {
 public:
  explicit Engine(Domain& domain) : domain_(domain) {}
  virtual ~Engine() = default;

  Domain& domain() { return domain_; }
  virtual std::string_view name() const = 0;

  // Starts prepared instances, in this order, for a caller that goes back to its computation: the domain is owned once
  // at most, and a progress thread woken once at most, however many they are. They may be finished and gone when this
  // returns.
  virtual void start_all(Domain::Starts starts) = 0;
  // The same for one; overridden where a list of one is worth sparing.
  virtual void start(Instance& instance) {
    Instance* const one = &instance;
    start_all({&one, 1});
  }
  // The same for one that its caller waits for at once: as start() and enter(), so leave() follows. Wakes nobody.
  virtual void start_awaited(Instance& instance) {
    enter();
    begin(instance);
  }
  // Tell the engine that a caller waits, which calls step() until it leaves.
  virtual void enter() {}
  virtual void leave() {}

  // One step, if nobody else owns the domain, that copies or reduces about `bytes` bytes. Returns whether anything
  // moved. Also called by progress threads: while one polls the MPI library for its own domain, Open MPI calls our
  // progress hook, which steps all domains.
  bool step(std::int64_t bytes = Domain::kStepBytes) {
    if (!domain_.try_own()) return false;
    const bool moved = domain_.advance(!on_progress_thread, bytes) != 0;
    domain_.disown();
    return moved;
  }

  // Ends the engine's threads, whatever is pending. Instances then advance by callers only.
  virtual void stop() {}

  // CPU time of this engine's own threads so far, from the scheduler's accounting.
  virtual std::uint64_t progress_cpu_ns() const { return 0; }

 protected:
  // Posts the first messages at once; leaves them to whoever holds the domain where somebody does.
  void begin(Domain::Starts starts) {
    if (!domain_.try_own()) return domain_.submit(starts);
    domain_.begin(starts);
    domain_.disown();
  }
  void begin(Instance& instance) {
    if (!domain_.try_own()) return domain_.submit(instance);
    domain_.begin(instance);
    domain_.disown();
  }

 private:
  Domain& domain_;
};

}  // namespace urakata::engine
