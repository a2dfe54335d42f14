// SPDX-License-Identifier: BSD-3-Clause
// Who executes the whole of an instance's graph in the place of its domain: the kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace urakata::engine {

class Executor {
 public:
  // Begins, on the schedule's buffers, by number. The end is a completion of the domain's transport, with
  // Instance::kWhole and this `instance`. False: it does not begin, and there is none.
  virtual bool start(std::span<std::byte* const> buffers, void* instance) = 0;
  // May it have ended, as far as can be told without a call?
  virtual bool can_progress() const = 0;
  // Does a descriptor of the transport tell of its end? Else only who polls sees it, as with messages through
  // memory.
  virtual bool tells() const = 0;
  // Of all its messages.
  virtual std::uint64_t bytes() const = 0;

 protected:
  ~Executor() = default;
};

}  // namespace urakata::engine
