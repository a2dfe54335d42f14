// SPDX-License-Identifier: BSD-3-Clause
// A memory fence in every running thread of the address space (membarrier), so that the threads that store and load
// often need none of their own.
#pragma once

#include <cstdint>

namespace urakata::p2p {

// Keeps errno. False: the kernel refuses, and there was no fence.
bool fence_all_threads();

// Number of successful fences by this process's threads. Each interrupts every core that runs a thread of the address
// space.
std::uint64_t fences();

}  // namespace urakata::p2p
