// A memory fence in every running thread of the address space (membarrier), so that the threads that store and look
// often need none of their own.
#pragma once

namespace urakata::p2p {

// Keeps errno. False: the kernel refuses, and there was no fence.
bool fence_all_threads();

}  // namespace urakata::p2p
