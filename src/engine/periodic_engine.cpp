// SPDX-License-Identifier: BSD-3-Clause
#include "engine/periodic_engine.hpp"

namespace urakata::engine {

PeriodicEngine::PeriodicEngine(Domain& domain)
    : Engine(domain),
      watch_(domain.descriptors()),
      progress_(
          "urakata/periodic", "operations", [this] { return poll(); },
          [this](std::uint64_t ns) {
            return callers_.load(std::memory_order_relaxed) == 0 && watch_.wait(this->domain().wakeup(), ns);
          }) {}

bool PeriodicEngine::poll() {
  if (callers_.load(std::memory_order_relaxed) == 0 && domain().try_own()) {
    while (domain().advance(false) != 0 && callers_.load(std::memory_order_relaxed) == 0) {
    }
    domain().disown();
  }
  return domain().pending() != 0;
}

}  // namespace urakata::engine
