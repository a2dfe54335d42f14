// SPDX-License-Identifier: BSD-3-Clause
// Which collectives eBPF code at the nodes' interfaces computes (xdp/offload.hpp).
#pragma once

#include "shim/collectives/call_reading.hpp"
#include "shim/collectives/prepared.hpp"
#include "shim/communicators/communicator.hpp"

namespace urakata::shim {

inline constexpr const char* kEbpf = "eBPF";  // the algorithm's name in a report
inline constexpr const char* kWhyEbpf = "small, and eBPF code is attached on all nodes";

// Of a call on a communicator with this part; nullptr: it has none. False, on all ranks alike: it goes another way.
bool by_ebpf(const Reading& reading, const engine::KernelPart* part);

// Of a call on a communicator with this part that goes another way: does it reduce by an operation that the program has
// named (ura_op_kernel()) and that is not attached? That is said once for each operation, by a communicator's first
// rank.
void tell_of_missing_op(const Reading& reading, const engine::KernelPart& part, bool first_rank);

// Hands such a call's instance, which is bound, to the part's offload.
void execute_by_ebpf(const Reading& reading, const engine::KernelPart& part, Run& run);

}  // namespace urakata::shim
