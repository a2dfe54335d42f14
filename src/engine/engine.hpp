// SPDX-License-Identifier: BSD-3-Clause
// An engine advances the instances of a domain. Callers that wait always advance them; some engines also have a
// progress thread, or use the Linux kernel.
//
// Thread-safety: stop() by one thread; it waits until the engine's threads have ended. start_all(), start(),
// start_awaited(), enter() and leave() by any thread of the program, all else by any thread. None of these blocks,
// except a start of engine `kernel` (kernel.hpp).
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

  // Starts prepared instances, in this order, for a caller that goes back to its computation. Takes the domain at most
  // once and wakes a progress thread at most once, however many instances are given. When this returns, the instances
  // may be finished, and destroyed if nobody waits for them.
  virtual void start_all(Domain::Starts starts) = 0;
  // start_all() for one instance.
  virtual void start(Instance& instance) {
    Instance* const one = &instance;
    start_all({&one, 1});
  }
  // start() and enter() in one, for an instance that its caller waits for at once. The caller calls leave() after its
  // wait. Wakes no progress thread.
  virtual void start_awaited(Instance& instance) {
    enter();
    begin(instance);
  }
  // A caller begins and ends a wait. In between it calls step() itself.
  virtual void enter() {}
  virtual void leave() {}

  // One step, which copies or reduces about `bytes` bytes. Returns whether anything moved; false also if another thread
  // owns the domain. Also called by progress threads: while one polls the MPI library for its own domain, Open MPI
  // calls our progress hook, which steps all domains.
  bool step(std::int64_t bytes = Domain::kStepBytes) {
    if (!domain_.try_own()) return false;
    const bool moved = domain_.advance(!on_progress_thread, bytes) != 0;
    domain_.disown();
    return moved;
  }

  // Ends the engine's threads, even if instances are pending. From then on only callers advance instances.
  virtual void stop() {}

  // CPU time in ns of this engine's own threads so far, from the scheduler's accounting.
  virtual std::uint64_t progress_cpu_ns() const { return 0; }

 protected:
  // Posts the first messages of the instances at once. If another thread owns the domain, submits the instances to it
  // instead.
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
