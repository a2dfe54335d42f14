// SPDX-License-Identifier: BSD-3-Clause
#include "shim/process/allocation_count.hpp"

#include <atomic>

namespace urakata::shim {

namespace {
std::atomic<std::uint64_t> allocated{0};
}

std::uint64_t allocations() { return allocated.load(std::memory_order_relaxed); }
void count_allocation() { allocated.fetch_add(1, std::memory_order_relaxed); }

}  // namespace urakata::shim
