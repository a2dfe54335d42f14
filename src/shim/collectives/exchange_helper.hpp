// The helper that moves exchange plans with long payloads between nodes while the program computes. What the kernel
// does not take at once, and what a receiver has no room for, would else wait until the program comes back. (Of
// persistent collectives such payloads are a schedule's, which the engine's helper moves.) It never enters the host.
//
// There is one where the run has helpers, from the first plan for it on. It sleeps until the wire has news, and stands
// back while a caller waits for an exchange, since that one moves everything itself.
//
// Thread-safety: stop_exchange_helper() once, by one thread; the rest by any.
#pragma once

#include <cstdint>

namespace urakata::shim {

// Bytes that a connection to another node takes at once: its first window, by default.
inline constexpr std::uint64_t kFirstWindow = 128 << 10;

// Makes the helper, if there is to be one and is none yet. False: nobody moves a plan while the program computes, or
// what looks after messages does (space.hpp).
bool want_exchange_helper();
// An exchange for it is under way, which it is counted in long_exchanges_under_way() for, and its rank goes its way.
void expect_long_exchange();

// A caller waits for an exchange for the helper as long as this lives.
class LongWait {
 public:
  explicit LongWait(bool of_helper);
  ~LongWait();
  LongWait(const LongWait&) = delete;
  LongWait& operator=(const LongWait&) = delete;

 private:
  bool of_helper_;
};

void stop_exchange_helper();
std::uint64_t exchange_helper_cpu_ns();

}  // namespace urakata::shim
