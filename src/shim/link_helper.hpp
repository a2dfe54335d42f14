// A helper that moves an endpoint's link while the program computes: it matches, unpacks and answers.
//
// It is in one of four states:
//   working    it moves what can move
//   listening  requests are open, or something is on its way out, and no caller waits: it sleeps until the link's descriptor tells of news
//   dozing     a caller waits and moves everything itself, or nothing has been open for a short while: naps of a
//              millisecond, from which only a long message wakes it
//   asleep     nothing has been open for a while: no wake-up at all until expect()
//
// Thread-safety: expect() by any thread; stop() once, by one.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/cpu_set.hpp"
#include "base/helper_thread.hpp"
#include "p2p/endpoint.hpp"
#include "transport/wire_link.hpp"

namespace urakata::shim {

class LinkHelper {
 public:
  // `waiting`: callers that wait at the moment. All outlive the helper.
  LinkHelper(p2p::Endpoint& endpoint, const transport::WireLink& link, const std::atomic<unsigned>& waiting,
             const CpuSet& cpus);
  ~LinkHelper() { stop(); }
  LinkHelper(const LinkHelper&) = delete;
  LinkHelper& operator=(const LinkHelper&) = delete;

  // A request is open that the link may have to move. `long_message`: which pays for waking the helper from a nap.
  void expect(bool long_message);
  void stop();
  std::uint64_t cpu_ns() const { return thread_.cpu_ns(); }

 private:
  enum State : std::uint32_t { kWorking, kDozing, kAsleep, kStopping };

  void run();
  void doze();
  void sleep();
  bool busy() const { return endpoint_.open() || link_.sending(); }
  bool stopping() const { return state_.load(std::memory_order_relaxed) == kStopping; }

  p2p::Endpoint& endpoint_;
  const transport::WireLink& link_;
  const std::atomic<unsigned>& waiting_;
  const CpuSet cpus_;
  std::atomic<std::uint32_t> state_{kWorking};  // futex word; written by the helper, and by whoever wakes it
  HelperThread thread_;                         // the last: it uses the others
};

}  // namespace urakata::shim
