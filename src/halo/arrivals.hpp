// SPDX-License-Identifier: BSD-3-Clause
// The receiving ends whose payload has arrived in the present exchange, in order of arrival. Ends without bytes come
// first.
//
// Thread-safety: by one thread at a time. After the constructor and add_end() of all ends nothing allocates.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace urakata::halo {

class Arrivals {
 public:
  Arrivals(std::size_t channels, std::size_t ends) : ends_(channels) { arrived_.reserve(ends); }

  // To be called in setup, once for each end. `channel`: the channel that has it. `empty`: whether it has no bytes.
  void add_end(std::uint32_t channel, std::uint32_t end, bool empty) {
    ends_[channel].push_back(end);
    if (empty) empty_.push_back(end);
  }
  std::span<const std::uint32_t> ends_of(std::uint32_t channel) const { return ends_[channel]; }

  // Begins a new exchange, in which only ends without bytes have arrived.
  void begin() {
    told_ = 0;
    arrived_.assign(empty_.begin(), empty_.end());
  }
  // Adds the ends of a channel whose payload has arrived.
  void add(std::uint32_t channel) { arrived_.insert(arrived_.end(), ends_[channel].begin(), ends_[channel].end()); }
  // Whether next() will return an end.
  bool any() const { return told_ != arrived_.size(); }
  // Returns the next end, each once in an exchange; nullopt: all that have arrived have been returned.
  std::optional<std::size_t> next() {
    if (!any()) return std::nullopt;
    return arrived_[told_++];
  }

 private:
  std::vector<std::vector<std::uint32_t>> ends_;  // by channel; constant after setup
  std::vector<std::uint32_t> empty_;              // ends without bytes; constant after setup
  std::vector<std::uint32_t> arrived_;            // has capacity for all ends
  std::size_t told_ = 0;                          // number of elements of arrived_ that next() has returned
};

}  // namespace urakata::halo
