// SPDX-License-Identifier: BSD-3-Clause
// A cache of one yes-or-no answer about each address of code, such as whether the address lies in a given library.
// Asking the dynamic linker each time would be slow, and a program has few call sites.
//
// Thread-safety: by any thread. The cache is direct-mapped: an address that another one evicts is looked up again.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace urakata {

class AddressMemory {
 public:
  // The cached answer, or else that of look(address), which must always give the same answer for an address. Threads
  // may call `look` at the same time. For nullptr the answer must be false: `look` may not be asked.
  template <class Look>
  bool ask(const void* address, Look look) {
    const auto value = reinterpret_cast<std::uintptr_t>(address);
    auto& cell = cells_[(value >> 2U) % cells_.size()];
    const std::uintptr_t known = cell.load(std::memory_order_relaxed);
    if (known >> 1U == value) return (known & 1U) != 0;
    const bool found = look(address);
    cell.store(value << 1U | (found ? 1U : 0U), std::memory_order_relaxed);
    return found;
  }

 private:
  // The address, shifted left by one, with the answer as lowest bit. User addresses have their top bit clear. 0: empty.
  std::array<std::atomic<std::uintptr_t>, 256> cells_{};
};

}  // namespace urakata
