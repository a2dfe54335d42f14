// SPDX-License-Identifier: BSD-3-Clause
// The interface to the component for engine `kernel`, in a build without it (URAKATA_KERNEL=OFF). No communicator has a
// part for the kernel, so what needs one is never called.
#include "engine/kernel_engine.hpp"
#include "shim/kernel/channel_sets.hpp"
#include "shim/kernel/kernel_operations.hpp"

namespace urakata::shim {

void KernelPartClosed::operator()(engine::KernelPart*) const {}
std::string set_up_channel_sets(job::Bootstrap&, std::string obstacle) { return obstacle; }
KernelPartHolder open_channel_set(MPI_Comm, const job::MemberContexts&) { return nullptr; }
bool has_offload(const engine::KernelPart&) { return false; }
void leave_channel_sets() {}
void stop_channel_sets() {}

const collectives::Algorithm* chainable(collectives::Operation, const collectives::Algorithm&,
                                        const collectives::Arguments&) {
  return nullptr;
}
Result<std::shared_ptr<const chain::ChainedSchedule>> chained(collectives::Operation, const collectives::Algorithm&,
                                                              const schedule::Schedule&) {
  return Error{engine::why_no_kernel_engine()};
}
void execute_by_chain(const engine::KernelPart&, const chain::ChainedSchedule&, engine::Instance&, KernelRun&) {}
bool by_ebpf(const SmallCall&, const engine::KernelPart&) { return false; }
void tell_of_missing_op(const SmallCall&, const engine::KernelPart&, bool) {}
void execute_by_ebpf(const SmallCall&, const engine::KernelPart&, engine::Instance&, KernelRun&) {}

}  // namespace urakata::shim
