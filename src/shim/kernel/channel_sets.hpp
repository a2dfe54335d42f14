// SPDX-License-Identifier: BSD-3-Clause
// Channel sets and offloads of this process's communicators, for engine `kernel` (chain/channel_set.hpp,
// xdp/offload.hpp). A build without the component has kernel_not_built.cpp in their place.
//
// All ranks of MPI_COMM_WORLD find out in MPI_Init whether they can have them; then each communicator that the program
// makes gets one in the call that makes it, where nothing is in the way (tune::channel_set_obstacle()). So which
// operations the kernel runs follows from what is equal on all ranks.
//
// Thread-safety: open_channel_set() and FreeingCommunicator by any thread; all else by the one that calls MPI_Init and
// MPI_Finalize.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "job/bootstrap.hpp"
#include "job/contexts.hpp"
#include "shim/native/abi.hpp"

namespace urakata::engine {
struct KernelPart;
}

namespace urakata::shim {

// The numbers of communicators' parts for the kernel begin here: beyond the contexts that are in tags.
inline constexpr std::int32_t kKernelContexts = 1 << 20;

// Characters of the name of an operation that eBPF code may have, at most.
inline constexpr std::size_t kLongestOpName = 27;

// What a communicator has of the kernel, and what the engine does with it when it comes and goes.
struct KernelPartClosed {
  void operator()(engine::KernelPart* part) const;
};
using KernelPartHolder = std::unique_ptr<engine::KernelPart, KernelPartClosed>;

// While the program frees a communicator, the communicator's kernel part may wait for other ranks. Elsewhere it must
// not: the thread that ends the last operation of a freed communicator also progresses operations of others.
class FreeingCommunicator {
 public:
  FreeingCommunicator() { now_ = true; }
  ~FreeingCommunicator() { now_ = false; }
  FreeingCommunicator(const FreeingCommunicator&) = delete;
  FreeingCommunicator& operator=(const FreeingCommunicator&) = delete;

  static bool now() { return now_; }

 private:
  [[gnu::tls_model("initial-exec")]] static inline constinit thread_local bool now_ = false;
};

// Collective over MPI_COMM_WORLD, `world` being the private one. `obstacle`: why this rank cannot have engine kernel;
// empty: it can. Returns why the job has none, on all ranks alike; empty: it has.
std::string set_up_channel_sets(job::Bootstrap& world, std::string obstacle);

// Collective over the communicator. nullptr, on all of its ranks alike: it has no channel set, and where the job has
// some a warning says why, once for each reason. Whether it has an offload is alike on all ranks, too.
KernelPartHolder open_channel_set(MPI_Comm comm, const job::MemberContexts& contexts);
bool has_offload(const engine::KernelPart& part);

// MPI_Finalize, once nothing is in flight any more: other ranks' operations may still be, for which the end of this
// process is to be no failure.
void leave_channel_sets();
// Nothing is in flight any more: the thread that submits for others ends.
void stop_channel_sets();

}  // namespace urakata::shim
