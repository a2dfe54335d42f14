// A fallback progress thread: keeps an endpoint moving while its rank is blocked in the host, or computes, for hosts
// that cannot call us from within their own waiting. It looks every millisecond while a request of the rank is open, or
// there is something else left to move, and sleeps otherwise.
//
// Thread-safety: expect() by the endpoint's rank; stop() once, by one thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/helper_thread.hpp"
#include "p2p/endpoint.hpp"

namespace urakata::p2p {

class FallbackProgress {
 public:
  // The endpoint has a helper among its callers, and outlives this. `also`: what else the rank needs moved at each
  // look; it returns whether there is more to move later.
  explicit FallbackProgress(Endpoint& endpoint, bool (*also)() = nullptr)
      : endpoint_(endpoint), also_(also), thread_("urakata/space", "messages in the space", [this] { run(); }) {}
  ~FallbackProgress() { stop(); }
  FallbackProgress(const FallbackProgress&) = delete;
  FallbackProgress& operator=(const FallbackProgress&) = delete;

  // The rank goes its way and leaves a request open.
  void expect();
  void stop();

 private:
  void run();
  bool left() const { return endpoint_.open() || (also_ != nullptr && also_()); }

  enum State : std::uint32_t { kIdle, kLooking, kStopping };
  Endpoint& endpoint_;
  bool (*const also_)();
  std::atomic<std::uint32_t> state_{kIdle};
  HelperThread thread_;  // the last: it uses the others
};

}  // namespace urakata::p2p
