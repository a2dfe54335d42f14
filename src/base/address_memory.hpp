// SPDX-License-Identifier: BSD-3-Clause
// What was once found out about addresses of code, such as in whose library they are: asking the dynamic linker takes a
// microsecond, and call sites are few.
//
// Thread-safety: by any thread. Direct-mapped: two addresses may take each other's place, and are then looked at anew.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

namespace urakata {

class AddressMemory {
 public:
  // What look(address) says, which is asked where that is not known. It always says the same of the same address.
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
  // An address with the answer as its lowest bit: user addresses have their top bit clear.
  std::array<std::atomic<std::uintptr_t>, 256> cells_{};
};

}  // namespace urakata
