// SPDX-License-Identifier: BSD-3-Clause
// A group: what the core knows of a communicator.
//
// Tags. All of Urakata's messages travel on one private communicator of the MPI library, so the tag says which
// communicator, which operation on it and which channel a message belongs to:
//     tag = context << 16 | (sequence mod 256) << 8 | channel
// The context is a number that the *receiver* has chosen, unique among its own communicators. A message is matched at
// its receiver only, so the members need not have the same number: each knows all the others' (job/contexts.hpp), and a
// sender uses the number of the rank it sends to. At most 256 operations of a group are active at once (`admit`), which
// keeps tags of different operations apart; a peer that runs ahead is held apart by the order of messages between two
// ranks.
//
// An operation that fails ends all of its group: every one in progress there, and every later one, ends with an error,
// so a message of a failed operation that is still under way can meet no receive of another. The group's number is not
// given to another one then (`broken`).
//
// Thread-safety: constant members by anyone; `next_sequence` is atomic; the rest by the owner of the group's domain
// only.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <vector>

#include "transport/failures.hpp"

namespace urakata::transport {

class Group {
 public:
  static constexpr std::uint64_t kActive = 256;  // operations of one group in progress at once
  static constexpr int kContextShift = 16;
  static constexpr std::int32_t kMostContexts = 1 << 14;  // of a process at a time

  std::uint32_t rank = 0;
  std::uint32_t ranks = 1;
  bool one_node = true;              // all ranks share memory, as far as the MPI library knows
  bool all_remote = false;           // no two ranks share memory: all messages come over the network
  std::uint32_t ranks_per_node = 1;  // the most on any node, if the ranks of each node are consecutive; else 1
  std::vector<std::int32_t> sites;   // site of each group rank, as the job numbers them; empty: all are at one
  std::vector<std::int32_t> world;   // rank on the private communicator of each group rank

  std::int32_t context = 0;            // the number this process has chosen
  std::vector<std::int32_t> contexts;  // every member's number

  std::atomic<std::uint64_t> next_sequence{0};  // of the operation that is started next

  int error = 0;  // what its operations end with; 0: nothing has failed yet
  bool broken() const { return error != 0; }

  // Is the notice one of a member, about this group? By the owner.
  bool concerns(const Notice& notice) const {
    if (notice.context != context) return false;
    for (std::size_t i = 0; i < world.size(); ++i) {
      if (world[i] == notice.from) return contexts[i] == notice.origin;
    }
    return false;
  }
  // Whether the member has not been told yet that the group has failed. True at most once for each member: the caller
  // then tells it.
  bool to_be_told(std::int32_t peer) {
    const auto at = static_cast<std::size_t>(peer);
    told_.resize(world.size());
    if (told_[at]) return false;
    told_[at] = true;
    return true;
  }

  bool admit(std::uint64_t sequence) const { return sequence - oldest_ < kActive; }
  void retire(std::uint64_t sequence) {
    if (sequence == oldest_) {
      ++oldest_;
      while (finished_[oldest_ % kActive]) finished_[oldest_++ % kActive] = false;
    } else {
      finished_[sequence % kActive] = true;
    }
    retired_.store(retired_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
  // Is every operation that was started finished? By anyone.
  bool idle() const {
    return retired_.load(std::memory_order_acquire) == next_sequence.load(std::memory_order_relaxed);
  }

  std::int32_t tag_to(std::int32_t peer, std::uint64_t sequence, std::uint8_t channel) const {
    return tag(contexts[static_cast<std::size_t>(peer)], sequence, channel);
  }
  std::int32_t tag_from(std::uint64_t sequence, std::uint8_t channel) const { return tag(context, sequence, channel); }

 private:
  static std::int32_t tag(std::int32_t context, std::uint64_t sequence, std::uint8_t channel) {
    return context << kContextShift | static_cast<std::int32_t>(sequence % kActive) << 8 | channel;
  }
  std::vector<bool> told_;    // members that have been told of a failure; empty before one
  std::uint64_t oldest_ = 0;  // smallest sequence number that is not finished
  std::array<bool, kActive> finished_{};
  std::atomic<std::uint64_t> retired_{0};  // operations finished; written by the owner
};

}  // namespace urakata::transport
