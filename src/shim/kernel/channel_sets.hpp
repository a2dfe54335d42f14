// SPDX-License-Identifier: BSD-3-Clause
// Channel sets and offloads of this process's communicators, for engine `kernel` (chain/channel_set.hpp,
// xdp/offload.hpp). A build without the component has kernel_not_built.cpp in place of these functions.
//
// All ranks of MPI_COMM_WORLD find out in MPI_Init whether they can have channel sets. Then each communicator that the
// program makes gets a channel set in the call that makes it, if tune::channel_set_obstacle() finds no obstacle and all
// its ranks can open one. So which operations the kernel runs follows from what is equal on all ranks.
//
// Thread-safety: set_up_channel_sets(), leave_channel_sets() and stop_channel_sets() by the thread that calls MPI_Init
// and MPI_Finalize, stop_channel_sets() also by an exit handler; all else by any thread.
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

// A communicator's context plus this number is the context of its kernel part: beyond all contexts that are in tags.
inline constexpr std::int32_t kKernelContexts = 1 << 20;

// Most characters of the name by which eBPF code for a user-defined operation is attached.
inline constexpr std::size_t kLongestOpName = 27;

// Ends a communicator's kernel part: hands it to engine `kernel`, which frees it when no other rank needs it any more.
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

// Collective over `world`, the private communicator of all ranks. `obstacle`: why this rank cannot have engine kernel;
// empty: it can. Returns why the job has no channel sets, the same on all ranks; empty: it has.
std::string set_up_channel_sets(job::Bootstrap& world, std::string obstacle);

// Collective over the communicator. nullptr, on all of its ranks alike: it has no channel set. A warning says why, once
// for each reason, unless the job has no channel sets, or the communicator has one rank, no context, or ranks whose
// options differ. Whether the part has an offload is the same on all ranks, too.
KernelPartHolder open_channel_set(MPI_Comm comm, const job::MemberContexts& contexts);
bool has_offload(const engine::KernelPart& part);

// In MPI_Finalize, when this rank has no operation in flight: tells other ranks that this rank leaves, so that their
// operations in flight do not take its end for a failure.
void leave_channel_sets();
// When nothing is in flight any more: ends the thread that submits requests to the kernel for other threads
// (chain/submitter.hpp).
void stop_channel_sets();

}  // namespace urakata::shim
