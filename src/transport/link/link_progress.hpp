// SPDX-License-Identifier: BSD-3-Clause
// A progress thread that moves an endpoint's link while the program computes: it matches, unpacks and answers. It never
// enters the MPI library, so it needs no MPI_THREAD_MULTIPLE: what would is left to callers.
//
// It is in one of four states (base/progress_thread_states.hpp), but listens while it works, since expect() need not
// wake it then:
//   working    it moves what can move
//   listening  requests are open, or something is on its way out, and no caller waits: it sleeps until the link's
//              descriptor is readable
//   dozing     a caller waits and moves everything itself, or is expected to within a moment, or nothing has been open
//              for a short while: naps of a millisecond, from which only a long message wakes it
//   asleep     nothing has been open for a while: no wake-up at all until expect()
//
// On a core that it shares with the program it stands back where the program has lately waited soon after it started a
// message: it could only take the core from the program for what the program is about to do itself.
//
// Thread-safety: expect(), note_wait() and cpu_ns() by any thread; stop() by one thread at a time, also repeatedly.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cpu_set.hpp"
#include "base/progress_gaps.hpp"
#include "base/progress_thread.hpp"
#include "base/progress_thread_states.hpp"
#include "p2p/endpoint.hpp"
#include "transport/link/wire_link.hpp"

namespace urakata::transport {

class LinkProgress {
 public:
  struct Settings {
    CpuSet cpus = {};               // where it runs; empty: where the calling thread may
    bool spare = false;             // they are nobody else's
    std::uint64_t long_gap_ns = 0;  // from a start to the wait: in a shorter one the progress thread stands back
  };

  // `waiting`: callers that wait at the moment. All outlive the progress thread.
  LinkProgress(p2p::Endpoint& endpoint, const WireLink& link, const std::atomic<unsigned>& waiting,
               const Settings& settings);
  ~LinkProgress() { stop(); }
  LinkProgress(const LinkProgress&) = delete;
  LinkProgress& operator=(const LinkProgress&) = delete;

  // A request is open that the link may have to move. `long_message`: which pays for waking the progress thread from a
  // nap.
  void expect(bool long_message);
  // A caller begins to wait.
  void note_wait();
  void stop();
  std::uint64_t cpu_ns() const { return thread_.cpu_ns(); }

 private:
  using State = ProgressThreadStates::State;

  void run();
  bool busy() const { return endpoint_.open() || link_.sending(); }
  bool stands_back() const { return !settings_.spare && gaps_.ends_soon(); }

  p2p::Endpoint& endpoint_;
  const WireLink& link_;
  const std::atomic<unsigned>& waiting_;
  const Settings settings_;
  ProgressThreadStates states_;
  ProgressGaps gaps_;      // from the first start of an open message that nobody has waited for, to the wait
  ProgressThread thread_;  // the last: it uses the others
};

}  // namespace urakata::transport
