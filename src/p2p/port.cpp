#include "p2p/port.hpp"

#include <climits>

namespace urakata::p2p {

void Port::wake_sleeper() {
  if (asleep_.exchange(0, std::memory_order_relaxed) != 0) futex_wake(asleep_, INT_MAX);
}

}  // namespace urakata::p2p
