// SPDX-License-Identifier: BSD-3-Clause
// The addresses of a schedule's buffers in one instance: the program's, and temporaries that belong to the instance.
//
// Thread-safety: by the thread that has the instance (instance.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "schedule/schedule.hpp"

namespace urakata::engine {

class BoundBuffers {
 public:
  explicit BoundBuffers(const schedule::Schedule& schedule)
      : addresses_(schedule.user_buffers() + schedule.temps().size(), nullptr) {}

  void bind(schedule::BufferId buffer, std::byte* address) { addresses_[buffer] = address; }
  // Binds the temporaries of the constructor's schedule. Allocates them unless those of an earlier start are large
  // enough. `shift`, `reach`: see Instance::bind_temps().
  void bind_temps(const schedule::Schedule& schedule, std::int64_t shift, std::uint64_t reach);

  std::byte* at(const schedule::Place& place, std::uint32_t iteration) const {
    return addresses_[place.buffer] + schedule::offset_of(place, iteration);
  }
  std::span<std::byte* const> all() const { return addresses_; }

 private:
  std::vector<std::byte*> addresses_;  // by BufferId
  std::unique_ptr<std::byte[]> temporaries_;
  std::uint64_t room_ = 0;  // bytes of all temporaries
};

}  // namespace urakata::engine
