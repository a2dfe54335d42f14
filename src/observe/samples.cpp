// SPDX-License-Identifier: BSD-3-Clause
#include "observe/samples.hpp"

#include <algorithm>

namespace urakata::observe {

// A hash decides, not the number itself: a call site may have every second operation of its communicator, for instance.
bool Samples::chosen(std::uint64_t sequence) const {
  std::uint64_t mixed = (sequence + 1) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 32)) * 0xc2b2ae3d27d4eb4fu;
  return (mixed >> 40 & mask_) == 0;
}

void Samples::add(const Sample& sample) {
  if (busy_.exchange(true, std::memory_order_acquire)) return;
  while (count_ == kMost && chosen(sample.identity.sequence)) {
    mask_ = 2 * mask_ + 1;
    const auto kept = std::span(kept_.get(), count_);
    const auto end =
        std::ranges::remove_if(kept, [&](const Sample& old) { return !chosen(old.identity.sequence); }).begin();
    count_ = static_cast<std::uint32_t>(end - kept.begin());
  }
  if (chosen(sample.identity.sequence)) kept_[count_++] = sample;
  busy_.store(false, std::memory_order_release);
}

}  // namespace urakata::observe
