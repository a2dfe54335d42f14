// SPDX-License-Identifier: BSD-3-Clause
// The nodes of an instance that may be ready, each at most once: a ring with room for every node.
//
// A stack at one end, so that what has just become ready goes first; a node that must wait for another step goes to the
// other end, behind all others. Nothing is allocated after construction. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "schedule/schedule.hpp"

namespace urakata::engine {

class ReadyQueue {
 public:
  explicit ReadyQueue(std::size_t nodes) : ring_(nodes) {}

  std::size_t size() const { return size_; }
  void clear() { size_ = first_ = 0; }

  // Puts a node where pop() takes the next one. The caller ensures that no node is in the queue twice.
  void push(schedule::NodeId node) { ring_[at(size_++)] = node; }
  schedule::NodeId pop() {
    ++pops_;
    return ring_[at(--size_)];
  }
  void put_off(schedule::NodeId node) {
    first_ = (first_ == 0 ? ring_.size() : first_) - 1;
    ring_[first_] = node;
    ++size_;
  }

  std::uint64_t pops() const { return pops_; }  // since construction

 private:
  std::size_t at(std::size_t place) const {
    const std::size_t index = first_ + place;
    return index < ring_.size() ? index : index - ring_.size();
  }

  std::vector<schedule::NodeId> ring_;
  std::size_t first_ = 0;
  std::size_t size_ = 0;
  std::uint64_t pops_ = 0;
};

}  // namespace urakata::engine
