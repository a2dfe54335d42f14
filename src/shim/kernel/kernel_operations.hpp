// SPDX-License-Identifier: BSD-3-Clause
// Which collectives the Linux kernel runs, and what hands them to it. With channel_sets.hpp and kernel_run.hpp this is
// what the shim asks of the component for engine `kernel` (URAKATA_KERNEL). A build without the component has
// kernel_not_built.cpp in its place.
//
// Chains of io_uring requests run a schedule that was compiled (chain/compile.hpp). eBPF code at the nodes' interfaces
// computes a small collective (xdp/offload.hpp).
//
// Thread-safety: any thread, for different instances.
#pragma once

#include <cstdint>
#include <memory>

#include "base/result.hpp"
#include "collectives/collectives.hpp"
#include "engine/instance.hpp"
#include "shim/kernel_run.hpp"
#include "shim/types/datatype.hpp"
#include "shim/types/operation.hpp"

namespace urakata::chain {
struct ChainedSchedule;
}
namespace urakata::engine {
struct KernelPart;
}

namespace urakata::shim {

// The algorithm by which chains run a collective, on a communicator that has a channel set: `chosen`, or else the first
// one of which each rank's schedule can be compiled. nullptr, on all ranks alike: there is none.
const collectives::Algorithm* chainable(collectives::Operation operation, const collectives::Algorithm& chosen,
                                        const collectives::Arguments& arguments);

// Compiles this rank's schedule of an algorithm that chainable() has returned.
Result<std::shared_ptr<const chain::ChainedSchedule>> chained(collectives::Operation operation,
                                                              const collectives::Algorithm& algorithm,
                                                              const schedule::Schedule& schedule);

// Makes the part's channel set the executor of an instance, which engine `kernel` then starts. `run`: the instance's.
void execute_by_chain(const engine::KernelPart& part, const chain::ChainedSchedule& schedule,
                      engine::Instance& instance, KernelRun& run);

inline constexpr const char* kEbpf = "eBPF";  // the algorithm's name in a report
inline constexpr const char* kWhyEbpf = "small, and eBPF code is attached on all nodes";

// What eBPF code has to know of a call.
struct SmallCall {
  collectives::Operation operation{};
  bool in_place = false;
  std::uint32_t root = 0;
  std::uint64_t bytes = 0;
  const Datatype* element = nullptr;  // reductions only
  Meaning meaning;
};

// Whether eBPF code computes a call on a communicator with this part. The same on all ranks.
bool by_ebpf(const SmallCall& call, const engine::KernelPart& part);

// For a call on a communicator with this part that eBPF code does not compute. If the call reduces by an operation that
// the program has named (ura_op_kernel()) and that is not attached, the communicator's first rank warns, once for each
// operation.
void tell_of_missing_op(const SmallCall& call, const engine::KernelPart& part, bool first_rank);

// As execute_by_chain(), with the part's offload, for a call of which by_ebpf() is true.
void execute_by_ebpf(const SmallCall& call, const engine::KernelPart& part, engine::Instance& instance, KernelRun& run);

}  // namespace urakata::shim
