// SPDX-License-Identifier: BSD-3-Clause
// An executor runs the whole graph of an instance in place of the domain: the Linux kernel by linked io_uring requests,
// or an eBPF program (kernel.hpp).
//
// Thread-safety: start() by the domain's owner, all else by any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace urakata::engine {

class Executor {
 public:
  // Begins the graph. `buffers`: addresses of the schedule's buffers, by BufferId. The domain's transport reports the
  // end as a completion with Instance::kWhole and this `instance`. False: nothing was begun, and no completion follows.
  virtual bool start(std::span<std::byte* const> buffers, void* instance) = 0;
  // Whether the graph may have ended, as far as can be told without a system call.
  virtual bool can_progress() const = 0;
  // Whether a descriptor of the transport tells of the end. Else only polling finds it.
  virtual bool tells() const = 0;
  // Payload bytes of all messages.
  virtual std::uint64_t bytes() const = 0;

 protected:
  ~Executor() = default;
};

}  // namespace urakata::engine
